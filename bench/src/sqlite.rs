//! The SQLite store beside a plain loop over the same table, and beside one transaction per call.

mod ground;
mod plain;

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use onceonly::{ClaimOutcome, CompleteOutcome, Expected, KeyStore};
use onceonly_sqlite::{SqliteStore, Synchronous};
use parking_lot::Mutex;
use tokio::task::spawn_blocking;

use self::ground::{Ground, PRESENT};
use self::plain::Plain;
use crate::load::{Numbers, Request, completion, fingerprint, on_tasks, response};
use crate::runner::{Comparison, Failure, Figure, Variant};

pub(crate) fn comparisons(folder: &Path) -> Result<Vec<Comparison>, Failure> {
    let ground = Rc::new(Ground::in_folder(folder)?);
    let mut comparisons = Vec::new();
    for synchronous in [Synchronous::Full, Synchronous::Normal] {
        comparisons.extend(CALLERS.map(|callers| fresh(&ground, synchronous, callers)));
    }
    comparisons.extend(CALLERS.map(|callers| replay(&ground, callers)));
    Ok(comparisons)
}

/// Claims of absent keys, and their completion.
fn fresh(ground: &Rc<Ground>, synchronous: Synchronous, callers: usize) -> Comparison {
    let (first, second, third) = (Rc::clone(ground), Rc::clone(ground), Rc::clone(ground));
    let variants = vec![
        Variant::new(STORE, callers, move |duration| {
            let database = first.database()?;
            let store = SqliteStore::options().synchronous(synchronous).open(database.path())?;
            let store: Arc<dyn KeyStore> = Arc::new(store);
            on_tasks(callers, duration, absent, move |request| through(Arc::clone(&store), request))
        }),
        Variant::new(LOOP, callers, move |duration| {
            let database = second.database()?;
            Plain::open(database.path(), synchronous)?.fresh_in_groups(callers, duration)
        }),
        Variant::new(ONE_PER_CALL, callers, move |duration| {
            let database = third.database()?;
            let plain = Arc::new(Mutex::new(Plain::open(database.path(), synchronous)?));
            on_tasks(callers, duration, absent, move |request| one_per_call(Arc::clone(&plain), request))
        }),
    ];
    let of_loop = match callers {
        256 => Some(0.85),
        1 | 64 => Some(0.8),
        _ => None,
    };
    let of_one_per_call = (synchronous == Synchronous::Full && callers == 64).then_some(5.0);
    let claim_micros = (synchronous == Synchronous::Normal && callers == 256).then_some(15_000.0);
    let figures = vec![
        Figure::Ratio { of: STORE.into(), over: LOOP.into(), at_least: of_loop },
        Figure::Ratio { of: STORE.into(), over: ONE_PER_CALL.into(), at_least: of_one_per_call },
        Figure::ClaimP99Micros { of: STORE.into(), at_most: claim_micros },
    ];
    let synchronous = match synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Normal => "NORMAL",
    };
    Comparison { name: format!("sqlite {synchronous} fresh {callers}"), variants, figures }
}

/// Claims of completed keys. Nothing is written, so it makes no difference how the disk is flushed.
fn replay(ground: &Rc<Ground>, callers: usize) -> Comparison {
    let (first, second) = (Rc::clone(ground), Rc::clone(ground));
    let variants = vec![
        Variant::new(STORE, callers, move |duration| {
            let database = first.database()?;
            let store = SqliteStore::open(database.path())?;
            let store: Arc<dyn KeyStore> = Arc::new(store);
            on_tasks(callers, duration, present, move |request| replayed_by(Arc::clone(&store), request))
        }),
        Variant::new(LOOP, 1, move |duration| {
            let database = second.database()?;
            Plain::open(database.path(), Synchronous::Full)?.replay(duration)
        }),
    ];
    let figures = vec![Figure::Ratio { of: STORE.into(), over: LOOP.into(), at_least: None }];
    Comparison { name: format!("sqlite replay {callers}"), variants, figures }
}

/// A request whose key is not in the table.
fn absent(number: u64) -> Request {
    Request::numbered(PRESENT + number)
}

/// A request whose key is in the table and completed; which one has no order.
fn present(number: u64) -> Request {
    let chosen = Numbers(number).next().unwrap_or(number);
    Request::numbered(chosen % PRESENT)
}

async fn through(store: Arc<dyn KeyStore>, request: Request) -> Result<Duration, Failure> {
    let Request { key, token } = &request;
    let claim = request.claim(fingerprint());
    let started = Instant::now();
    let claimed = store.claim(key, &claim, Expected::Absent).await?;
    let took = started.elapsed();
    let ClaimOutcome::Claimed(_) = claimed else { return Err("a fresh key was not granted".into()) };
    match store.complete(key, *token, &completion(response())).await? {
        CompleteOutcome::Applied(_) => Ok(took),
        _ => Err("a held claim was not completed".into()),
    }
}

async fn replayed_by(store: Arc<dyn KeyStore>, request: Request) -> Result<Duration, Failure> {
    let claim = request.claim(fingerprint());
    let started = Instant::now();
    match store.claim(&request.key, &claim, Expected::Absent).await? {
        ClaimOutcome::Occupied(snapshot) if snapshot.record.fingerprint == claim.fingerprint => {
            Ok(started.elapsed())
        }
        _ => Err("a completed key was not replayed".into()),
    }
}

/// What an application does that has one connection: each call is a transaction of its own, on a thread that may block.
async fn one_per_call(plain: Arc<Mutex<Plain>>, request: Request) -> Result<Duration, Failure> {
    let request = Arc::new(request);
    let started = Instant::now();
    let (claimer, claimed) = (Arc::clone(&plain), Arc::clone(&request));
    spawn_blocking(move || claimer.lock().claim_alone(&claimed)).await??;
    let took = started.elapsed();
    spawn_blocking(move || plain.lock().complete_alone(&request)).await??;
    Ok(took)
}

/// How many callers ask at the same time, and how many claims the plain loop puts into a transaction.
const CALLERS: [usize; 4] = [1, 16, 64, 256];

const STORE: &str = "store";
const LOOP: &str = "plain loop";
const ONE_PER_CALL: &str = "one transaction per call";
