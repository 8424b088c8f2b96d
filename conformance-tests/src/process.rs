//! Another process on the same records, which a case can pause and kill.

mod link;
mod listener;

use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::{env, io};

use tokio::sync::oneshot;

pub(crate) use self::link::UnderWay;
use self::link::{Link, RemoteStore, write_orders};
use self::listener::Listener;
use crate::call::Request;
use crate::fixture::StoreClock;
use crate::handle::Handle;
use crate::protocol::{ADDRESS, Interval, What};
use crate::verdict::set_up_failed;

/// Makes the command that starts a program which begins with [`serve_as_process`](crate::serve_as_process).
pub(crate) type StartCommand = Arc<dyn Fn() -> io::Result<Command> + Send + Sync>;

/// A process of its own, with a handle of its own to the records of a case. It is killed when this is dropped, also if
/// that is because the case ends early.
pub(crate) struct Process {
    link: Arc<Link>,
    child: Arc<Mutex<Child>>,
    ready: Option<oneshot::Receiver<()>>,
    listener: Option<JoinHandle<()>>,
}

/// Processes that have ended although no case wanted them to: why, in words.
#[derive(Clone, Default)]
pub(crate) struct Lost(Arc<Mutex<Option<String>>>);

impl Lost {
    /// The first of them.
    pub(crate) fn first(&self) -> Option<String> {
        lock(&self.0).clone()
    }

    fn note(&self, text: String) {
        lock(&self.0).get_or_insert(text);
    }
}

impl Process {
    /// Starts a process that joins the place at `address`. Its time is that of `clock`. Ask it for nothing before it is
    /// [`ready`](Self::ready).
    pub(crate) fn start(start: &StartCommand, address: &str, clock: &StoreClock, lost: &Lost) -> Self {
        Self::try_start(start, address, clock, lost)
            .unwrap_or_else(|error| set_up_failed(format_args!("no other process could be started: {error}")))
    }

    fn try_start(start: &StartCommand, address: &str, clock: &StoreClock, lost: &Lost) -> io::Result<Self> {
        if env::var_os(ADDRESS).is_some() {
            // It would start itself again and again.
            return Err(io::Error::other(
                "this program was started as one, and does not begin with serve_as_process",
            ));
        }
        let mut command = start()?;
        // A file, so that all of it is there to be read when the process has ended.
        let errors = tempfile::tempfile()?;
        command.env(ADDRESS, address);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors.try_clone()?);
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = pipes else { unreachable!("both were asked for") };

        let (orders, to_write) = mpsc::channel();
        let (ready_sender, ready) = oneshot::channel();
        let link = Arc::new(Link::new(clock.clone(), orders, ready_sender));
        let child = Arc::new(Mutex::new(child));
        let listener =
            Listener { link: Arc::clone(&link), child: Arc::clone(&child), errors, lost: lost.clone() };
        let listener = thread::spawn(move || listener.listen(output));
        // From here on the process is ended by being dropped.
        let process = Self { link, child, ready: Some(ready), listener: Some(listener) };
        thread::spawn(move || write_orders(input, &to_write));
        process.link.order(What::Begin);
        Ok(process)
    }

    /// Waits until the process has opened its handle, or has the calls that it is to [hold](Self::hold).
    pub(crate) async fn ready(&mut self) {
        if let Some(ready) = self.ready.take()
            && ready.await.is_err()
        {
            set_up_failed("another process ended before it was ready");
        }
    }

    /// The handle of the process. All that come from one process are the same.
    pub(crate) fn handle(&self) -> Handle {
        Handle::new(Arc::new(RemoteStore(Arc::clone(&self.link))))
    }

    /// Sends a call off. It travels in the order in which calls are sent, also to a process that is paused.
    pub(crate) fn send(&self, request: Request) -> UnderWay {
        self.link.call(request)
    }

    /// Sends calls off that the process makes at once when it is told to [go](Self::go). Before that, it must be
    /// [`ready`](Self::ready).
    pub(crate) fn hold(&mut self, requests: Vec<Request>) -> Vec<UnderWay> {
        let (sender, ready) = oneshot::channel();
        self.ready = Some(ready);
        self.link.hold(requests, sender)
    }

    /// Lets the process make the calls that it holds.
    pub(crate) fn go(&self) {
        self.link.order(What::Go);
    }

    /// When the calls were under way that were answered since this was last asked.
    pub(crate) fn take_intervals(&self) -> Vec<Interval> {
        self.link.take_intervals()
    }

    /// Stops it where it is. Calls under way stay so, until it is [resumed](Self::resume).
    pub(crate) fn pause(&self) {
        if let Err(error) = stop(&lock(&self.child)) {
            set_up_failed(format_args!("another process cannot be paused: {error}"));
        }
    }

    /// Lets it go on.
    pub(crate) fn resume(&self) {
        if let Err(error) = go_on(&lock(&self.child)) {
            set_up_failed(format_args!("another process cannot be resumed: {error}"));
        }
    }

    /// Ends it as a crash does, paused or not. Calls that it has not answered by then are `Unavailable`.
    pub(crate) fn kill(self) {
        drop(self);
    }

    /// Lets it end in its own time: it drops the calls that are under way, then its handle, and is over.
    pub(crate) async fn end(mut self) {
        self.link.close();
        if let Some(listener) = self.listener.take() {
            let over = tokio::task::spawn_blocking(move || listener.join());
            // Should the listener have panicked, the process is gone all the same.
            let _ = over.await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        {
            let mut child = lock(&self.child);
            // One that is over has not been killed, and its end is judged.
            if let Ok(None) = child.try_wait() {
                self.link.expect_kill();
                // It may end in this moment, which is as well.
                let _ = child.kill();
            }
        }
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

#[cfg(unix)]
fn stop(child: &Child) -> io::Result<()> {
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

    let process = Pid::from_child(child);
    kill_process(process, Signal::STOP)?;
    // The signal is on its way; this waits until all threads have stopped. What it sees stays there to be seen again.
    let seen = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(process), seen)?;
    Ok(())
}

#[cfg(unix)]
fn go_on(child: &Child) -> io::Result<()> {
    use rustix::process::{Pid, Signal, kill_process};

    Ok(kill_process(Pid::from_child(child), Signal::CONT)?)
}

#[cfg(not(unix))]
fn stop(_: &Child) -> io::Result<()> {
    crate::verdict::not_claimed("processes cannot be paused on this system")
}

#[cfg(not(unix))]
fn go_on(_: &Child) -> io::Result<()> {
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing under these locks panics half-way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::process::{Pid, test_kill_process};

    use super::*;

    #[tokio::test]
    async fn a_process_that_is_dropped_is_gone_and_not_lost() {
        for paused in [false, true] {
            let lost = Lost::default();
            let process = ready("cat > /dev/null", &lost).await;
            let id = Pid::from_child(&lock(&process.child));
            if paused {
                process.pause();
            }

            drop(process);

            assert!(test_kill_process(id).is_err(), "it is still there, paused: {paused}");
            assert_eq!(lost.first(), None);
        }
    }

    #[tokio::test]
    async fn a_process_that_ends_as_it_is_told_is_not_lost() {
        let lost = Lost::default();

        ready("cat > /dev/null", &lost).await.end().await;

        assert_eq!(lost.first(), None);
    }

    #[tokio::test]
    async fn a_process_that_fails_when_it_is_to_end_is_lost_with_its_last_words() {
        let lost = Lost::default();

        ready("cat > /dev/null; echo 'nothing is in order' >&2; exit 3", &lost).await.end().await;

        let how = lost.first().expect("it is lost");
        assert!(how.contains("exit status: 3") && how.contains("nothing is in order"), "{how}");
    }

    #[tokio::test]
    async fn calls_of_a_process_that_has_ended_are_unavailable() {
        let process = ready("cat > /dev/null", &Lost::default()).await;
        let purge = Request::PurgeExpired { limit: 1 };
        let (handle, before) = (process.handle(), process.send(purge.clone()));
        process.kill();

        for answer in [before.answer().await, purge.deliver(&*handle.plain()).await] {
            let error = answer.error().expect("nobody is there to answer");
            assert_eq!(error.kind(), onceonly::StoreErrorKind::Unavailable);
        }
    }

    /// A shell that says it is ready, and then does as `script` says.
    async fn ready(script: &str, lost: &Lost) -> Process {
        let script = format!("read -r begin; echo '\"ready\"'; {script}");
        let start: StartCommand = Arc::new(move || {
            let mut shell = Command::new("sh");
            shell.args(["-c", &script]);
            Ok(shell)
        });
        let mut process = Process::start(&start, "nowhere", &StoreClock::System, lost);
        process.ready().await;
        process
    }
}
