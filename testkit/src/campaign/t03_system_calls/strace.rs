//! strace, attached to a player that waits to be told to go: what system calls it makes from there
//! on, and some of them disturbed.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use super::super::report::Stopped;

/// What a system call is made to do that a player makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Whoever makes it dies instead.
    Kill,
    /// It says this, and does nothing.
    Error(&'static str),
}

/// A system call that is disturbed, in each thread that makes as many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inject {
    /// Its name.
    pub call: &'static str,
    /// What it does instead.
    pub fault: Fault,
    /// The how many-th of a thread, from one.
    pub time: u32,
}

/// One that is attached.
#[derive(Debug)]
pub struct Strace {
    child: Child,
    /// What it says of itself, beside what it sees: who else was attached.
    _news: BufReader<ChildStderr>,
    output: NamedTempFile,
}

/// What one saw.
#[derive(Debug)]
pub struct Seen(String);

/// Longest that it may take to end once whom it watches has.
const END_TIMEOUT: Duration = Duration::from_secs(10);

impl fmt::Display for Inject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inject { call, fault, time } = self;
        match fault {
            Fault::Kill => write!(f, "inject={call}:signal=KILL:when={time}"),
            Fault::Error(error) => write!(f, "inject={call}:error={error}:when={time}"),
        }
    }
}

impl Strace {
    /// Disturbs what a process does from here on; with nothing to disturb it looks at all of it.
    ///
    /// # Errors: what strace says; where it may not, the row is skipped.
    pub fn attach(pid: u32, injects: &[Inject]) -> Result<Strace, Stopped> {
        let output = NamedTempFile::new()?;
        let mut command = Command::new("strace");
        command.args(["--follow-forks", "--attach", &pid.to_string(), "--output"]);
        command.arg(output.path());
        if !injects.is_empty() {
            let calls: Vec<_> = injects.iter().map(|inject| inject.call).collect();
            command.args(["-e", &format!("trace={}", calls.join(","))]);
        }
        command.args(injects.iter().flat_map(|inject| ["-e".to_owned(), inject.to_string()]));
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut news = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        news.read_line(&mut line)?;
        if line.trim_end().ends_with(" attached") {
            return Ok(Strace { child, _news: news, output });
        }
        news.read_to_string(&mut line)?;
        child.wait()?;
        match line.contains("Operation not permitted") {
            true => Err(Stopped::Lacking("the right to trace processes".to_owned())),
            false => Err(line.into()),
        }
    }

    /// What it saw until now, when whom it watches has ended.
    ///
    /// # Errors: it does not end.
    pub fn seen(mut self) -> io::Result<Seen> {
        let begin = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begin.elapsed() > END_TIMEOUT {
                return Err(io::Error::other(format!("strace did not end in {END_TIMEOUT:?}")));
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        Ok(Seen::of(&std::fs::read_to_string(self.output.path())?))
    }
}

impl Drop for Strace {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Seen {
    /// As a file of its says it.
    pub fn of(lines: &str) -> Seen {
        Seen(lines.to_owned())
    }

    /// Which calls were made, and how many of each by the thread that made the most.
    pub fn most(&self) -> BTreeMap<&str, u32> {
        let mut counts = BTreeMap::<_, u32>::new();
        for line in self.0.lines().map(Line::of).filter(|line| !line.is_resumed) {
            if let Some(call) = line.call {
                *counts.entry((call, line.thread)).or_default() += 1;
            }
        }
        let mut most = BTreeMap::<_, u32>::new();
        for ((call, _), count) in counts {
            let found = most.entry(call).or_default();
            *found = count.max(*found);
        }
        most
    }

    /// Whether a call was made that this was injected into.
    pub fn has_met(&self, inject: &Inject) -> bool {
        let mut lines = self.0.lines().map(Line::of);
        match inject.fault {
            Fault::Kill => {
                lines.any(|line| line.call.is_none() && line.rest == "+++ killed by SIGKILL +++")
            }
            Fault::Error(error) => lines.any(|line| {
                let returned = line.rest.rsplit_once(" = -1 ").map_or("", |(_, error)| error);
                line.call == Some(inject.call)
                    && returned.split(' ').next() == Some(error)
                    && returned.ends_with("(INJECTED)")
            }),
        }
    }
}

/// A line of what it saw.
struct Line<'l> {
    thread: &'l str,
    /// Which call it is about, if it is about one.
    call: Option<&'l str>,
    /// It tells the end of a call whose beginning another line has told.
    is_resumed: bool,
    rest: &'l str,
}

impl Line<'_> {
    fn of(line: &str) -> Line<'_> {
        let (thread, rest) = line.split_once(' ').unwrap_or_default();
        let rest = rest.trim_start();
        let resumed = rest.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>"));
        let begun = rest.split_once('(').filter(|(name, _)| is_name(name));
        let call = resumed.or(begun).map(|(name, _)| name);
        Line { thread, call, is_resumed: resumed.is_some(), rest }
    }
}

fn is_name(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEN: &str = "\
7 mmap(NULL, 4096) = 0x7f0000000000
7     futex(0x1, FUTEX_WAIT, 0, NULL <unfinished ...>
8 mmap(NULL, 8192) = -1 ENOMEM (Cannot allocate memory) (INJECTED)
8 mmap(NULL, 8192) = -1 EPERM (Operation not permitted)
7 <... futex resumed>) = -1 EINTR (Interrupted system call) (INJECTED)
8 --- SIGCHLD {si_signo=SIGCHLD} ---
8 +++ exited with 0 +++
";

    fn inject(call: &'static str, fault: Fault) -> Inject {
        Inject { call, fault, time: 1 }
    }

    #[test]
    fn calls_are_counted_for_the_thread_that_makes_the_most() {
        assert_eq!(Seen::of(SEEN).most(), BTreeMap::from([("futex", 1), ("mmap", 2)]));
    }

    #[test]
    fn an_error_is_met_only_where_it_was_injected() {
        let met = |call, error| Seen::of(SEEN).has_met(&inject(call, Fault::Error(error)));
        assert!(met("mmap", "ENOMEM"));
        assert!(met("futex", "EINTR"));
        assert!(!met("mmap", "EPERM"), "the kernel's own");
        assert!(!met("mmap", "EINTR"), "another call's");
        assert!(!met("epoll_wait", "EINTR"), "never made");
    }

    #[test]
    fn a_kill_is_met_only_where_somebody_dies_of_it() {
        let kill = inject("mmap", Fault::Kill);
        assert!(!Seen::of(SEEN).has_met(&kill));
        assert!(Seen::of(&format!("{SEEN}7 +++ killed by SIGKILL +++\n")).has_met(&kill));
    }
}
