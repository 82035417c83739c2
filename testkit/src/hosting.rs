//! A server whose procedures run on E-stacks, and a process of its own for it.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use nearcall::name::Scope;
use nearcall::{
    Binding, Clerk, CurrentCall, Domain, DomainOptions, ExportError, ExportOptions, ImportOptions,
    Items, current_call,
};
use nearcall_threads::{Mutex, Semaphore, fork, is_fastthread, sleep, yield_now};

use crate::confined;
use crate::estacks::estacks::{GUESTS, GuestsClient, GuestsEntries, GuestsServer, Node};

/// What is told of a thread that waits within a call, in the place of a time.
pub const AT_THE_GATE: i64 = -2;

/// Longer than any test waits.
const LONG: Duration = Duration::from_secs(600);

thread_local! {
    /// How many wait at the gate, or sleep, on this processor.
    static WAITING_HERE: Cell<u32> = const { Cell::new(0) };
}

/// Serves `Guests`.
#[derive(Debug)]
struct Host {
    domain: Domain,
    directory: PathBuf,
    gate: Arc<Semaphore>,
    waiting: AtomicU32,
    most_waiting: AtomicU32,
    count: Mutex<u32>,
    outwaited: AtomicU32,
    next: Arc<OnceLock<GuestsClient>>,
    told_within: Arc<std::sync::Mutex<Vec<i64>>>,
    first_within: OnceLock<CurrentCall>,
}

/// A process that serves `Guests` until its standard input ends.
#[derive(Debug)]
pub struct HostProcess {
    child: Child,
    output: BufReader<ChildStdout>,
}

/// A client of what is exported as `name` in the scope of `directory`.
pub fn import(domain: &Domain, directory: &Path, name: &str) -> GuestsClient {
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![Scope::Directory(directory.to_owned())]);
    let binding = Binding::import_with(domain, name, &GUESTS, options);
    GuestsClient::new(binding.expect("it is exported"))
}

/// Exports `Guests` of `domain` as `name`.
pub fn export(domain: &Domain, directory: &Path, name: &str) -> Result<Clerk, ExportError> {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    options.runs_on_estacks = true;
    let host = Host {
        domain: domain.clone(),
        directory: directory.to_owned(),
        gate: Arc::new(Semaphore::new(0)),
        waiting: AtomicU32::new(0),
        most_waiting: AtomicU32::new(0),
        count: Mutex::new(0),
        outwaited: AtomicU32::new(0),
        next: Arc::default(),
        told_within: Arc::default(),
        first_within: OnceLock::new(),
    };
    Clerk::export_with(domain, name, GuestsEntries::new(host), options)
}

/// The program of such a process, with so many E-stacks a processor.
pub fn run(directory: &Path, name: &str, estacks_max: u32) {
    let mut options = DomainOptions::default();
    options.estacks_max = estacks_max;
    let domain = Domain::with_options(options).expect("a domain");
    let clerk = export(&domain, directory, name).expect("an export");
    println!("exported");
    std::io::stdin().read_to_end(&mut Vec::new()).expect("standard input");
    drop(clerk);
    domain.shut_down();
}

impl HostProcess {
    /// Starts one with the program `testkit-estacks`, and waits until it has exported.
    pub fn start(program: &str, directory: &Path, name: &str, estacks_max: u32) -> HostProcess {
        let mut child = Command::new(program)
            .arg(directory)
            .args([name, &estacks_max.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server's program");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut process = HostProcess { child, output };
        process.until_it_says("exported");
        assert!(confined::is_confined(process.pid()), "the server has not confined itself");
        process
    }

    /// Waits for the next line that it says, which is this one.
    pub fn until_it_says(&mut self, wanted: &str) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line of the server's");
        assert_eq!(line.trim_end(), wanted, "the server's next line");
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Has it shut down.
    pub fn begin_to_end(&mut self) {
        let input = self.child.stdin.take();
        drop(input.map(|mut input| input.flush()));
    }

    /// Waits until it has ended: how, and what it said about errors.
    pub fn wait(&mut self) -> (ExitStatus, String) {
        let status = confined::wait(&mut self.child);
        let mut said = String::new();
        let errors = self.child.stderr.as_mut().expect("piped");
        errors.read_to_string(&mut said).expect("the server's errors");
        (status, said)
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        confined::kill(&mut self.child);
    }
}

fn kernel_thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

/// Nanoseconds that the client of the caller's call still waits; -1: as long as it takes.
fn time_left_ns() -> i64 {
    let call = current_call().expect("this is a procedure");
    call.time_left().map_or(-1, |left| left.as_nanos() as i64)
}

/// Needs a frame for each level.
fn deep(levels: u64) -> u64 {
    let frame = std::hint::black_box([levels; 64]);
    if levels == 0 { 0 } else { deep(levels - 1) + frame[0] }
}

impl Host {
    /// Waits, and counts that it does.
    fn counting(&self, wait: impl FnOnce()) {
        // SeqCst, here and below: the tests compare what several threads counted.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        // A procedure goes on where it began.
        WAITING_HERE.set(WAITING_HERE.get() + 1);
        // SeqCst: as above.
        self.most_waiting.fetch_max(WAITING_HERE.get(), Ordering::SeqCst);
        wait();
        WAITING_HERE.set(WAITING_HERE.get() - 1);
        // SeqCst: as above.
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

impl GuestsServer for Host {
    fn null(&self) {}

    fn add(&self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    fn kernel_thread(&self) -> (u32, bool) {
        (kernel_thread(), is_fastthread())
    }

    fn leaf_kernel_thread(&self) -> (u32, bool) {
        (kernel_thread(), is_fastthread())
    }

    fn pass(&self) -> u32 {
        self.counting(|| self.gate.acquire());
        kernel_thread()
    }

    fn passing(&self, ahead: u32) -> Items<u32> {
        let gate = Arc::clone(&self.gate);
        Box::new((0..).map_while(move |number| {
            let call = current_call().expect("a batch is a call");
            while number >= ahead && !gate.acquire_timeout(Duration::from_millis(10)) {
                if call.is_cancelled() {
                    return None;
                }
            }
            Some(number)
        }))
    }

    fn have(&self, file: OwnedFd) {
        drop(file);
    }

    fn open(&self, count: u32) {
        (0..count).for_each(|_| self.gate.release());
    }

    fn waiting(&self) -> u32 {
        // SeqCst: as above.
        self.waiting.load(Ordering::SeqCst)
    }

    fn most_waiting(&self) -> u32 {
        // SeqCst: as above.
        self.most_waiting.load(Ordering::SeqCst)
    }

    fn count_slowly(&self) -> u32 {
        let mut count = self.count.lock().expect("nobody panics with it");
        let before = *count;
        sleep(Duration::from_millis(1));
        *count = before + 1;
        *count
    }

    fn later(&self, number: u32, milliseconds: u32) -> u32 {
        self.counting(|| sleep(Duration::from_millis(milliseconds.into())));
        number
    }

    fn connect(&self, next: &str) {
        let client = import(&self.domain, &self.directory, next);
        assert!(self.next.set(client).is_ok(), "it is connected once");
    }

    fn relay(&self) -> u32 {
        self.next.get().expect("it is connected").pass().unwrap_or(0)
    }

    fn panic_later(&self) {
        yield_now();
        panic!("on purpose");
    }

    fn outwait(&self) -> bool {
        let call = current_call().expect("this is a procedure");
        // SeqCst: as above.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let begin = Instant::now();
        while !call.is_cancelled() {
            if begin.elapsed() > LONG {
                return false;
            }
            sleep(Duration::from_millis(1));
        }
        // SeqCst: as above.
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        let again = current_call().expect("its binding is known although it may have gone");
        // SeqCst: as above.
        self.outwaited.fetch_add(again.is_cancelled().into(), Ordering::SeqCst);
        true
    }

    fn outwaited(&self) -> u32 {
        // SeqCst: as above.
        self.outwaited.load(Ordering::SeqCst)
    }

    fn last(&self) -> bool {
        let call = current_call().expect("this is a procedure");
        self.counting(|| {
            while !call.is_ending() && !call.is_cancelled() {
                sleep(Duration::from_millis(1));
            }
        });
        call.is_ending()
    }

    fn time_left(&self) -> i64 {
        sleep(Duration::from_millis(5));
        time_left_ns()
    }

    fn leaf_time_left(&self) -> i64 {
        time_left_ns()
    }

    fn ask_within(&self) {
        let call = current_call().expect("this is a procedure");
        self.first_within.get_or_init(|| call.clone());
        let (gate, next) = (Arc::clone(&self.gate), Arc::clone(&self.next));
        let told_within = Arc::clone(&self.told_within);
        let ask = move || {
            call.within(|| {
                told_within.lock().expect("nobody panics with it").push(AT_THE_GATE);
                gate.acquire();
                let told = next.get().expect("it is connected").leaf_time_left();
                let mut all = told_within.lock().expect("nobody panics with it");
                all.push(told.expect("the next server answers in time"));
            });
        };
        drop(fork(ask).expect("there is room for a thread"));
    }

    fn ask_within_first(&self) -> i64 {
        let first = self.first_within.get().expect("one has asked");
        first.within(|| {
            yield_now();
            let told = self.next.get().expect("it is connected").leaf_time_left();
            told.expect("the next server answers in time")
        })
    }

    fn told_within(&self) -> Vec<i64> {
        self.told_within.lock().expect("nobody panics with it").clone()
    }

    fn compute(&self, milliseconds: u32) -> u32 {
        let end = Instant::now() + Duration::from_millis(milliseconds.into());
        while Instant::now() < end {
            std::hint::spin_loop();
        }
        kernel_thread()
    }

    fn doze(&self, milliseconds: u32) {
        println!("dozes");
        // The kernel's way, so that no other FastThread runs.
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
    }

    fn depth(&self, node: &Node) -> u32 {
        std::iter::successors(Some(node), |node| node.kids.first()).count() as u32
    }

    fn overflow(&self) {
        deep(u64::MAX);
    }
}
