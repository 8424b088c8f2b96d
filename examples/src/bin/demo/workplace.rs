//! Where workers live and die: one at a time, killed in mid-charge where the plan says so, and replaced.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};

use crate::wire::{Call, Message, Reply};
use crate::worker::{Incarnation, Protection};

/// A call that is on its way to the workplace.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) call: Call,
    /// Where its fate is to be told. Dropped if the worker died with it.
    pub(crate) fate: oneshot::Sender<Fate>,
}

/// What became of a call, as far as anybody was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was answered.
    Answered(Reply),
    /// The worker was killed on its account.
    Killed,
}

/// Runs workers until the last sender of calls is gone and the last worker has finished. Says how many were killed.
///
/// # Errors
/// [`WorkplaceError`]
pub(crate) async fn run(
    database: PathBuf,
    protection: Protection,
    mut calls: mpsc::Receiver<Asked>,
) -> Result<u32, WorkplaceError> {
    let mut killed = 0;
    loop {
        let mut worker = Running::start(&database, protection, Incarnation(killed))?;
        match worker.serve(&mut calls).await? {
            End::Killed => killed += 1,
            End::Finished => return Ok(killed),
        }
    }
}

/// The demonstration cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkplaceError {
    #[error("the worker process cannot be reached")]
    Io(#[from] io::Error),
    #[error("the worker process said something that was not understood")]
    Language(#[from] serde_json::Error),
    #[error("the worker process ended by itself ({0})")]
    Ended(ExitStatus),
}

enum End {
    Killed,
    Finished,
}

/// A worker that lives, and the calls that it owes an answer.
struct Running {
    child: Child,
    /// `None` when there are no more calls.
    stdin: Option<ChildStdin>,
    stdout: Lines<BufReader<ChildStdout>>,
    owed: HashMap<u64, oneshot::Sender<Fate>>,
}

impl Running {
    fn start(database: &PathBuf, protection: Protection, incarnation: Incarnation) -> io::Result<Self> {
        let mode = match protection {
            Protection::Without => "without",
            Protection::With => "with",
        };
        let mut child = Command::new(std::env::current_exe()?)
            .args(["worker", mode, &incarnation.0.to_string()])
            .arg(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("its output is piped");
        Ok(Self { child, stdin, stdout: BufReader::new(stdout).lines(), owed: HashMap::new() })
    }

    /// Passes calls in and answers out until the worker is killed, or has finished.
    async fn serve(&mut self, calls: &mut mpsc::Receiver<Asked>) -> Result<End, WorkplaceError> {
        loop {
            tokio::select! {
                asked = calls.recv(), if self.stdin.is_some() => match asked {
                    Some(asked) => self.pass_in(asked).await?,
                    // The end of its input tells the worker to finish.
                    None => self.stdin = None,
                },
                line = self.stdout.next_line() => match line? {
                    Some(line) => {
                        if let Some(number) = self.pass_out(&line)? {
                            self.kill(number).await?;
                            return Ok(End::Killed);
                        }
                    }
                    None => return self.ended().await,
                },
            }
        }
    }

    async fn pass_in(&mut self, Asked { call, fate }: Asked) -> Result<(), WorkplaceError> {
        let line = serde_json::to_string(&call)? + "\n";
        self.owed.insert(call.number, fate);
        if let Some(stdin) = &mut self.stdin {
            stdin.write_all(line.as_bytes()).await?;
        }
        Ok(())
    }

    /// Hands an answer on. Gives the number of the call that the worker is to be killed for, if it is one.
    fn pass_out(&mut self, line: &str) -> Result<Option<u64>, WorkplaceError> {
        match serde_json::from_str(line)? {
            Message::Reply { number, reply } => {
                if let Some(fate) = self.owed.remove(&number) {
                    // Fails if the client has given up waiting.
                    let _ = fate.send(Fate::Answered(reply));
                }
                Ok(None)
            }
            Message::AtTheKnife { number } => Ok(Some(number)),
        }
    }

    /// Sends SIGKILL and waits until the process is gone: nothing that it was doing goes on after this.
    async fn kill(&mut self, number: u64) -> Result<(), WorkplaceError> {
        self.child.kill().await?;
        if let Some(fate) = self.owed.remove(&number) {
            let _ = fate.send(Fate::Killed);
        }
        Ok(())
    }

    async fn ended(&mut self) -> Result<End, WorkplaceError> {
        let status = self.child.wait().await?;
        if self.stdin.is_none() && status.success() {
            Ok(End::Finished)
        } else {
            Err(WorkplaceError::Ended(status))
        }
    }
}
