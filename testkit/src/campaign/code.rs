//! The instructions of this program, and which of them a player executes.
//!
//! A breakpoint on every instruction costs one stop for each that is executed at all: whoever is
//! stopped there has it removed and goes on. So one run of a few tenths of a second says all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::breakpoint::{BREAKPOINT, STANDS_BEHIND, next_instruction};
use super::player::{Player, program_base};
use super::report::Stopped;

/// Where each instruction of this program begins: offsets from where it is loaded.
pub fn instructions() -> Result<Vec<u64>, Stopped> {
    let program = std::env::current_exe()?;
    let mut command = Command::new("objdump");
    command.args(["--disassemble", "--no-show-raw-insn", "--section=.text"]).arg(program);
    let Ok(output) = command.stderr(Stdio::null()).output() else {
        return Err(Stopped::Lacking("objdump".to_owned()));
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let address = |line: &str| u64::from_str_radix(line.split_once(":\t")?.0.trim(), 16).ok();
    let found: Vec<_> = text.lines().filter_map(address).collect();
    match found.is_empty() {
        true => Err("objdump finds no instruction".into()),
        false => Ok(found),
    }
}

/// The lines of source that instructions come from, of the crates that a call runs through: by
/// name, the first instruction of each.
pub fn lines_of(offsets: &[u64]) -> Result<BTreeMap<String, u64>, Stopped> {
    let program = std::env::current_exe()?;
    let list = tempfile::NamedTempFile::new()?;
    let text: String = offsets.iter().map(|offset| format!("{offset:#x}\n")).collect();
    std::fs::write(list.path(), text)?;
    let mut command = Command::new("addr2line");
    command.arg("--exe").arg(program).stdin(std::fs::File::open(list.path())?);
    let Ok(output) = command.output() else {
        return Err(Stopped::Lacking("addr2line".to_owned()));
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let mut lines = BTreeMap::new();
    for (line, offset) in said.lines().zip(offsets) {
        let line = line.split(" (").next().unwrap_or(line);
        let ours = ["/crates/core/src/", "/crates/os/src/", "/crates/nearcall/src/"];
        if let Some(at) = ours.iter().find_map(|crate_at| line.find(crate_at)) {
            lines.entry(line[at + "/crates/".len()..].to_owned()).or_insert(*offset);
        }
    }
    Ok(lines)
}

/// Which instructions a player executes from here to its end; `driver` has it do what it is to do,
/// on another thread.
pub fn executed(
    player: &Player,
    instructions: &[u64],
    driver: impl FnOnce() + Send,
) -> Result<Vec<u64>, Stopped> {
    let leader = player.pid();
    let options = Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_EXITKILL;
    for task in std::fs::read_dir(format!("/proc/{leader}/task"))? {
        let thread = task?.file_name().to_string_lossy().parse()?;
        match ptrace::seize(Pid::from_raw(thread), options) {
            Err(error @ (Errno::EPERM | Errno::ENOSYS)) => {
                return Err(Stopped::Lacking(format!("the right to trace a process: {error}")));
            }
            seized => seized?,
        }
    }
    let mut text = Text::breakpoints(leader, instructions)?;
    std::thread::scope(|threads| {
        threads.spawn(driver);
        text.follow(leader)
    })?;
    Ok(text.executed.into_iter().collect())
}

/// The text of a player, full of breakpoints.
struct Text {
    memory: std::fs::File,
    base: u64,
    /// Offset of its first byte.
    first: u64,
    /// As it was.
    bytes: Vec<u8>,
    planted: BTreeSet<u64>,
    executed: BTreeSet<u64>,
}

impl Text {
    fn breakpoints(pid: u32, instructions: &[u64]) -> io::Result<Text> {
        let path = format!("/proc/{pid}/mem");
        let memory = OpenOptions::new().read(true).write(true).open(path)?;
        let base = program_base(pid)?;
        let (first, last) = (instructions[0], instructions[instructions.len() - 1]);
        let mut bytes = vec![0; (last - first) as usize + BREAKPOINT.len()];
        memory.read_exact_at(&mut bytes, base + first)?;
        let mut broken = bytes.clone();
        for offset in instructions {
            let at = (offset - first) as usize;
            broken[at..at + BREAKPOINT.len()].copy_from_slice(&BREAKPOINT);
        }
        memory.write_all_at(&broken, base + first)?;
        let planted = instructions.iter().copied().collect();
        Ok(Text { memory, base, first, bytes, planted, executed: BTreeSet::new() })
    }

    /// Removes breakpoints as threads run into them, until the process has ended.
    fn follow(&mut self, leader: u32) -> Result<(), Stopped> {
        let ours = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        loop {
            match waitpid(Pid::from_raw(-1), Some(ours)) {
                Ok(WaitStatus::Stopped(thread, Signal::SIGTRAP)) => self.step_over(thread)?,
                Ok(WaitStatus::Stopped(thread, signal)) => go_on(thread, Some(signal))?,
                Ok(WaitStatus::PtraceEvent(thread, ..)) => go_on(thread, None)?,
                Ok(WaitStatus::Exited(thread, _) | WaitStatus::Signaled(thread, ..))
                    if thread.as_raw() == leader as i32 =>
                {
                    return Ok(());
                }
                Ok(_) => {}
                Err(Errno::ECHILD) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn step_over(&mut self, thread: Pid) -> Result<(), Stopped> {
        let mut registers = match ptrace::getregs(thread) {
            // Its process ends just now.
            Err(Errno::ESRCH) => return Ok(()),
            registers => registers?,
        };
        let instruction = *next_instruction(&mut registers) - STANDS_BEHIND;
        let offset = instruction.wrapping_sub(self.base);
        if self.planted.contains(&offset) {
            if self.executed.insert(offset) {
                let bytes = &self.bytes[(offset - self.first) as usize..][..BREAKPOINT.len()];
                self.memory.write_all_at(bytes, instruction)?;
            }
            *next_instruction(&mut registers) = instruction;
            match ptrace::setregs(thread, registers) {
                Err(Errno::ESRCH) => return Ok(()),
                set => set?,
            }
        }
        go_on(thread, None)
    }
}

/// Lets a thread go on that may have been killed meanwhile.
fn go_on(thread: Pid, signal: Option<Signal>) -> Result<(), Stopped> {
    match ptrace::cont(thread, signal) {
        Err(Errno::ESRCH) => Ok(()),
        other => Ok(other?),
    }
}
