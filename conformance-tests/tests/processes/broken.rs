//! What broken stores do instead.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use onceonly::{
    ClaimOutcome, CompleteOutcome, Completion, Expected, NewClaim, Record, RecordKey, Snapshot, Status,
    StoreError, Timestamp, Token,
};
use onceonly_conformance::Request;
use rustix::process::{Pid, test_kill_process};

use crate::faults::Fault;
use crate::files::unavailable;
use crate::store::FileStore;

/// What a broken store keeps in its process.
#[derive(Default)]
pub(crate) struct Memory {
    /// Records as they were when they were first read.
    first_read: BTreeMap<PathBuf, Record>,
    /// Records as they were when they were last read.
    last_read: BTreeMap<PathBuf, Record>,
    /// Records as this process wrote them.
    written: BTreeMap<PathBuf, Record>,
    /// Writes that are answered and not made.
    unmade: BTreeMap<PathBuf, Record>,
}

impl FileStore {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Reading.

    pub(crate) fn read(&self, file: &Path) -> Result<Option<Record>, StoreError> {
        if let Some(record) = self.memory().unmade.get(file) {
            return Ok(Some(record.clone()));
        }
        let found = self.files.read(file)?;
        let Some(record) = found else { return Ok(None) };
        let dead = self.has(Fault::ForgetsTheDead) && owner(file).is_some_and(|owner| !is_alive(owner));
        if dead && matches!(record.status, Status::InProgress { .. }) {
            fs::remove_file(file).map_err(unavailable)?;
            return Ok(None);
        }
        let mut memory = self.memory();
        memory.last_read.insert(file.to_owned(), record.clone());
        let first = memory.first_read.entry(file.to_owned()).or_insert_with(|| record.clone());
        Ok(Some(if self.has(Fault::CachedReads) { first.clone() } else { record }))
    }

    /// The record that a claim is compared with.
    pub(crate) fn read_to_claim(
        &self,
        file: &Path,
        expected: Expected,
    ) -> Result<Option<Record>, StoreError> {
        if self.has(Fault::TrustsItsLook) && expected != Expected::Absent {
            return Ok(self.memory().last_read.get(file).cloned());
        }
        self.read(file)
    }

    /// The record that a holder's write is compared with.
    pub(crate) fn read_to_change(&self, file: &Path) -> Result<Option<Record>, StoreError> {
        match self.fault {
            Some(Fault::HeldByItsProcess) if owner(file) != Some(process::id()) => Ok(None),
            Some(Fault::TrustsItsMemory) => match self.memory().written.get(file).cloned() {
                Some(written) => Ok(Some(written)),
                None => self.files.read(file),
            },
            Some(Fault::CachedReads) => self.files.read(file),
            _ => self.read(file),
        }
    }

    // Writing.

    pub(crate) async fn write_wrongly(
        &self,
        fault: Fault,
        file: &Path,
        record: &Record,
    ) -> Result<(), StoreError> {
        match fault {
            Fault::WritesLater => return self.write_later(file, record),
            Fault::WritesInTwoSteps => {
                self.files.write(file, &self.half(file, record)?)?;
                thread::sleep(GAP);
            }
            Fault::DroppedInTwoSteps => {
                self.files.write(file, &self.half(file, record)?)?;
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
            }
            Fault::ForgetsTheDead | Fault::HeldByItsProcess => set_owner(file).map_err(unavailable)?,
            Fault::CachedReads => {
                self.memory().first_read.insert(file.to_owned(), record.clone());
            }
            Fault::TrustsItsMemory => {
                self.memory().written.insert(file.to_owned(), record.clone());
            }
            _ => {}
        }
        self.files.write(file, record)
    }

    /// The new version, with the rest of what was there before; of a first claim, all but its checkpoint.
    fn half(&self, file: &Path, record: &Record) -> Result<Record, StoreError> {
        let without_checkpoint =
            || Record { status: Status::InProgress { checkpoint: None }, ..record.clone() };
        let before = self.files.read(file)?.unwrap_or_else(without_checkpoint);
        Ok(Record { version: record.version, ..before })
    }

    fn write_later(&self, file: &Path, record: &Record) -> Result<(), StoreError> {
        let unmade = {
            let mut memory = self.memory();
            memory.unmade.insert(file.to_owned(), record.clone());
            if memory.unmade.len() < 16 {
                return Ok(());
            }
            std::mem::take(&mut memory.unmade)
        };
        unmade.iter().try_for_each(|(file, record)| self.files.write(file, record))
    }

    pub(crate) fn gives_the_lock_back_before(&self, expected: Expected) -> bool {
        match self.fault {
            Some(Fault::ClaimChecksThenWrites) => expected == Expected::Absent,
            Some(Fault::TakeoverChecksThenWrites) => expected != Expected::Absent,
            _ => false,
        }
    }

    pub(crate) async fn complete_in_two_steps(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        let file = self.files.file(key);
        let lock = self.lock().await?;
        let Some(mut record) = self.files.read(&file)? else { return Ok(CompleteOutcome::NotHeld) };
        let outcome = record.complete(token, completion, self.clock.now());
        drop(lock);
        if let CompleteOutcome::Applied(_) = outcome {
            gap().await;
            let _lock = self.lock().await?;
            self.files.write(&file, &record)?;
        }
        Ok(outcome)
    }

    /// Writes the claim down before it waits for the lock, and carries out all that were written down once it has it.
    pub(crate) async fn claim_through_queue(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        let request = Request::Claim { key: key.clone(), claim: claim.clone(), expected };
        let line = serde_json::to_string(&request).map_err(unavailable)?;
        let queue = self.files.folder.join("queue");
        let file = OpenOptions::new().append(true).create(true).open(&queue);
        file.and_then(|mut file| writeln!(file, "{line}")).map_err(unavailable)?;
        let _lock = self.lock().await?;
        let now = self.clock.now();
        for line in fs::read_to_string(&queue).map_err(unavailable)?.lines() {
            if let Ok(Request::Claim { key, claim, expected }) = serde_json::from_str(line) {
                let file = self.files.file(&key);
                if expected.admits(self.files.read(&file)?.as_ref()) {
                    self.files.write(&file, &Record::claimed(&claim, now))?;
                }
            }
        }
        fs::write(&queue, "").map_err(unavailable)?;
        Ok(match self.files.read(&self.files.file(key))? {
            Some(record) if record.version.token == claim.token => ClaimOutcome::Claimed(record.stamp(now)),
            Some(record) => ClaimOutcome::Occupied(Box::new(Snapshot { record, now })),
            None => ClaimOutcome::Vacant,
        })
    }

    /// Moves everything away, and what is to stay back.
    pub(crate) fn copy_what_lives(&self, limit: u32, now: Timestamp) -> Result<u64, StoreError> {
        let (records, old) = (self.files.records(), self.files.folder.join("old"));
        let files = self.files.all()?;
        if old.exists() {
            fs::remove_dir_all(&old).map_err(unavailable)?;
        }
        fs::rename(&records, &old).and_then(|()| fs::create_dir(&records)).map_err(unavailable)?;
        thread::sleep(GAP);
        let mut deleted = 0;
        for file in files {
            let Some(name) = file.file_name() else { continue };
            let old = old.join(name);
            if deleted < u64::from(limit) && self.files.read(&old)?.is_some_and(|record| record.is_past(now))
            {
                deleted += 1;
            } else {
                fs::rename(old, file).map_err(unavailable)?;
            }
        }
        Ok(deleted)
    }

    /// Ends the call, or more than the call, if that is the fault.
    pub(crate) fn fail_outright(&self) {
        match self.fault {
            Some(Fault::Aborts) => {
                eprintln!("this store ends its process");
                process::abort();
            }
            Some(Fault::Panics) => panic!("this store panics"),
            Some(Fault::Prints) => println!("this store prints"),
            _ => {}
        }
    }
}

/// Stands between a look and a write, where another caller may come in: a real wait for another task, as for a
/// database's answer.
pub(crate) async fn gap() {
    // Were the task cancelled, the runtime is going down and nobody looks any more.
    let _ = tokio::spawn(tokio::task::yield_now()).await;
}

/// A lock that is had by whoever makes the file, until the file is removed.
pub(crate) struct LockFile(PathBuf);

impl LockFile {
    pub(crate) fn try_make(folder: &Path) -> io::Result<Option<Self>> {
        let path = folder.join("lock file");
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => Ok(Some(Self(path))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Should it be gone, then so is the lock.
        let _ = fs::remove_file(&self.0);
    }
}

/// The process that has last written the record.
fn owner(file: &Path) -> Option<u32> {
    let name = file.file_name()?.to_str()?;
    fs::read_to_string(file.parent()?.parent()?.join(format!("owner of {name}"))).ok()?.parse().ok()
}

fn set_owner(file: &Path) -> io::Result<()> {
    let (folder, name) =
        (file.parent().and_then(Path::parent), file.file_name().and_then(|name| name.to_str()));
    let (Some(folder), Some(name)) = (folder, name) else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    fs::write(folder.join(format!("owner of {name}")), process::id().to_string())
}

fn is_alive(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_some_and(|process| test_kill_process(process).is_ok())
}

/// How long what must not be torn apart stays apart, as if the disk were slow.
const GAP: Duration = Duration::from_millis(2);
