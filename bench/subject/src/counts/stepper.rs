//! A thread of another process, run one instruction at a time.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc::user_regs_struct;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::{Round, Steps, Stub, Unstepped};

/// Steps in which what is waited for must come: more than a watcher takes that goes its rounds
/// before it stays, and many times what anything else takes.
const STEPS_MAX: u32 = 40_000;

/// How long a thread is stepped at most: one that sleeps meanwhile is not where it is to be.
const STOPPED_MAX: Duration = Duration::from_secs(10);

/// How long the next call is waited for; the last one has none.
const POST_TIME_MAX: Duration = Duration::from_millis(50);

/// Bits of a turn word that are the phase, and the phases of a posted call.
const PHASE_MASK: u32 = 7;
const POSTED: Range<u32> = 2..4;

/// A thread that is stopped. It goes on when this is dropped.
pub struct Stepper {
    thread: Pid,
    memory: File,
    /// Where the program lies.
    program: Range<u64>,
    /// The head that a client's function was seen to look at.
    head: Option<u64>,
    since: Instant,
    is_stopped: bool,
}

impl Stepper {
    /// Stops thread `thread`.
    pub fn stop(thread: u64) -> Result<Stepper, Unstepped> {
        let thread = Pid::from_raw(i32::try_from(thread)?);
        match ptrace::seize(thread, Options::empty()) {
            Err(error @ (Errno::EPERM | Errno::ENOSYS)) => {
                let reason = format!("this system lets no process be stepped: {error}");
                return Err(Unstepped::Impossible(reason));
            }
            seized => seized?,
        }
        let memory = File::open(format!("/proc/{thread}/mem"))?;
        let program = program(thread)?;
        ptrace::interrupt(thread)?;
        let mut stepper = Stepper {
            thread,
            memory,
            program,
            head: None,
            since: Instant::now(),
            is_stopped: false,
        };
        stepper.wait()?;
        Ok(stepper)
    }

    /// Where a function lies of which the name ends so, as `nm` has it.
    pub fn function(&self, name: &str) -> Result<Range<u64>, Unstepped> {
        let program = std::env::current_exe()?;
        let output = Command::new("nm").args(["--demangle", "--print-size"]).arg(&program).output();
        let Ok(output) = output else {
            return Err(Unstepped::Impossible("nm is not installed".to_owned()));
        };
        let symbols = String::from_utf8_lossy(&output.stdout);
        let line = symbols.lines().find(|line| line.ends_with(name));
        let line = line.ok_or_else(|| format!("the program has no function {name}"))?;
        let mut words = line.split(' ').map(|word| u64::from_str_radix(word, 16));
        let (Some(Ok(start)), Some(Ok(bytes))) = (words.next(), words.next()) else {
            return Err(format!("nm says {line:?}").into());
        };
        Ok(self.program.start + start..self.program.start + start + bytes)
    }

    /// Steps until the thread is at `address`.
    pub fn step_to(&mut self, address: u64) -> Result<(), Unstepped> {
        for _ in 0..STEPS_MAX {
            if self.registers()?.rip == address {
                return Ok(());
            }
            self.step()?;
        }
        Err(Unstepped::Gone)
    }

    /// Steps to the next call of the stub at `address` and through it, its return included. The
    /// post is told from the second call on: only then is it known which head to watch.
    pub fn steps_of_stub(&mut self, address: u64) -> Result<Stub, Unstepped> {
        self.step_to(address)?;
        let entered = self.registers()?;
        let back = u64::from_ne_bytes(self.read(entered.rsp)?);
        let mut stub = Stub::default();
        let turn = self.head.map(|head| self.turn(head)).transpose()?;
        for _ in 0..STEPS_MAX {
            if let Some(head) = self.head_loaded(&self.registers()?)? {
                self.head = Some(head);
                stub.before_look = stub.steps.len();
            }
            self.step_into(&mut stub.steps)?;
            if let (0, Some(head), Some(turn)) = (stub.to_post, self.head, turn)
                && self.turn(head)? != turn
            {
                stub.to_post = stub.steps.len();
            }
            let registers = self.registers()?;
            if registers.rip == back && registers.rsp > entered.rsp {
                return Ok(stub);
            }
        }
        Err(Unstepped::Gone)
    }

    /// Steps until a call has been replied to that was seen by a look in `within`.
    pub fn steps_of_round(&mut self, within: &Range<u64>) -> Result<Round, Unstepped> {
        let mut round = Round::default();
        let mut look: Option<Look> = None;
        // Of the caller of the entry stub.
        let mut stack = None;
        for _ in 0..STEPS_MAX {
            let registers = self.registers()?;
            if let Some(head) = self.head_loaded(&registers)? {
                let turn = self.turn(head)?;
                let is_posted = POSTED.contains(&(turn & PHASE_MASK));
                let is_within = within.contains(&registers.rip);
                look = is_posted.then_some(Look { head, turn, is_within });
                (round.before_look, stack) = (round.steps.len(), None);
            }
            let is_entry = look.is_some() && stack.is_none() && self.is_at_call(&registers)?;
            self.step_into(&mut round.steps)?;
            if is_entry {
                (round.to_entry, stack) = (round.steps.len(), Some(registers.rsp));
            } else if round.to_exit < round.to_entry && stack == Some(self.registers()?.rsp) {
                round.to_exit = round.steps.len();
            }
            if let Some(look) = &look
                && self.turn(look.head)? != look.turn
            {
                self.await_post(look.head)?;
                return if look.is_within { Ok(round) } else { Err(Unstepped::Gone) };
            }
        }
        Err(Unstepped::Gone)
    }

    /// Leaves the thread where it is until the next call has been posted, so that its next look
    /// finds it.
    fn await_post(&self, head: u64) -> Result<(), Unstepped> {
        let until = Instant::now() + POST_TIME_MAX;
        while !POSTED.contains(&(self.turn(head)? & PHASE_MASK)) && Instant::now() < until {
            std::thread::yield_now();
        }
        Ok(())
    }

    /// The line that the instruction loads 16 bytes from that the thread is at: how a head is
    /// looked at (`movdqa xmm, [register]`).
    fn head_loaded(&self, registers: &user_regs_struct) -> Result<Option<u64>, Unstepped> {
        let code: [u8; 6] = self.read(registers.rip)?;
        let (extension, rest) = match code {
            [0x66, rex @ 0x40..=0x4f, rest @ ..] => (rex & 1, rest),
            [0x66, a, b, c, d, _] => (0, [a, b, c, d]),
            _ => return Ok(None),
        };
        let [0x0f, 0x6f, modes, _] = rest else {
            return Ok(None);
        };
        let (mode, register) = (modes >> 6, modes & 7 | extension << 3);
        // Neither a number relative to the code, nor a register to another register, nor scaled.
        if mode > 1 || modes & 7 == 4 && rest[3] & 0x3f != 0x24 || (mode == 0 && modes & 7 == 5) {
            return Ok(None);
        }
        let r = registers;
        let address = [
            r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11,
            r.r12, r.r13, r.r14, r.r15,
        ][usize::from(register)];
        Ok(address.is_multiple_of(64).then_some(address))
    }

    /// Whether the thread is at a call through a table, which is how the entry stub is called.
    fn is_at_call(&self, registers: &user_regs_struct) -> Result<bool, Unstepped> {
        let code: [u8; 3] = self.read(registers.rip)?;
        let code = if matches!(code[0], 0x40..=0x4f) { &code[1..] } else { &code[..2] };
        Ok(code[0] == 0xff && code[1] >> 3 & 7 == 2)
    }

    fn turn(&self, head: u64) -> Result<u32, Unstepped> {
        Ok(u32::from_ne_bytes(self.read(head)?))
    }

    fn read<const BYTES: usize>(&self, address: u64) -> Result<[u8; BYTES], Unstepped> {
        let mut bytes = [0; BYTES];
        self.memory.read_exact_at(&mut bytes, address)?;
        Ok(bytes)
    }

    fn registers(&self) -> Result<user_regs_struct, Unstepped> {
        Ok(ptrace::getregs(self.thread)?)
    }

    /// One step. An instruction that takes several of them (`rep movsb`) is noted once, and one of
    /// the C library not at all: which copy it has depends on the processor.
    fn step_into(&mut self, steps: &mut Steps) -> Result<(), Unstepped> {
        let before = self.registers()?.rip;
        self.step()?;
        if self.registers()?.rip != before && self.program.contains(&before) {
            steps.push(before - self.program.start);
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Unstepped> {
        if self.since.elapsed() > STOPPED_MAX {
            return Err(Unstepped::Gone);
        }
        self.is_stopped = false;
        ptrace::step(self.thread, None)?;
        self.wait()
    }

    fn wait(&mut self) -> Result<(), Unstepped> {
        loop {
            match waitpid(self.thread, Some(WaitPidFlag::__WALL))? {
                WaitStatus::Stopped(_, Signal::SIGTRAP) | WaitStatus::PtraceEvent(..) => {
                    self.is_stopped = true;
                    return Ok(());
                }
                // Somebody else's signal.
                WaitStatus::Stopped(_, signal) => ptrace::step(self.thread, signal)?,
                _ => return Err(Unstepped::Gone),
            }
        }
    }
}

impl Drop for Stepper {
    fn drop(&mut self) {
        if self.is_stopped {
            // It has ended, or it goes on.
            let _ = ptrace::detach(self.thread, None);
        }
    }
}

/// Where the program of this process lies in a child of it.
fn program(thread: Pid) -> Result<Range<u64>, Unstepped> {
    let program = std::env::current_exe()?;
    let maps = std::fs::read_to_string(format!("/proc/{thread}/maps"))?;
    let mut lines = maps.lines().filter(|line| line.ends_with(&*program.to_string_lossy()));
    let first = lines.next().ok_or("the program is not mapped")?;
    let last = lines.next_back().unwrap_or(first);
    let words = |line: &str| line.split(['-', ' ']).take(2).map(str::to_owned).collect::<Vec<_>>();
    let (first, last) = (words(first), words(last));
    Ok(u64::from_str_radix(&first[0], 16)?..u64::from_str_radix(&last[1], 16)?)
}

/// A look that found a posted call.
struct Look {
    head: u64,
    turn: u32,
    is_within: bool,
}
