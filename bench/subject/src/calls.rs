//! The interface that is measured: its stubs, compiled from `calls.idl`, its server, and one client
//! in a process of its own.

use std::hint::black_box;
use std::path::Path;

use nearcall::name::Scope;
use nearcall::raw::Entries;
use nearcall::{
    Binding, CallError, Clerk, Domain, DomainOptions, ExportOptions, ImportOptions,
    InterfaceDescriptor,
};
use nearcall_os::processor;
use rustix::time::{ClockId, clock_gettime};

use crate::child::{Child, Failure, Link};
use crate::statistics::{Plan, Samples};

use stubs::calls::{Big, CALLS, CallsClient, CallsEntries, CallsServer};

/// What the compiler made of `calls.idl`.
pub mod stubs {
    include!(concat!(env!("OUT_DIR"), "/calls.rs"));
}

/// The server's role.
pub const ROLE: &str = "server";

/// What is exported.
const NAME: &str = "calls";

/// In the place of a processor's number.
const ANYWHERE: &str = "anywhere";

/// The calls of the table, shortest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Null,
    Add,
    BigIn,
    BigInOut,
    FourK,
    SixtyFourK,
    OneM,
}

/// The procedures do what their interface says, which is next to nothing.
#[derive(Debug)]
pub struct Server;

/// A server in a process of its own, and a binding to it.
pub struct Bound {
    client: CallsClient,
    arguments: Vec<u8>,
    /// Ends last, after the binding.
    server: Child,
}

impl Call {
    /// All of them, in the order of the table.
    pub const ALL: [Call; 7] = [
        Call::Null,
        Call::Add,
        Call::BigIn,
        Call::BigInOut,
        Call::FourK,
        Call::SixtyFourK,
        Call::OneM,
    ];

    /// The case's name.
    pub fn name(self) -> &'static str {
        match self {
            Call::Null => "null",
            Call::Add => "add",
            Call::BigIn => "bigin",
            Call::BigInOut => "biginout",
            Call::FourK => "4k",
            Call::SixtyFourK => "64k",
            Call::OneM => "1m",
        }
    }

    /// Bytes of its arguments and of its results.
    pub fn bytes(self) -> (usize, usize) {
        match self {
            Call::Null => (0, 0),
            Call::Add => (8, 4),
            Call::BigIn => (200, 0),
            Call::BigInOut => (200, 200),
            Call::FourK | Call::SixtyFourK | Call::OneM => (self.argument_bytes(), 0),
        }
    }

    /// Bytes of a sequence argument.
    fn argument_bytes(self) -> usize {
        match self {
            Call::Null | Call::Add | Call::BigIn | Call::BigInOut => 0,
            Call::FourK => 4 << 10,
            Call::SixtyFourK => 64 << 10,
            Call::OneM => 1 << 20,
        }
    }
}

impl CallsServer for Server {
    fn null(&self) {}

    fn add(&self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    fn big_in(&self, data: &Big) {
        black_box(data);
    }

    fn big_in_out(&self, data: &mut Big) {
        data[0] = data[0].wrapping_add(1);
    }

    fn four_k(&self, data: &[u8]) {
        black_box(data);
    }

    fn sixty_four_k(&self, data: &[u8]) {
        black_box(data);
    }

    fn bytes_in(&self, data: &[u8]) {
        black_box(data);
    }

    fn leaf(&self) {}

    fn numbers_in(&self, numbers: &[i32]) {
        black_box(numbers);
    }
}

/// Binds to what is exported in `directory`.
pub fn import(domain: &Domain, directory: &Path) -> Result<CallsClient, Failure> {
    Ok(CallsClient::new(imported(domain, directory, &CALLS)?))
}

/// The same for any interface.
pub fn imported(
    domain: &Domain,
    directory: &Path,
    interface: &'static InterfaceDescriptor,
) -> Result<Binding, Failure> {
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![Scope::Directory(directory.to_owned())]);
    Ok(Binding::import_with(domain, NAME, interface, options)?)
}

/// What the server's process does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    served(CallsEntries::new(Server), link, arguments)
}

/// Serves until the link ends; asked anything, says how much processor time the process has had.
pub fn served(entries: impl Entries, link: &Link, arguments: &[String]) -> Result<(), Failure> {
    serve_entries(entries, DomainOptions::default(), link, arguments, || {
        let used = clock_gettime(ClockId::ProcessCPUTime);
        (used.tv_sec * 1_000_000_000 + used.tv_nsec).cast_unsigned()
    })
}

/// Serves `server` until the link ends; whatever else is asked is answered with `answer`.
pub fn serve(
    server: impl CallsServer,
    options: DomainOptions,
    link: &Link,
    arguments: &[String],
    answer: impl Fn() -> u64,
) -> Result<(), Failure> {
    serve_entries(CallsEntries::new(server), options, link, arguments, answer)
}

/// Exports in a directory, from one processor alone or anywhere, until the link ends.
pub fn serve_entries(
    entries: impl Entries,
    domain_options: DomainOptions,
    link: &Link,
    arguments: &[String],
    answer: impl Fn() -> u64,
) -> Result<(), Failure> {
    let [directory, processors] = arguments else {
        return Err("which directory, which processors?".into());
    };
    if processors != ANYWHERE {
        let processors = processors.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?;
        // Before the domain is made: its threads inherit them.
        processor::allow(&processors)?;
    }
    let domain = Domain::with_options(domain_options)?;
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.into()));
    let _clerk = Clerk::export_with(&domain, NAME, entries, options)?;
    link.answer(0)?;
    while link.next()?.is_some() {
        link.answer(answer())?;
    }
    Ok(())
}

/// Starts a server in a process of its own, in one of the program's roles.
pub fn start(role: &str, directory: &Path, processor: u32) -> Result<Child, Failure> {
    start_on(role, directory, &[processor])
}

/// The same on any of these processors.
pub fn start_on(role: &str, directory: &Path, processors: &[u32]) -> Result<Child, Failure> {
    let directory = directory.to_str().ok_or("the directory has no name in Unicode")?;
    let processors: Vec<_> = processors.iter().map(u32::to_string).collect();
    Child::start(role, &[directory, &processors.join(",")], &[])
}

/// The same on every processor that the calling thread may run on.
pub fn start_anywhere(role: &str, directory: &Path) -> Result<Child, Failure> {
    let directory = directory.to_str().ok_or("the directory has no name in Unicode")?;
    Child::start(role, &[directory, ANYWHERE], &[])
}

impl Bound {
    /// Starts a server on processor `processor` that exports in `directory`, and binds to it.
    pub fn start(domain: &Domain, directory: &Path, processor: u32) -> Result<Bound, Failure> {
        Bound::start_on(domain, directory, &[processor])
    }

    /// The same on any of these processors.
    pub fn start_on(
        domain: &Domain,
        directory: &Path,
        processors: &[u32],
    ) -> Result<Bound, Failure> {
        let server = start_on(ROLE, directory, processors)?;
        let client = import(domain, directory)?;
        let bound = Bound { client, arguments: vec![7; 1 << 20], server };
        bound.check()?;
        Ok(bound)
    }

    /// Results are right before anybody asks how fast they come.
    fn check(&self) -> Result<(), Failure> {
        let sum = self.client.add(2, 3)?;
        let mut big = [7; 200];
        self.client.big_in_out(&mut big)?;
        let mut want = [7; 200];
        want[0] = 8;
        if sum == 5 && big == want { Ok(()) } else { Err("a call came back wrong".into()) }
    }

    /// Times calls with so many bytes in.
    pub fn measure_in(&self, octets: &[u8], plan: Plan) -> Result<Samples, CallError> {
        plan.time(|| self.client.bytes_in(black_box(octets)))
    }

    /// The client's side.
    pub fn client(&self) -> &CallsClient {
        &self.client
    }

    /// The server's process. Asked anything, it says how much processor time it has had, in
    /// nanoseconds.
    pub fn server(&self) -> &Child {
        &self.server
    }

    /// Times one of the calls.
    pub fn measure(&self, call: Call, plan: Plan) -> Result<Samples, CallError> {
        let client = &self.client;
        let mut big = [7; 200];
        let data = &self.arguments[..call.argument_bytes()];
        match call {
            Call::Null => plan.time(|| client.null()),
            Call::Add => plan.time(|| {
                let sum = client.add(black_box(2), black_box(3));
                sum.map(|sum| _ = black_box(sum))
            }),
            Call::BigIn => plan.time(|| client.big_in(black_box(&big))),
            Call::BigInOut => plan.time(|| client.big_in_out(black_box(&mut big))),
            Call::FourK => plan.time(|| client.four_k(black_box(data))),
            Call::SixtyFourK => plan.time(|| client.sixty_four_k(black_box(data))),
            Call::OneM => plan.time(|| client.bytes_in(black_box(data))),
        }
    }
}
