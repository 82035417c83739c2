//! The table `stubs`: calls made from C and C++, each beside the same call made from Rust in
//! the same round, to servers that are alike; and what a parameter costs, beside a call without.
//!
//! The other language is the subject: its ratio says how many times longer it takes. Its client is
//! a process of its own on the processor that ours runs on, and sleeps while ours calls.
//!
//! | case | subject | beside |
//! |---|---|---|
//! | `null`, `add`, `biginout` | `nearcall-c`, `nearcall-cpp` | Nearcall from Rust |
//! | `posted-4`: a Null while 4 are under way | the same | the same |
//! | `loop`, `loop-4`: a Null that an event loop is told of, 4 under way | the same | a Null |
//! | `number`, `numbers`: 8 bytes, eight of 8 | Nearcall from Rust | `no-parameter` |
//! | `line`, `line-back`: 64 bytes, 64 there and back | the same | the same |
//!
//! Of the latter the difference is counted, too, for each parameter and side: half of what the
//! whole call takes more, the way of a second cache line included where 48 bytes are exceeded.

mod programs;

use std::error::Error;
use std::fmt::Display;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;

use nearcall::{CallError, Domain};

use crate::calls::stubs::calls::{Line, PARAMETERS, ParametersClient};
use crate::calls::stubs::calls::{ParametersEntries, ParametersServer};
use crate::calls::{self, Bound, Call, imported, served};
use crate::child::{Child, Failure, Link};
use crate::outstanding::always;
use crate::paper;
use crate::rival::Rival;
use crate::rounds::{Statistic, Tally};
use crate::stage::{Options, Stage};
use crate::statistics::{Plan, Samples, median};
use crate::table::{Case, Named, OURS, Table};

use programs::{LANGUAGES, Language};

/// The table's name.
const NAME: &str = "stubs";

/// The role of the server whose procedures have parameters.
pub const ROLE: &str = "parameters-server";

/// What parameters are compared with.
const NO_PARAMETER: &str = "no-parameter";

/// How many calls are under way, of five A-stacks; the clients know it, too.
const UNDER_WAY: usize = 4;

/// What is called from every language.
#[derive(Clone, Copy)]
enum Called {
    Alone(Call),
    UnderWay,
    /// By an event loop, so many at once.
    Loop(usize),
}

/// What is passed.
#[derive(Clone, Copy)]
enum Passed {
    Number,
    Numbers,
    Line,
    LineBack,
}

struct Server;

/// A language's client on a stage.
struct Bout<'s> {
    stage: &'s Stage,
    ours: &'s Bound,
    language: &'static Language,
    /// Or what the machine lacks for one.
    client: Result<Rival, String>,
    version: String,
    tallies: [Tally; Called::ALL.len()],
}

/// Calls with parameters on a stage.
struct Passing<'s> {
    stage: &'s Stage,
    client: ParametersClient,
    tallies: [Tally; Passed::ALL.len()],
    /// What a parameter costs a side, round by round.
    sides_ns: [Vec<f64>; Passed::ALL.len()],
    /// Ends last, after the binding.
    _server: Child,
}

/// Measures the table. Who runs where: see `paper`. `compiled` is a directory with the clients of
/// other languages; without it, they are compiled now.
pub fn measure(options: Options, compiled: Option<&Path>) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    let directory = tempfile::tempdir()?;
    // Before this thread, whose processors cargo inherits, is bound to one of them.
    let programs = LANGUAGES.iter().map(|language| match compiled {
        Some(compiled) => Ok(Ok(compiled.join(language.name))),
        None => language.build(directory.path()).map_err(|error| named(language.name, &*error)),
    });
    let programs = programs.collect::<Result<Vec<_>, Failure>>()?;
    let (stages, missing) = options.stages()?;
    if let Some(why) = missing {
        Called::ALL.into_iter().for_each(|called| table.skip(called.name(), OURS, why));
    }
    let domain = Domain::new()?;
    for stage in &stages {
        let runtime = directory.path().join(stage.processors.to_string());
        // Where a program looks that is told no directory.
        let ours = Bound::start(&domain, &runtime.join("nearcall"), stage.there)?;
        let languages = LANGUAGES.iter().zip(&programs);
        let bouts = languages
            .map(|(language, program)| Bout::start((stage, &ours), language, program, &runtime));
        let mut bouts = bouts.collect::<Result<Vec<_>, Failure>>()?;
        let mut passing = Passing::start(stage, &domain, &runtime.join("parameters"))?;
        for _ in 0..options.rounds {
            bouts.iter_mut().try_for_each(Bout::round)?;
            passing.round()?;
        }
        bouts.iter().for_each(|bout| bout.tell(&mut table));
        passing.tell(&mut table);
    }
    Ok(table)
}

/// Why there is nothing, and of whom.
fn named(whose: impl Display, error: &dyn Error) -> Failure {
    format!("{whose}: {error}").into()
}

/// What the server's process does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    served(ParametersEntries::new(Server), link, arguments)
}

impl<'s> Bout<'s> {
    fn start(
        (stage, ours): (&'s Stage, &'s Bound),
        language: &'static Language,
        program: &Result<PathBuf, String>,
        runtime: &Path,
    ) -> Result<Bout<'s>, Failure> {
        let client = match program {
            Ok(program) => {
                let mut command = Command::new(program);
                command.arg(stage.here.to_string()).env("XDG_RUNTIME_DIR", runtime);
                let begun = Rival::begin(command);
                Ok(begun.map_err(|error| named(program.display(), &*error))?)
            }
            Err(lack) => Err(lack.clone()),
        };
        let version = client.as_ref().map_or(String::new(), |client| client.version().to_owned());
        Ok(Bout { stage, ours, language, client, version, tallies: Default::default() })
    }

    /// Measures every call once. None of the two is to fail.
    fn round(&mut self) -> Result<(), Failure> {
        for (called, tally) in Called::ALL.into_iter().zip(&mut self.tallies) {
            let Ok(client) = &mut self.client else { return Ok(()) };
            let plan = called.plan(self.stage);
            let round = self.stage.beside(
                || {
                    let measured = client.measure(called.name(), plan);
                    measured.map_err(|error| named(self.language.name, &*error))
                },
                || Ok(called.measure(self.ours, plan)?),
            );
            tally.add(round?);
        }
        Ok(())
    }

    fn tell(&self, table: &mut Table) {
        let Bout { stage, language, version, .. } = self;
        for (called, tally) in Called::ALL.into_iter().zip(&self.tallies) {
            if let Err(why) = &self.client {
                let why = format!("{} processors: {why}", stage.processors);
                table.skip(called.name(), language.name, why);
                continue;
            }
            let case = Case::new(called.name(), stage, called.plan(stage));
            let named = Named { name: language.name.to_owned(), version: version.clone() };
            table.tell(&case, &named, &Named::ours(), tally, Statistic::P50);
        }
    }
}

impl Called {
    const ALL: [Called; 6] = [
        Called::Alone(Call::Null),
        Called::Alone(Call::Add),
        Called::Alone(Call::BigInOut),
        Called::UnderWay,
        Called::Loop(1),
        Called::Loop(UNDER_WAY),
    ];

    fn name(self) -> &'static str {
        match self {
            Called::Alone(call) => call.name(),
            Called::UnderWay => "posted-4",
            Called::Loop(1) => "loop",
            Called::Loop(_) => "loop-4",
        }
    }

    fn plan(self, stage: &Stage) -> Plan {
        match self {
            Called::Alone(call) => paper::plan(stage, call),
            Called::UnderWay | Called::Loop(_) => stage.plan_short(),
        }
    }

    fn measure(self, ours: &Bound, plan: Plan) -> Result<Samples, CallError> {
        match self {
            Called::Alone(call) => ours.measure(call, plan),
            Called::Loop(_) => ours.measure(Call::Null, plan),
            Called::UnderWay => {
                let posting = ours.client().posting();
                always(UNDER_WAY, plan, || posting.null())
            }
        }
    }
}

impl<'s> Passing<'s> {
    fn start(stage: &'s Stage, domain: &Domain, place: &Path) -> Result<Passing<'s>, Failure> {
        let server = calls::start(ROLE, place, stage.there)?;
        let client = ParametersClient::new(imported(domain, place, &PARAMETERS)?);
        let (tallies, sides_ns) = Default::default();
        Ok(Passing { stage, client, tallies, sides_ns, _server: server })
    }

    fn round(&mut self) -> Result<(), Failure> {
        let Passing { stage, client, tallies, sides_ns, .. } = self;
        let plan = stage.plan_short();
        for (index, passed) in Passed::ALL.into_iter().enumerate() {
            let (mut with_ns, mut without_ns) = (0.0, Vec::new());
            let round = stage.beside(
                || {
                    let samples = passed.measure(client, plan)?;
                    with_ns = samples.p50_ns();
                    Ok(samples)
                },
                || {
                    let samples = plan.time(|| client.none())?;
                    without_ns.push(samples.p50_ns());
                    Ok(samples)
                },
            )?;
            if round.is_some() {
                let more_ns = with_ns - median(&without_ns);
                sides_ns[index].push(more_ns / f64::from(2 * passed.count()));
            }
            tallies[index].add(round);
        }
        Ok(())
    }

    fn tell(&self, table: &mut Table) {
        let against = Named::bound(NO_PARAMETER);
        let plan = self.stage.plan_short();
        let measured = self.tallies.iter().zip(&self.sides_ns);
        for (passed, (tally, sides_ns)) in Passed::ALL.into_iter().zip(measured) {
            let case = Case::new(passed.name(), self.stage, plan);
            table.tell(&case, &Named::ours(), &against, tally, Statistic::P50);
            if !sides_ns.is_empty() {
                let case = format!("{}-{}", passed.name(), self.stage.processors);
                let side_ns = (median(sides_ns) * 10.0).round() / 10.0;
                table.count(&case, &Named::ours(), "ns a side", side_ns);
            }
        }
    }
}

impl Passed {
    const ALL: [Passed; 4] = [Passed::Number, Passed::Numbers, Passed::Line, Passed::LineBack];

    fn name(self) -> &'static str {
        match self {
            Passed::Number => "number",
            Passed::Numbers => "numbers",
            Passed::Line => "line",
            Passed::LineBack => "line-back",
        }
    }

    /// How many parameters; what comes back is one more.
    fn count(self) -> u32 {
        match self {
            Passed::Number | Passed::Line => 1,
            Passed::LineBack => 2,
            Passed::Numbers => 8,
        }
    }

    fn measure(self, client: &ParametersClient, plan: Plan) -> Result<Samples, CallError> {
        let mut line: Line = [7; 64];
        let [a, b, c, d, e, f, g, h] = black_box([1, 2, 3, 4, 5, 6, 7, 8]);
        match self {
            Passed::Number => plan.time(|| client.number(black_box(a))),
            Passed::Numbers => plan.time(|| client.numbers(a, b, c, d, e, f, g, black_box(h))),
            Passed::Line => plan.time(|| client.line(black_box(&line))),
            Passed::LineBack => plan.time(|| client.line_back(black_box(&mut line))),
        }
    }
}

impl ParametersServer for Server {
    fn none(&self) {}

    fn number(&self, value: i64) {
        black_box(value);
    }

    fn numbers(&self, a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64, h: i64) {
        black_box([a, b, c, d, e, f, g, h]);
    }

    fn line(&self, bytes: &Line) {
        black_box(bytes);
    }

    fn line_back(&self, bytes: &mut Line) {
        bytes[0] = bytes[0].wrapping_add(1);
    }
}
