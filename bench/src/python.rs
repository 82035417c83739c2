//! The table `python`: calls made from Python, to a server in Rust, beside what else there is.
//!
//! ```text
//! this program ── orders ──▶ client.py      ◀── Null, Add, 64 MiB ──▶ a server in Rust
//!                                           ◀── Null ───────────────▶ server.py
//!              ── orders ──▶ grpc_client.py ◀── Null ───────────────▶ a server in Python
//! ```
//!
//! | case | subject | beside |
//! |---|---|---|
//! | `null`, `add` | `nearcall-python` | Nearcall from Rust |
//! | `null` | `nearcall-python` | `python-function`, which does nothing |
//! | `null` | `grpcio-uds` | `nearcall-python` |
//! | `posted-64`, `awaited`, `awaited-64`: by call | `nearcall-python` | its `null` |
//! | `awaited-64` | `nearcall-python` | `asyncio-64`: tasks that let the others go first, once |
//! | `tasks`, `tasks-64`: to procedures in a loop | `nearcall-python` | to those on threads |
//! | `64m`: NumPy's 64 MiB, `@opaque`; `64m-lent`: lent memory | `nearcall-python` | `numpy-copy` |
//!
//! Both clients are processes of their own on the processor that ours runs on, and sleep while
//! another calls.

mod environment;

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use nearcall::name::Scope;
use nearcall::{Clerk, Domain, ExportOptions};
use nearcall_os::processor;

use crate::calls::stubs::calls::{CallsClient, CallsEntries, MovesEntries, SeveralEntries};
use crate::calls::{self, Server};
use crate::child::{Child, Failure, Link};
use crate::lent::Mover;
use crate::outstanding;
use crate::rival::Rival;
use crate::rounds::{Statistic, Tally};
use crate::stage::{BATCH, Options, Stage};
use crate::statistics::{Plan, Samples};
use crate::table::{Case, Named, OURS, Table};

/// The table's name.
const NAME: &str = "python";

/// The role of the server that is called from Python.
pub const ROLE: &str = "python-server";

/// What is called from Python, as the table has it.
const SUBJECT: &str = "nearcall-python";

const GRPC: &str = "grpcio-uds";

/// A measurement of 64 MiB makes so many calls, each timed.
const LONG_CALLS: u32 = 5;

/// A measurement of grpcio does.
const GRPC_CALLS: u32 = 100;

/// A measurement of awaited calls does.
const AWAITED_CALLS: u32 = 50 * BATCH;

/// Who does something.
#[derive(Clone, Copy)]
enum Who {
    /// Our client in Rust: a Null, or an Add.
    Rust { is_add: bool },
    /// The client in Python: what it calls the case.
    Python(&'static str),
    /// grpcio's.
    Grpc,
}

/// Two that are measured beside each other.
struct Pair {
    case: &'static str,
    subject: (&'static str, Who),
    against: (&'static str, Who),
}

const PAIRS: [Pair; 12] = [
    Pair {
        case: "null",
        subject: (SUBJECT, Who::Python("null")),
        against: (OURS, Who::Rust { is_add: false }),
    },
    Pair {
        case: "add",
        subject: (SUBJECT, Who::Python("add")),
        against: (OURS, Who::Rust { is_add: true }),
    },
    Pair {
        case: "null",
        subject: (SUBJECT, Who::Python("null")),
        against: ("python-function", Who::Python("function")),
    },
    Pair { case: "null", subject: (GRPC, Who::Grpc), against: (SUBJECT, Who::Python("null")) },
    python_beside_null("posted-64"),
    python_beside_null("awaited"),
    python_beside_null("awaited-64"),
    Pair {
        case: "awaited-64",
        subject: (SUBJECT, Who::Python("awaited-64")),
        against: ("asyncio-64", Who::Python("asyncio-64")),
    },
    served_by("tasks", "threads"),
    served_by("tasks-64", "threads-64"),
    Pair {
        case: "64m",
        subject: (SUBJECT, Who::Python("opaque")),
        against: ("numpy-copy", Who::Python("copy")),
    },
    Pair {
        case: "64m-lent",
        subject: (SUBJECT, Who::Python("lent")),
        against: ("numpy-copy", Who::Python("copy")),
    },
];

/// Null made in another way, beside a plain one.
const fn python_beside_null(case: &'static str) -> Pair {
    Pair { case, subject: (SUBJECT, Who::Python(case)), against: (SUBJECT, Who::Python("null")) }
}

/// A case of a server in Python, beside one of another kind of server there.
const fn served_by(case: &'static str, against: &'static str) -> Pair {
    Pair { case, subject: (SUBJECT, Who::Python(case)), against: (against, Who::Python(against)) }
}

/// Everybody, on a stage.
struct Bout<'s> {
    stage: &'s Stage,
    rust: CallsClient,
    /// Or what the machine lacks for one.
    python: Result<Rival, String>,
    /// Or why there is none, or none any more.
    grpc: Result<Rival, String>,
    tallies: [Tally; PAIRS.len()],
    /// Ends last, after the binding.
    _server: Child,
}

/// Measures the table. Who runs where: see `paper`. `made` is an environment with everything;
/// without it, one is made now.
pub fn measure(options: Options, made: Option<&Path>) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    // Before this thread, whose processors pip inherits, is bound to one of them.
    let (python, grpc) = environments(made)?;
    let (stages, missing) = options.stages()?;
    if let Some(why) = missing {
        PAIRS.iter().for_each(|pair| table.skip(pair.case, pair.subject.0, why));
    }
    let domain = Domain::new()?;
    let directory = tempfile::tempdir()?;
    for stage in &stages {
        let runtime = directory.path().join(stage.processors.to_string());
        let mut bout = Bout::start(stage, &domain, &runtime, (&python, &grpc))?;
        for _ in 0..options.rounds {
            bout.round()?;
        }
        bout.tell(&mut table);
    }
    Ok(table)
}

/// What the server's process does: it exports in a directory, from one processor, until the link
/// ends.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let [directory, processor] = arguments else {
        return Err("which directory, which processor?".into());
    };
    processor::pin(processor.parse()?)?;
    let domain = Domain::new()?;
    let options = || {
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(directory.into()));
        options
    };
    let _calls = Clerk::export_with(&domain, "calls", CallsEntries::new(Server), options())?;
    let _moves = Clerk::export_with(&domain, "moves", MovesEntries::new(Mover), options())?;
    let several = SeveralEntries::new(outstanding::Server);
    let _several = Clerk::export_with(&domain, "several", several, options())?;
    link.answer(0)?;
    while link.next()?.is_some() {
        link.answer(0)?;
    }
    Ok(())
}

/// An environment, or why there is none.
type Place = Result<PathBuf, String>;

/// Environments for the package and for grpcio, which are one.
fn environments(made: Option<&Path>) -> Result<(Place, Place), Failure> {
    let python = match made {
        Some(made) => Ok(made.to_owned()),
        None => environment::build().map_err(|error| of_ours(&*error))?,
    };
    let grpc = match (&python, made) {
        (Ok(python), None) => environment::add_grpc(python).map_err(|error| error.to_string()),
        _ => Ok(()),
    };
    Ok((python.clone(), grpc.and(python)))
}

/// Our client is not to fail.
fn of_ours(error: &dyn Error) -> Failure {
    format!("{SUBJECT}: {error}").into()
}

impl<'s> Bout<'s> {
    fn start(
        stage: &'s Stage,
        domain: &Domain,
        runtime: &Path,
        (python, grpc): (&Place, &Place),
    ) -> Result<Bout<'s>, Failure> {
        // Where a program looks that is told no directory.
        let names = runtime.join("nearcall");
        let server = calls::start(ROLE, &names, stage.there)?;
        let rust = calls::import(domain, &names)?;
        let rival = |environment: &PathBuf, program| {
            let mut command = environment::program(environment, program);
            let processors = [stage.here, stage.there].map(|processor| processor.to_string());
            command.args(processors).env("XDG_RUNTIME_DIR", runtime);
            let place = environment.display();
            Rival::begin(command).map_err(|error| format!("{place}: {error}"))
        };
        let python = match python {
            Ok(place) => Ok(rival(place, "client.py").map_err(|why| format!("{SUBJECT}: {why}"))?),
            Err(lack) => Err(lack.clone()),
        };
        let grpc = grpc.as_ref().map_err(String::clone);
        let grpc = grpc.and_then(|place| rival(place, "grpc_client.py"));
        Ok(Bout { stage, rust, python, grpc, tallies: Default::default(), _server: server })
    }

    /// Measures every pair once. A peer that fails is out; ours are not to fail.
    fn round(&mut self) -> Result<(), Failure> {
        for (index, Pair { subject, against, .. }) in PAIRS.iter().enumerate() {
            if self.lack(subject.1).or(self.lack(against.1)).is_some() {
                continue;
            }
            let (stage, plan) = (self.stage, plan(self.stage, subject.1));
            // The two of a pair are measured one after the other.
            let shared = std::cell::RefCell::new(&mut *self);
            let measure = |who: Who, plan| shared.borrow_mut().measured(who, plan);
            let other = if matches!(subject.1, Who::Grpc) { stage.plan_short() } else { plan };
            let round = stage.beside(|| measure(subject.1, plan), || measure(against.1, other));
            match round {
                Ok(round) => self.tallies[index].add(round),
                Err(_) if self.lack(subject.1).or(self.lack(against.1)).is_some() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Why somebody cannot go on.
    fn lack(&self, who: Who) -> Option<&String> {
        match who {
            Who::Rust { .. } => None,
            Who::Python(_) => self.python.as_ref().err(),
            Who::Grpc => self.grpc.as_ref().err(),
        }
    }

    fn measured(&mut self, who: Who, plan: Plan) -> Result<Samples, Failure> {
        match who {
            Who::Rust { is_add: false } => Ok(plan.time(|| self.rust.null())?),
            Who::Rust { is_add: true } => {
                let add =
                    || self.rust.add(black_box(2), black_box(3)).map(|sum| _ = black_box(sum));
                Ok(plan.time(add)?)
            }
            Who::Python(case) => {
                let python = self.python.as_mut().map_err(|lack| lack.clone())?;
                python.measure(case, plan).map_err(|error| of_ours(&*error))
            }
            Who::Grpc => {
                let grpc = self.grpc.as_mut().map_err(|why| why.clone())?;
                let measured = grpc.measure("null", plan);
                measured.inspect_err(|error| self.grpc = Err(error.to_string()))
            }
        }
    }

    fn tell(&self, table: &mut Table) {
        for (Pair { case, subject, against }, tally) in PAIRS.iter().zip(&self.tallies) {
            if let Some(why) = self.lack(subject.1).or(self.lack(against.1)) {
                let why = format!("{} processors: {why}", self.stage.processors);
                table.skip(case, subject.0, why);
                continue;
            }
            let case = Case::new(*case, self.stage, plan(self.stage, subject.1));
            let [subject, against] = [subject, against].map(|(name, who)| self.named(name, *who));
            table.tell(&case, &subject, &against, tally, Statistic::P50);
        }
    }

    fn named(&self, name: &str, who: Who) -> Named {
        let rival = match who {
            Who::Rust { .. } => return Named::ours(),
            Who::Python(_) => &self.python,
            Who::Grpc => &self.grpc,
        };
        let version = rival.as_ref().map_or("", Rival::version).to_owned();
        Named { name: name.to_owned(), version }
    }
}

/// How somebody is measured.
fn plan(stage: &Stage, who: Who) -> Plan {
    match who {
        Who::Python("opaque" | "lent") => Plan { warm_up: 2, ..stage.plan(LONG_CALLS, 1) },
        // As many at once as there are in a batch, also on one processor.
        Who::Python(
            "posted-64" | "awaited" | "awaited-64" | "asyncio-64" | "tasks" | "tasks-64",
        ) => stage.plan(AWAITED_CALLS, BATCH),
        Who::Grpc => stage.plan(GRPC_CALLS, 1),
        _ => stage.plan_short(),
    }
}
