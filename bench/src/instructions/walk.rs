//! A process run one instruction at a time, all its threads, from one visit of a mark to the next.
//!
//! ```text
//! mark ──▶ … every instruction in user space, the C library's too … ──▶ mark
//! ```
//!
//! A mark is a function that the process calls once a call. A thread that is blocked takes no
//! step, and one that begins meanwhile is walked, too. Nothing is known of what the process does.

use std::collections::HashMap;
use std::mem::offset_of;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::counts::Unstepped;

/// How long a walk may take, many times what any does. Then its process is killed.
const WALK_MAX: Duration = Duration::from_secs(60);

/// A process that is walked. It goes on by itself when this is dropped.
///
/// Belongs to the thread that made it: no other may trace its threads.
pub struct Walk {
    process: Pid,
    threads: HashMap<Pid, Thread>,
}

/// A thread of it.
struct Thread {
    /// Its next instruction.
    at: u64,
    /// Else it is on its way, or blocked.
    is_stopped: bool,
}

/// Kills a process unless it is dropped in time.
struct Watchdog {
    _alive: Sender<()>,
}

impl Walk {
    /// Stops every thread of a process.
    pub fn stop(process: u32) -> Result<Walk, Unstepped> {
        let process = Pid::from_raw(i32::try_from(process)?);
        let mut walk = Walk { process, threads: HashMap::new() };
        for entry in std::fs::read_dir(format!("/proc/{process}/task"))? {
            let thread = entry?.file_name().to_string_lossy().parse()?;
            walk.stop_thread(Pid::from_raw(thread))?;
        }
        Ok(walk)
    }

    fn stop_thread(&mut self, thread: Pid) -> Result<(), Unstepped> {
        match ptrace::seize(thread, Options::PTRACE_O_TRACECLONE) {
            Err(error @ (Errno::EPERM | Errno::ENOSYS)) => {
                let reason = format!("this system lets no process be stepped: {error}");
                return Err(Unstepped::Impossible(reason));
            }
            seized => seized?,
        }
        ptrace::interrupt(thread)?;
        self.threads.insert(thread, Thread { at: 0, is_stopped: false });
        while !self.threads.values().all(|thread| thread.is_stopped) {
            self.await_stop()?;
        }
        Ok(())
    }

    /// Walks on until `mark` has been visited so many times; how many instructions lay between
    /// each two visits, of all threads together.
    pub fn between(&mut self, mark: u64, visits: usize) -> Result<Vec<u64>, Unstepped> {
        let _watchdog = Watchdog::over(self.process);
        let mut between = Vec::new();
        // Since the last visit, once there was one.
        let mut steps = None;
        let stopped = self.threads.iter().filter(|(_, thread)| thread.is_stopped);
        for thread in stopped.map(|(thread, _)| *thread).collect::<Vec<_>>() {
            self.step(thread, None)?;
        }
        while between.len() + 1 < visits {
            let (thread, has_moved) = self.await_stop()?;
            let has_moved = has_moved || self.repeat(thread)?;
            if has_moved {
                steps = steps.map(|steps| steps + 1);
                if self.threads[&thread].at == mark {
                    between.extend(steps.replace(0));
                }
            }
            self.step(thread, None)?;
        }
        Ok(between)
    }

    /// Waits until a thread is stopped, and says whether it is elsewhere than when it was last.
    fn await_stop(&mut self) -> Result<(Pid, bool), Unstepped> {
        loop {
            match waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD))? {
                WaitStatus::Stopped(thread, Signal::SIGTRAP)
                | WaitStatus::PtraceEvent(thread, ..) => {
                    let at = ptrace::getregs(thread)?.rip;
                    let now = Thread { at, is_stopped: true };
                    let before = self.threads.insert(thread, now);
                    return Ok((thread, before.is_some_and(|before| before.at != at)));
                }
                // Somebody else's signal.
                WaitStatus::Stopped(thread, signal) => self.step(thread, Some(signal))?,
                WaitStatus::Exited(thread, _) | WaitStatus::Signaled(thread, ..) => {
                    self.threads.remove(&thread);
                    if self.threads.is_empty() || thread == self.process {
                        return Err("it ended on the way, or found no mark".to_owned().into());
                    }
                }
                _ => {}
            }
        }
    }

    /// Runs a thread through the rest of an instruction that takes a step for every byte
    /// (`rep movsb`), which is one instruction all the same. Whether it stands at such a one: a
    /// thread that has not moved may have been stopped for another reason.
    fn repeat(&mut self, thread: Pid) -> Result<bool, Unstepped> {
        let at = self.threads[&thread].at;
        let code = ptrace::read(thread, at as ptrace::AddressType)?.to_ne_bytes();
        let prefixes =
            code.iter().take_while(|byte| matches!(byte, 0x40..=0x4f | 0x66 | 0xf2 | 0xf3));
        let length = prefixes.count();
        let is_repeated = code[..length].iter().any(|byte| matches!(byte, 0xf2 | 0xf3));
        if !is_repeated || !matches!(code.get(length), Some(0xa4..=0xa7 | 0xaa..=0xaf)) {
            return Ok(false);
        }
        // To the next instruction, by a breakpoint of this thread's own.
        let next = at + length as u64 + 1;
        set_breakpoint(thread, Some(next))?;
        ptrace::cont(thread, None)?;
        while self.threads[&thread].at != next {
            match waitpid(thread, Some(WaitPidFlag::__WALL))? {
                WaitStatus::Stopped(_, Signal::SIGTRAP) | WaitStatus::PtraceEvent(..) => {}
                _ => return Err("a thread did not come through an instruction".to_owned().into()),
            }
            let at = ptrace::getregs(thread)?.rip;
            self.threads.insert(thread, Thread { at, is_stopped: true });
        }
        set_breakpoint(thread, None)?;
        Ok(true)
    }

    fn step(&mut self, thread: Pid, signal: Option<Signal>) -> Result<(), Unstepped> {
        if let Some(stepped) = self.threads.get_mut(&thread) {
            stepped.is_stopped = false;
        }
        Ok(ptrace::step(thread, signal)?)
    }

    /// Stops who is on the way, and lets all go.
    fn leave(&mut self) -> Result<(), Unstepped> {
        let moving = self.threads.iter().filter(|(_, thread)| !thread.is_stopped);
        for thread in moving.map(|(thread, _)| *thread).collect::<Vec<_>>() {
            ptrace::interrupt(thread)?;
        }
        while !self.threads.values().all(|thread| thread.is_stopped) {
            self.await_stop()?;
        }
        for thread in self.threads.keys().copied().collect::<Vec<_>>() {
            if self.is_trap_pending(thread)? {
                // Out of a system call that was interrupted: it would end the process.
                ptrace::cont(thread, None)?;
                self.await_stop()?;
            }
            ptrace::detach(thread, None)?;
        }
        Ok(())
    }

    /// Whether the end of a step is still to be told of a thread that has stopped otherwise.
    fn is_trap_pending(&self, thread: Pid) -> Result<bool, Unstepped> {
        let status =
            std::fs::read_to_string(format!("/proc/{}/task/{thread}/status", self.process))?;
        let pending = status.lines().find_map(|line| line.strip_prefix("SigPnd:"));
        let pending =
            u64::from_str_radix(pending.ok_or("a thread has no pending signals")?.trim(), 16)?;
        Ok(pending & 1 << (Signal::SIGTRAP as i32 - 1) != 0)
    }
}

/// Has a thread stop before it executes what is at `address`, or no more.
fn set_breakpoint(thread: Pid, address: Option<u64>) -> Result<(), Unstepped> {
    let registers = offset_of!(libc::user, u_debugreg);
    let register = |index: usize| (registers + index * size_of::<u64>()) as ptrace::AddressType;
    // Number 7 says which of them count.
    ptrace::write_user(thread, register(7), 0)?;
    if let Some(address) = address {
        ptrace::write_user(thread, register(0), address.cast_signed())?;
        ptrace::write_user(thread, register(7), 1)?;
    }
    Ok(())
}

impl Drop for Walk {
    fn drop(&mut self) {
        // It has ended, or it goes on.
        let _ = self.leave();
    }
}

impl Watchdog {
    fn over(process: Pid) -> Watchdog {
        let (alive, watched) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            if watched.recv_timeout(WALK_MAX) == Err(RecvTimeoutError::Timeout) {
                // Of this thread's own or a child's child, and traced: nobody else has its number.
                let _ = kill(process, Signal::SIGKILL);
            }
        });
        Watchdog { _alive: alive }
    }
}

#[cfg(test)]
mod tests;
