//! Watchpoints of the processor on the memory of a player: who loads a word there stops behind the
//! load, and goes on when whoever watches has done what it likes.
//!
//! A watchpoint tells no load from a store, but one that only stores meet does: two for each word.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::ptr::without_provenance_mut;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::player::Player;
use super::report::Stopped;

/// Words that can be watched at once.
pub const WORDS_MAX: usize = 2;

/// Where the debug registers lie in what the kernel calls a user area (`struct user`).
const REGISTERS_AT: usize = 848;

/// Of the status register, which says what was met, and of the one that says what is watched.
const STATUS: usize = 6;
const CONTROL: usize = 7;

/// Bits of one watchpoint in the control register: 4 bytes, met by stores; and by loads, too.
const STORES: u64 = 0b1101;
const ALL: u64 = 0b1111;

/// Longest between two looks whether a thread has stopped.
const LOOK: Duration = Duration::from_micros(20);

/// A player whose threads are all watched. Dropping it kills it.
pub struct Watched {
    /// Taken when this is dropped.
    player: Option<Player>,
    leader: Pid,
    words: Vec<u64>,
    is_gone: bool,
}

impl Watched {
    /// Watches a player that this thread has started; only this thread may use it.
    pub fn seize(player: Player) -> Result<Watched, Stopped> {
        let leader = Pid::from_raw(player.pid() as i32);
        let watched = Watched { player: Some(player), leader, words: Vec::new(), is_gone: false };
        let options = Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_EXITKILL;
        for thread in watched.threads()? {
            match ptrace::seize(thread, options) {
                Err(error @ (Errno::EPERM | Errno::ENOSYS)) => {
                    let what = format!("the right to trace a process: {error}");
                    return Err(Stopped::Lacking(what));
                }
                seized => seized?,
            }
        }
        Ok(watched)
    }

    fn threads(&self) -> Result<BTreeSet<Pid>, Stopped> {
        let mut threads = BTreeSet::new();
        for task in std::fs::read_dir(format!("/proc/{}/task", self.leader))? {
            threads.insert(Pid::from_raw(task?.file_name().to_string_lossy().parse()?));
        }
        Ok(threads)
    }

    /// Watches these words of 4 bytes instead of those before, in every thread.
    pub fn watch(&mut self, words: &[u64]) -> Result<(), Stopped> {
        assert!(words.len() <= WORDS_MAX, "{} words are over {WORDS_MAX}", words.len());
        self.words = words.to_vec();
        for thread in self.threads()? {
            ptrace::interrupt(thread)?;
            // It may stop at a watchpoint first, and for this when it has gone on.
            waitpid(thread, Some(WaitPidFlag::__WALL))?;
            self.set(thread)?;
            ptrace::cont(thread, None)?;
        }
        Ok(())
    }

    /// Sets the watchpoints of a thread that is stopped.
    fn set(&self, thread: Pid) -> Result<(), Stopped> {
        // None, before the addresses change.
        write(thread, CONTROL, 0)?;
        let mut control = 0;
        for (at, word) in self.words.iter().enumerate() {
            for (register, kind) in [(2 * at, ALL), (2 * at + 1, STORES)] {
                write(thread, register, *word)?;
                control |= 1 << (2 * register) | kind << (16 + 4 * register);
            }
        }
        write(thread, CONTROL, control)
    }

    /// Waits until something is over that another thread does, and calls `loaded` behind each load
    /// of a word that is watched, while the thread that has loaded it stands still.
    pub fn until<T>(
        &mut self,
        mut over: impl FnMut() -> Option<T>,
        mut loaded: impl FnMut(usize) -> Result<(), Stopped>,
    ) -> Result<T, Stopped> {
        let over = loop {
            if !self.follow_one(&mut loaded)? {
                if let Some(over) = over() {
                    break over;
                }
                std::thread::sleep(LOOK);
            }
        };
        while self.follow_one(&mut loaded)? {}
        Ok(over)
    }

    /// Deals with one thread that has stopped; false if none has.
    fn follow_one(
        &mut self,
        loaded: &mut impl FnMut(usize) -> Result<(), Stopped>,
    ) -> Result<bool, Stopped> {
        let ours = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD | WaitPidFlag::WNOHANG;
        let (thread, signal) = match waitpid(Pid::from_raw(-1), Some(ours))? {
            WaitStatus::StillAlive => return Ok(false),
            WaitStatus::Stopped(thread, Signal::SIGTRAP) => {
                let met = read(thread, STATUS)?;
                write(thread, STATUS, 0)?;
                for word in 0..self.words.len() {
                    if met >> (2 * word) & 0b11 == 0b01 {
                        loaded(word)?;
                    }
                }
                (thread, None)
            }
            WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
            WaitStatus::PtraceEvent(thread, ..) => {
                // A thread that is new has no watchpoints.
                self.set(thread)?;
                (thread, None)
            }
            WaitStatus::Exited(thread, _) | WaitStatus::Signaled(thread, ..)
                if thread == self.leader =>
            {
                self.is_gone = true;
                return Err("the player that is watched has ended".into());
            }
            _ => return Ok(true),
        };
        ptrace::cont(thread, signal)?;
        Ok(true)
    }

    /// Kills it, if it has not ended; what is wrong with it, which was to live until then. One is
    /// watched at a time.
    pub fn finish(&mut self) -> io::Result<Option<String>> {
        if !self.is_gone {
            self.end();
            self.is_gone = true;
        }
        let player = self.player.as_mut().expect("taken when this is dropped");
        let killed = ExitStatus::from_raw(rustix::process::Signal::KILL.as_raw());
        Ok(player.told(killed)?.wrong(Some(rustix::process::Signal::KILL)))
    }

    /// Kills it and waits for it: its threads are ours to wait for, and it does not go before them.
    fn end(&self) {
        // It may be ending by itself.
        let _ = kill(self.leader, Signal::SIGKILL);
        let ours = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        let is_end = |status: &WaitStatus| {
            use WaitStatus::{Exited, Signaled};
            matches!(status, Exited(thread, _) | Signaled(thread, ..) if *thread == self.leader)
        };
        while waitpid(Pid::from_raw(-1), Some(ours)).is_ok_and(|status| !is_end(&status)) {}
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // Who wants to know what is wrong with it has asked before.
        let _ = self.finish();
        if let Some(player) = self.player.take() {
            player.forget();
        }
    }
}

fn write(thread: Pid, register: usize, value: u64) -> Result<(), Stopped> {
    let at = without_provenance_mut(REGISTERS_AT + 8 * register);
    ptrace::write_user(thread, at, value as i64)
        .map_err(|error| Stopped::Lacking(format!("watchpoints: register {register}: {error}")))
}

fn read(thread: Pid, register: usize) -> Result<u64, Stopped> {
    let at = without_provenance_mut(REGISTERS_AT + 8 * register);
    Ok(ptrace::read_user(thread, at)? as u64)
}
