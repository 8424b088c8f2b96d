//! Deleting what is past its time, a bounded piece at a time, on a connection of its own.

use std::sync::Arc;

use futures_channel::oneshot;
use onceonly::StoreError;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Row};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::connection::{Link, Settings};
use crate::error::Error;

/// A purge of at most `limit` records.
pub(crate) struct Purge {
    pub(crate) limit: u32,
    pub(crate) answer: oneshot::Sender<Result<u64, StoreError>>,
}

/// Carries out one purge after the other.
pub(crate) async fn run(settings: Arc<Settings>, mut queue: UnboundedReceiver<Purge>) {
    let mut link = Link::new(Arc::clone(&settings));
    while let Some(Purge { limit, answer }) = queue.recv().await {
        let mut deleted = 0;
        let outcome = loop {
            // Whoever asked is gone: what is left is for the next purge.
            if answer.is_canceled() {
                break Ok(());
            }
            let piece = i64::from(limit).saturating_sub(deleted).min(PIECE);
            if piece == 0 {
                break Ok(());
            }
            let text = Arc::clone(&settings.statements.purge);
            match link.ask(async |connection| self::piece(connection, text, piece).await).await {
                Ok(Piece { deleted: 0, postponed: 0 }) => break Ok(()),
                Ok(piece) => deleted += piece.deleted,
                Err(error) => break Err(error.into()),
            }
        };
        // Nobody may wait any more.
        let _ = answer.send(outcome.map(|()| deleted.unsigned_abs()));
    }
    link.close().await;
}

struct Piece {
    deleted: i64,
    /// Rows that live longer than was foreseen when they were claimed.
    postponed: i64,
}

async fn piece(connection: &mut PgConnection, text: Arc<str>, limit: i64) -> Result<Piece, Error> {
    let row = sqlx::query(AssertSqlSafe(text)).bind(limit).fetch_one(connection).await?;
    Ok(Piece { deleted: row.try_get(0)?, postponed: row.try_get(1)? })
}

/// Rows in one statement: a few milliseconds.
const PIECE: i64 = 1_000;
