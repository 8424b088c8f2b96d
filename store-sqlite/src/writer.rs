//! The one thread that writes. What queues while it commits is committed together next.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use onceonly::StoreError;
use rusqlite::Connection;

use crate::checkpoint::Checkpoints;
use crate::connection;
use crate::error::Error;
use crate::records::{Records, Table};

/// The way to the writer's thread. When it is dropped, the thread answers what is queued and ends.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Message>,
    thread: JoinHandle<()>,
}

/// What the writer needs.
pub(crate) struct WriterParts {
    pub(crate) connection: Connection,
    pub(crate) table: Arc<Table>,
    pub(crate) busy_timeout: Duration,
    pub(crate) checkpoints: Option<Checkpoints>,
}

/// What becomes of a call whose caller has gone before its turn came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenDropped {
    /// It is carried out: it belongs to an operation that has happened.
    CarryOut,
    /// It is left undone: a claim for nobody would only block its key.
    LeaveUndone,
}

impl Writer {
    pub(crate) fn start(parts: WriterParts) -> Result<Self, Error> {
        let (sender, queue) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("onceonly-sqlite".to_owned())
            .spawn(move || {
                let WriterParts { connection, table, busy_timeout, checkpoints } = parts;
                let mut thread = WriterThread { checkpoints, connection, table, busy_timeout, queue };
                while let Ok(first) = thread.queue.recv() {
                    thread.write_group(first);
                }
            })
            .map_err(Error::Thread)?;
        Ok(Self { queue: sender, thread })
    }

    /// Waits until the thread has answered what is queued and has closed its connection.
    pub(crate) fn close(self) {
        drop(self.queue);
        // Should it have panicked after all, then it has ended as well.
        let _ = self.thread.join();
    }

    /// Carries out `verb` in the next group.
    pub(crate) async fn call<A: Send + 'static>(
        &self,
        when_dropped: WhenDropped,
        verb: impl FnMut(&Records<'_>) -> Result<A, Error> + Send + 'static,
    ) -> Result<A, StoreError> {
        let (call, answer) = Call::prepare(when_dropped, verb);
        self.send(vec![call])?;
        answer.await.unwrap_or_else(|_| Err(Error::Stopped.into()))
    }

    /// Carries out several in one group, in order.
    pub(crate) async fn call_many<A: Send + 'static, V>(
        &self,
        when_dropped: WhenDropped,
        verbs: impl IntoIterator<Item = V>,
    ) -> Vec<Result<A, StoreError>>
    where
        V: FnMut(&Records<'_>) -> Result<A, Error> + Send + 'static,
    {
        let (calls, pending): (Vec<_>, Vec<_>) =
            verbs.into_iter().map(|verb| Call::prepare(when_dropped, verb)).unzip();
        // If it cannot be sent, the answers say so: each call is dropped unanswered.
        let _ = self.send(calls);
        let mut answers = Vec::with_capacity(pending.len());
        for answer in pending {
            answers.push(answer.await.unwrap_or_else(|_| Err(Error::Stopped.into())));
        }
        answers
    }

    fn send(&self, calls: Vec<Box<dyn Work>>) -> Result<(), Error> {
        self.queue.send(Message { since: Instant::now(), calls }).map_err(|_| Error::Stopped)
    }
}

/// Calls that belong into one group.
struct Message {
    since: Instant,
    calls: Vec<Box<dyn Work>>,
}

/// A call, whatever its verb. It can be carried out again if its group was undone.
trait Work: Send {
    fn carry_out(&mut self, records: &Records<'_>);
    fn has_failed(&self) -> bool;
    fn fail(&mut self, error: Error);
    fn answer(self: Box<Self>);
}

struct Call<A, V> {
    verb: V,
    when_dropped: WhenDropped,
    outcome: Option<Result<A, Error>>,
    reply: oneshot::Sender<Result<A, StoreError>>,
}

impl<A, V> Call<A, V>
where
    A: Send + 'static,
    V: FnMut(&Records<'_>) -> Result<A, Error> + Send + 'static,
{
    fn prepare(
        when_dropped: WhenDropped,
        verb: V,
    ) -> (Box<dyn Work>, oneshot::Receiver<Result<A, StoreError>>) {
        let (reply, answer) = oneshot::channel();
        (Box::new(Self { verb, when_dropped, outcome: None, reply }), answer)
    }
}

impl<A, V> Work for Call<A, V>
where
    A: Send,
    V: FnMut(&Records<'_>) -> Result<A, Error> + Send,
{
    fn carry_out(&mut self, records: &Records<'_>) {
        if self.when_dropped == WhenDropped::LeaveUndone && self.reply.is_canceled() {
            return;
        }
        self.outcome = Some((self.verb)(records));
    }

    fn has_failed(&self) -> bool {
        matches!(self.outcome, Some(Err(_)))
    }

    fn fail(&mut self, error: Error) {
        self.outcome = Some(Err(error));
    }

    fn answer(self: Box<Self>) {
        if let Some(outcome) = self.outcome {
            // Whoever asked may have gone; what was written stays.
            let _ = self.reply.send(outcome.map_err(StoreError::from));
        }
    }
}

struct WriterThread {
    // Ended before the connection is closed.
    checkpoints: Option<Checkpoints>,
    connection: Connection,
    table: Arc<Table>,
    busy_timeout: Duration,
    queue: mpsc::Receiver<Message>,
}

/// The calls of a group that did not come to an answer together.
enum Undone {
    /// The group failed as such, and so did every call in it.
    Failed(rusqlite::Error),
    /// One call made SQLite undo the whole transaction, as a full disk does. The others deserve a try of their own.
    ByOneCall,
}

impl WriterThread {
    fn write_group(&mut self, first: Message) {
        let deadline = first.since + self.busy_timeout;
        let mut group = first.calls;
        match self.try_group(&mut group, Filling::FromQueue, deadline) {
            Ok(()) => {}
            Err(Undone::Failed(failure)) => fail_all(&mut group, &failure),
            Err(Undone::ByOneCall) if group.len() == 1 => {}
            Err(Undone::ByOneCall) => return self.write_one_by_one(group),
        }
        group.into_iter().for_each(answer);
        self.after_commit();
    }

    fn write_one_by_one(&mut self, group: Vec<Box<dyn Work>>) {
        // One for all: they wait one after the other.
        let deadline = Instant::now() + self.busy_timeout;
        for call in group {
            let mut alone = vec![call];
            if let Err(Undone::Failed(failure)) = self.try_group(&mut alone, Filling::Closed, deadline) {
                fail_all(&mut alone, &failure);
            }
            alone.into_iter().for_each(answer);
        }
        self.after_commit();
    }

    /// One transaction. Whatever goes wrong, none is open afterwards.
    fn try_group(
        &self,
        group: &mut Vec<Box<dyn Work>>,
        filling: Filling,
        deadline: Instant,
    ) -> Result<(), Undone> {
        connection::retry_while_busy(deadline, || self.execute("BEGIN IMMEDIATE")).map_err(Undone::Failed)?;
        let records = self.table.on(&self.connection);
        let mut carried_out = 0;
        loop {
            if filling == Filling::FromQueue {
                self.fill(group);
            }
            let Some(call) = group.get_mut(carried_out) else { break };
            carry_out(call, &records);
            carried_out += 1;
            if self.connection.is_autocommit() {
                if !call.has_failed() {
                    call.fail(Error::Undone);
                }
                return Err(Undone::ByOneCall);
            }
        }
        self.execute("COMMIT").map_err(|failure| {
            // A failed COMMIT may leave the transaction open.
            if !self.connection.is_autocommit() {
                let _ = self.execute("ROLLBACK");
            }
            Undone::Failed(failure)
        })
    }

    /// Takes what is queued by now. A call that comes while the group is carried out still joins it: each commit costs a
    /// flush of the disk, and those who were answered by the last one are on their way back.
    fn fill(&self, group: &mut Vec<Box<dyn Work>>) {
        while group.len() < GROUP_MAX
            && let Ok(message) = self.queue.try_recv()
        {
            group.extend(message.calls);
        }
    }

    fn execute(&self, sql: &'static str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }

    fn after_commit(&mut self) {
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.after_commit(&self.connection);
        }
    }
}

/// A call that panics, in the store's clock or in SQLite's binding, fails by itself: the thread must not end with it. What
/// it may have written is one statement, which is applied or not.
fn carry_out(call: &mut Box<dyn Work>, records: &Records<'_>) {
    if catch_unwind(AssertUnwindSafe(|| call.carry_out(records))).is_err() {
        call.fail(Error::Panicked);
    }
}

/// Answers a call. Whoever is woken by it may panic, and must not keep the others from their answers.
fn answer(call: Box<dyn Work>) {
    if catch_unwind(AssertUnwindSafe(|| call.answer())).is_err() {
        tracing::error!("a caller panicked when it was woken");
    }
}

/// Whether calls that wait in the queue join a group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Filling {
    FromQueue,
    Closed,
}

fn fail_all(group: &mut [Box<dyn Work>], failure: &rusqlite::Error) {
    for call in group {
        if !call.has_failed() {
            call.fail(Error::again(failure));
        }
    }
}

/// So many calls that the commit's own cost no longer shows, and so few that nobody waits long for the others.
const GROUP_MAX: usize = 512;
