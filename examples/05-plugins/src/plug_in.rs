//! One plug-in, as its host has it: started, called within a time, and started again or switched
//! off by what became of its calls.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::{Binding, CallError, Domain, ImportOptions, NotExecuted};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tempfile::TempDir;

use crate::filters::{FILTER, FilterApplyException, FilterClient};

/// What a plug-in exports its interface as.
pub const NAME: &str = "filter";

/// Longest wait until a plug-in that was started can be bound to.
const START_MAX: Duration = Duration::from_secs(10);

/// Calls that were given up and that the plug-in still has: each has captured an A-stack, and most
/// likely a thread of it. After so many it is started anew.
const CAPTURED_MAX: u32 = 2;

/// Starts of one plug-in, the first among them.
const STARTS_MAX: u32 = 3;

/// A plug-in. Dropped, it is killed: it has nothing to lose.
#[derive(Debug)]
pub struct PlugIn {
    domain: Domain,
    program: PathBuf,
    kind: String,
    /// Longest wait for a text.
    deadline: Duration,
    starts: u32,
    /// None: it is switched off.
    life: Option<Life>,
}

/// One process of it.
#[derive(Debug)]
struct Life {
    child: Child,
    filter: FilterClient,
    /// Where its name is, and no other's.
    _names: TempDir,
}

impl PlugIn {
    /// Starts a plug-in of this kind, which is given so long for a text.
    ///
    /// # Errors: the program is not there, has ended, or exports nothing in time.
    pub fn start(
        domain: &Domain,
        program: PathBuf,
        kind: &str,
        deadline: Duration,
    ) -> Result<PlugIn, Box<dyn Error>> {
        let (domain, kind) = (domain.clone(), kind.to_owned());
        let mut plug_in = PlugIn { domain, program, kind, deadline, starts: 0, life: None };
        plug_in.begin_life()?;
        Ok(plug_in)
    }

    /// What it is called.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// What becomes of a text.
    ///
    /// # Errors: why nothing came of it, and what was done about that.
    pub fn apply(&mut self, text: &str) -> Result<String, String> {
        let Some(life) = &self.life else { return Err("is switched off".to_owned()) };
        match life.filter.apply(text) {
            Ok(text) => Ok(text),
            Err(nearcall::Error::Exception(FilterApplyException::Refused(refused))) => {
                Err(format!("refused it: {}", refused.why))
            }
            Err(nearcall::Error::Call(error)) => Err(self.heed(&error)),
        }
    }

    /// What a call that failed is to the host.
    fn heed(&mut self, error: &CallError) -> String {
        match error {
            // It may answer others yet, on another of its threads: the call is given up alone.
            CallError::CallAborted { .. } => match self.captured_count() {
                count if count < CAPTURED_MAX => {
                    format!("did not answer within {:?}", self.deadline)
                }
                count => self.begin_again(&format!("did not answer {count} times")),
            },
            CallError::CallFailed { .. } => self.begin_again("has ended"),
            CallError::NotExecuted { reason, .. } if has_ended(reason) => {
                self.begin_again("has ended")
            }
            // It has broken the protocol: it is wrong, or hostile, and will be so again.
            CallError::Peer { .. } => {
                self.life = None;
                format!("is switched off: {error}")
            }
            // It has no time or room for the text, panicked at it, or made what the interface
            // forbids: the next one may do.
            _ => format!("failed: {error}"),
        }
    }

    fn captured_count(&self) -> u32 {
        self.life.as_ref().map_or(0, |life| life.filter.binding().captured_count())
    }

    fn begin_again(&mut self, why: &str) -> String {
        self.life = None;
        match self.begin_life() {
            Ok(()) => format!("{why}: started again"),
            Err(error) => format!("{why}: switched off, {error}"),
        }
    }

    fn begin_life(&mut self) -> Result<(), Box<dyn Error>> {
        if self.starts == STARTS_MAX {
            return Err(format!("it was started {STARTS_MAX} times").into());
        }
        self.starts += 1;
        let names = tempfile::tempdir()?;
        let mut command = Command::new(&self.program);
        // It ends when the host's end of its input is gone, however that came about.
        command.arg(&self.kind).arg(names.path()).stdin(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{:?}: {error}", self.program))?;
        match self.bind(&child, &names) {
            Ok(binding) => {
                let filter = FilterClient::new(binding).with_deadline(self.deadline);
                self.life = Some(Life { child, filter, _names: names });
                Ok(())
            }
            Err(error) => {
                kill(&mut child)?;
                Err(error)
            }
        }
    }

    /// Binds to a plug-in that was just started, once it exports its interface, or has ended.
    fn bind(&self, child: &Child, names: &TempDir) -> Result<Binding, Box<dyn Error>> {
        let mut options = ImportOptions::default();
        options.scopes = Some(vec![Scope::Directory(names.path().to_owned())]);
        options.ready_timeout = START_MAX;
        let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
        options.ready_pidfd = Some(Arc::new(process));
        Ok(Binding::import_with(&self.domain, NAME, &FILTER, options)?)
    }
}

/// A call was not executed because of that: there is nobody any more who would.
fn has_ended(reason: &NotExecuted) -> bool {
    matches!(reason, NotExecuted::ServerEnded | NotExecuted::Revoked | NotExecuted::Refused)
}

impl Drop for Life {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = kill(&mut self.child);
    }
}

fn kill(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}
