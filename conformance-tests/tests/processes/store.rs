//! A store on files that several processes share, right or broken in one way.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{fs, io};

use async_trait::async_trait;
use onceonly::{
    ClaimOutcome, Clock, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, Record, RecordKey,
    Release, ReleaseOutcome, RenewOutcome, Renewal, Snapshot, StoreError, StoreErrorKind, Token,
};
use onceonly_conformance::RawLock;
use tokio::sync::MutexGuard;

use crate::broken::{LockFile, Memory, gap};
use crate::faults::Fault;
use crate::files::{Files, NAME, unavailable};

/// A [`KeyStore`] whose records survive the end of the process. All writes of all processes are made under one lock.
pub(crate) struct FileStore {
    pub(crate) files: Files,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) fault: Option<Fault>,
    pub(crate) memory: Mutex<Memory>,
    patience: Duration,
    /// Calls of this handle wait here, the first of them for the lock.
    turn: tokio::sync::Mutex<()>,
}

/// Nobody else writes, in any process.
pub(crate) struct Lock<'a> {
    _turn: MutexGuard<'a, ()>,
    /// A file that is locked, or that is itself the lock.
    _held: RawLock,
}

impl FileStore {
    pub(crate) fn open(
        folder: &Path,
        clock: Box<dyn Clock>,
        patience: Duration,
        fault: Option<Fault>,
    ) -> io::Result<Self> {
        let (memory, turn) = (Mutex::default(), tokio::sync::Mutex::default());
        Ok(Self { files: Files::open(folder)?, clock, fault, memory, patience, turn })
    }

    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    pub(crate) async fn lock(&self) -> Result<Lock<'_>, StoreError> {
        let turn = self.turn.lock().await;
        let since = Instant::now();
        loop {
            if let Some(held) = self.try_lock().map_err(unavailable)? {
                return Ok(Lock { _turn: turn, _held: held });
            }
            if since.elapsed() > self.patience && !self.has(Fault::WaitsForEver) {
                return Err(StoreError::new(StoreErrorKind::Unavailable, NAME, "somebody else has the lock"));
            }
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
    }

    fn try_lock(&self) -> io::Result<Option<RawLock>> {
        if self.has(Fault::LockStays) {
            return Ok(LockFile::try_make(&self.files.folder)?.map(|made| Box::new(made) as _));
        }
        Ok(self.files.try_lock()?.map(|locked| Box::new(locked) as _))
    }

    /// Writes what `change` makes of the record, unless that says no.
    async fn change<O>(
        &self,
        key: &RecordKey,
        change: impl FnOnce(&mut Record, onceonly::Timestamp) -> Changed<O>,
        not_held: O,
    ) -> Result<O, StoreError> {
        let file = self.files.file(key);
        let _lock = self.lock().await?;
        let Some(mut record) = self.read_to_change(&file)? else { return Ok(not_held) };
        match change(&mut record, self.clock.now()) {
            Changed::Yes(outcome) => {
                self.write(&file, &record).await?;
                Ok(outcome)
            }
            Changed::No(outcome) => Ok(outcome),
        }
    }

    async fn write(&self, file: &Path, record: &Record) -> Result<(), StoreError> {
        match self.fault {
            Some(fault) => self.write_wrongly(fault, file, record).await,
            None => self.files.write(file, record),
        }
    }
}

/// What became of a record.
enum Changed<O> {
    Yes(O),
    No(O),
}

#[async_trait]
impl KeyStore for FileStore {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        let file = self.files.file(key);
        if self.has(Fault::QueuedClaims) {
            return self.claim_through_queue(key, claim, expected).await;
        }
        let mut lock = self.lock().await?;
        let stored = self.read_to_claim(&file, expected)?;
        if !expected.admits(stored.as_ref()) {
            let now = self.clock.now();
            return Ok(stored.map_or(ClaimOutcome::Vacant, |record| {
                ClaimOutcome::Occupied(Box::new(Snapshot { record, now }))
            }));
        }
        if self.gives_the_lock_back_before(expected) {
            drop(lock);
            gap().await;
            lock = self.lock().await?;
        }
        let now = self.clock.now();
        let record = Record::claimed(claim, now);
        self.write(&file, &record).await?;
        drop(lock);
        Ok(ClaimOutcome::Claimed(record.stamp(now)))
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        let found = self.read(&self.files.file(key))?;
        Ok(found.map(|record| Snapshot { record, now: self.clock.now() }))
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        self.fail_outright();
        let change = |record: &mut Record, now| match record.renew(token, renewal, now) {
            RenewOutcome::NotHeld => Changed::No(RenewOutcome::NotHeld),
            applied => Changed::Yes(applied),
        };
        self.change(key, change, RenewOutcome::NotHeld).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        if self.has(Fault::CompletionChecksThenWrites) {
            return self.complete_in_two_steps(key, token, completion).await;
        }
        let change = |record: &mut Record, now| match record.complete(token, completion, now) {
            applied @ CompleteOutcome::Applied(_) => Changed::Yes(applied),
            other => Changed::No(other),
        };
        self.change(key, change, CompleteOutcome::NotHeld).await
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        let change = |record: &mut Record, now| match record.release(token, release, now) {
            ReleaseOutcome::NotHeld => Changed::No(ReleaseOutcome::NotHeld),
            // Written as it was, if it was released before.
            ReleaseOutcome::Applied => Changed::Yes(ReleaseOutcome::Applied),
        };
        self.change(key, change, ReleaseOutcome::NotHeld).await
    }

    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        let _lock = self.lock().await?;
        let now = self.clock.now();
        if self.has(Fault::PurgeCopiesWhatLives) {
            return self.copy_what_lives(limit, now);
        }
        let mut deleted = 0;
        for file in self.files.all()? {
            if deleted < u64::from(limit) && self.files.read(&file)?.is_some_and(|record| record.is_past(now))
            {
                fs::remove_file(&file).map_err(unavailable)?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }
}
