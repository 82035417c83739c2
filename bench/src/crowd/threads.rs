//! One crowd, in a process of its own: threads that begin, wait, are measured while they do, and
//! are woken, a few times over.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use nearcall::Domain;
use nearcall_os::clock;
use nearcall_threads::{Condition, Mutex, Setup, fork, stack_end, yield_now};
use rustix::process::{Pid, Signal, kill_process};

use super::memory::{Memory, touched_bytes};
use crate::calls::imported;
use crate::calls::stubs::calls::{SEVERAL, SeveralClient};
use crate::child::{Child, Failure, Link};

/// The role.
pub const ROLE: &str = "crowd";

/// Bytes of each stack: what FastThreads have unless something else is asked for.
const STACK_BYTES: usize = 192 << 10;

/// How often the crowd is woken.
const TIMES: usize = 5;

/// Words of an answer before its times.
const WORDS: usize = 3;

/// What a crowd's process says.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Of all threads together, beyond what they have touched of their stacks; page tables too.
    pub beyond_bytes: u64,
    /// Of that the page tables.
    pub tables_bytes: u64,
    /// What they have touched of their stacks.
    pub stack_bytes: u64,
    /// How long each wake of all has taken.
    pub wakes_ns: Vec<u64>,
}

/// What the threads wait for, and how it is let come.
enum Wait {
    Signal { gate: Mutex<()>, opens: Condition },
    Reply { client: SeveralClient, server: Pid },
}

/// What they do together. All counts are of one kernel thread's.
struct Crowd {
    wait: Wait,
    count: u32,
    begun: AtomicU32,
    ended: AtomicU32,
    /// Where their stacks end.
    places: Vec<AtomicUsize>,
    all: (Mutex<()>, Condition),
}

impl Answer {
    /// Asks a crowd's process, for so many threads.
    pub fn of(child: &Child, count: u32) -> Result<Answer, Failure> {
        child.link().tell(&[count.into()])?;
        let said = child.link().next()?.ok_or("the crowd has ended")?;
        let wakes_ns = said[WORDS..].to_vec();
        let [beyond_bytes, tables_bytes, stack_bytes, ..] = said;
        Ok(Answer { beyond_bytes, tables_bytes, stack_bytes, wakes_ns })
    }
}

/// What its process does: asked for a number of threads, has as many of them wait.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let domain = Domain::new()?;
    let wait = match arguments {
        [directory, server] => Wait::Reply {
            client: SeveralClient::new(imported(&domain, Path::new(directory), &SEVERAL)?),
            server: Pid::from_raw(server.parse()?).ok_or("no process has that number")?,
        },
        _ => Wait::Signal { gate: Mutex::new(()), opens: Condition::new() },
    };
    link.answer(0)?;
    let Some([count, ..]) = link.next()? else { return Ok(()) };
    let count = u32::try_from(count)?;
    let crowd = Arc::new(Crowd {
        wait,
        count,
        begun: AtomicU32::new(0),
        ended: AtomicU32::new(0),
        // Touched now, so that they are not counted for the threads.
        places: (0..count).map(|_| AtomicUsize::new(1)).collect(),
        all: (Mutex::new(()), Condition::new()),
    });
    let outcome = Setup::default().stack_bytes(STACK_BYTES).run(move || {
        // A failure says why; others cannot leave the kernel thread.
        crowd.measure().map_err(|error| error.to_string())
    });
    let answer = outcome??;
    let mut words = vec![answer.beyond_bytes, answer.tables_bytes, answer.stack_bytes];
    words.extend(answer.wakes_ns);
    link.tell(&words)?;
    while link.next()?.is_some() {}
    Ok(())
}

impl Crowd {
    fn measure(self: Arc<Crowd>) -> Result<Answer, Failure> {
        let mut answer = Answer::default();
        let before = Memory::now()?;
        for time in 0..TIMES {
            self.gather()?;
            if time == 0 {
                let now = Memory::now()?;
                answer.stack_bytes = self.stack_bytes()?;
                answer.tables_bytes = now.tables_bytes.saturating_sub(before.tables_bytes);
                let resident_bytes = now.resident_bytes.saturating_sub(before.resident_bytes);
                answer.beyond_bytes =
                    (resident_bytes + answer.tables_bytes).saturating_sub(answer.stack_bytes);
            }
            let begin_ns = clock::now_ns();
            self.wake()?;
            answer.wakes_ns.push(clock::now_ns() - begin_ns);
        }
        Ok(answer)
    }

    /// Has all threads begin and wait.
    fn gather(self: &Arc<Crowd>) -> Result<(), Failure> {
        if let Wait::Reply { server, .. } = self.wait {
            stop(server)?;
        }
        self.begun.store(0, Relaxed);
        self.ended.store(0, Relaxed);
        for _ in 0..self.count {
            let theirs = Arc::clone(self);
            drop(fork(move || theirs.wait())?);
        }
        while self.begun.load(Relaxed) < self.count {
            yield_now();
        }
        // The last one to begin waits, too.
        yield_now();
        match self.ended.load(Relaxed) {
            0 => Ok(()),
            ended => Err(format!("{ended} threads did not wait").into()),
        }
    }

    /// What one thread does.
    fn wait(&self) {
        let begun = self.begun.load(Relaxed);
        self.begun.store(begun + 1, Relaxed);
        let place = stack_end().expect("a FastThread has a stack");
        self.places[begun as usize].store(place, Relaxed);
        match &self.wait {
            Wait::Signal { gate, opens } => {
                drop(opens.wait(gate.lock().expect("nobody panics")));
            }
            Wait::Reply { client, .. } => client.null().expect("its server goes on"),
        }
        let ended = self.ended.load(Relaxed) + 1;
        self.ended.store(ended, Relaxed);
        if ended == self.count {
            self.all.1.signal();
        }
    }

    /// Lets come what they wait for, and waits until all of them have ended.
    fn wake(&self) -> Result<(), Failure> {
        let guard = self.all.0.lock().expect("nobody panics");
        match &self.wait {
            Wait::Signal { opens, .. } => opens.broadcast(),
            Wait::Reply { server, .. } => kill_process(*server, Signal::CONT)?,
        }
        drop(self.all.1.wait_while(guard, |()| self.ended.load(Relaxed) < self.count));
        Ok(())
    }

    fn stack_bytes(&self) -> Result<u64, Failure> {
        let places: Vec<usize> = self.places.iter().map(|place| place.load(Relaxed)).collect();
        touched_bytes(&places, STACK_BYTES)
    }
}

/// Stops a process, and waits until it stands. `testkit` has the same for tests; it is not built
/// for this program, as it brings forty crates.
fn stop(process: Pid) -> Result<(), Failure> {
    kill_process(process, Signal::STOP)?;
    let tasks = format!("/proc/{}/task", process.as_raw_nonzero());
    while !stand(Path::new(&tasks))? {
        std::thread::yield_now();
    }
    Ok(())
}

/// Have all threads of a process stopped? One that has ended meanwhile does not matter.
fn stand(tasks: &Path) -> Result<bool, Failure> {
    for task in fs::read_dir(tasks)? {
        let text = fs::read_to_string(task?.path().join("stat")).unwrap_or_default();
        // Behind the name, which is in brackets.
        let state = text.rsplit_once(") ").map(|(_, rest)| rest);
        if state.is_some_and(|state| !state.starts_with('T')) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_stands_when_its_last_thread_does() {
        let tasks = tempfile::tempdir().unwrap();
        let state = |task: &str, state: char| {
            let task = tasks.path().join(task);
            fs::create_dir_all(&task).unwrap();
            fs::write(task.join("stat"), format!("7 (a) b) {state} 1 7")).unwrap();
        };
        state("7", 'T');
        state("8", 'R');
        assert!(!stand(tasks.path()).unwrap());
        state("8", 'T');
        assert!(stand(tasks.path()).unwrap());
    }
}
