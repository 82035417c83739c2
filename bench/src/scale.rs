//! The table `scale`: one server with 1 to 1,000 bindings, all of one client.
//!
//! | case | subject | against |
//! |---|---|---|
//! | `hot-N` | a Null through one of N bindings, again and again | the same where it is alone |
//! | `cold-N` | a Null through each of N bindings in turn | the bound |
//! | `pipelined-N` | a Null while N are under way, from one thread | one at a time |
//! | `after-pipelined-N` | a Null alone, right after that | one that nothing was before |
//! | `side-by-side-N` | a call that takes N while 16 are under way | one at a time |
//!
//! Counted: what a bind takes until its first call is back, beside what the kernel's part of it
//! takes alone (`raw-bind`); what memory a binding takes on each side; and the processor time that
//! a server with all of them takes in a second of nothing.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use nearcall::Domain;
use nearcall_os::clock;
use rustix::param::page_size;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::calls::stubs::calls::{NULLS, NullsClient, NullsEntries, NullsServer};
use crate::calls::{self, imported, served};
use crate::child::{Child, Failure, Link};
use crate::outstanding::Several;
use crate::raw::bind::{self, RawBind};
use crate::rounds::{Statistic, Tally};
use crate::side_by_side;
use crate::stage::{Options, Stage};
use crate::statistics::{Plan, Samples};
use crate::table::{Case, Named, OURS, Table};

/// The table's name.
const NAME: &str = "scale";

/// Numbers of bindings.
const BINDINGS: [usize; 6] = [1, 8, 64, 256, 512, 1000];

/// The server's role.
pub const ROLE: &str = "null-server";

/// Does nothing.
pub struct Server;

impl NullsServer for Server {
    fn null(&self) {}
}

/// One server, and as many bindings to it as are wanted so far.
pub struct Crowd<'s> {
    stage: &'s Stage,
    domain: &'s Domain,
    directory: PathBuf,
    clients: Vec<NullsClient>,
    /// What each bind took until its first call was back.
    binds_ns: Vec<u64>,
    /// Ends last, after the bindings.
    server: Child,
}

/// Measures the table. Who runs where: see `paper`.
pub fn measure(options: Options) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    // Before the servers are started, which inherit it: a binding needs a few descriptors.
    allow_descriptors()?;
    let (stages, missing) = options.stages()?;
    if let Some(why) = missing {
        BINDINGS.iter().for_each(|count| table.skip(&hot(*count), OURS, why));
        side_by_side::skip(&mut table, why);
    }
    let domain = Domain::new()?;
    let directory = tempfile::tempdir()?;
    for stage in &stages {
        let directory = directory.path().join(stage.processors.to_string());
        let place = |name: &str| directory.join(name);
        let mut alone = Crowd::start(stage, &domain, place("alone"))?;
        alone.grow(1)?;
        let mut crowd = Crowd::start(stage, &domain, place("crowd"))?;
        crowd.measure(&alone, options, &mut table)?;
        let several = Several::start(stage, &domain, &place("several"))?;
        several.measure(stage, options.rounds, &mut table)?;
        if stage.processors == 2 {
            let directory = place("side-by-side");
            side_by_side::measure(stage, &domain, &directory, options.rounds, &mut table)?;
        }
    }
    Ok(table)
}

fn hot(count: usize) -> String {
    format!("hot-{count}")
}

/// What the server's process does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    served(NullsEntries::new(Server), link, arguments)
}

impl<'s> Crowd<'s> {
    /// Starts a server that exports in `directory`; there is no binding yet.
    pub fn start(
        stage: &'s Stage,
        domain: &'s Domain,
        directory: PathBuf,
    ) -> Result<Self, Failure> {
        let server = calls::start(ROLE, &directory, stage.there)?;
        Ok(Crowd { stage, domain, directory, clients: Vec::new(), binds_ns: Vec::new(), server })
    }

    fn measure(
        &mut self,
        alone: &Crowd<'_>,
        options: Options,
        table: &mut Table,
    ) -> Result<(), Failure> {
        let mut resident = None;
        for (index, count) in BINDINGS.into_iter().enumerate() {
            if let Err(error) = self.grow(count) {
                let why = format!("{} bindings stand: {error}", self.clients.len());
                for count in &BINDINGS[index..] {
                    table.skip(&hot(*count), OURS, &*why);
                    table.skip(&format!("cold-{count}"), OURS, &*why);
                }
                let counts = ["memory-client", "memory-server", "bind", "idle-1s"];
                counts.into_iter().for_each(|count| table.skip(count, OURS, &*why));
                return Ok(());
            }
            let first = resident.get_or_insert(self.resident_bytes()?);
            self.rounds(alone, options.rounds, table)?;
            if count == BINDINGS[BINDINGS.len() - 1] {
                self.count(*first, table)?;
            }
        }
        Ok(())
    }

    /// Binds until there are `count` bindings.
    pub fn grow(&mut self, count: usize) -> Result<(), Failure> {
        while self.clients.len() < count {
            let begin_ns = clock::now_ns();
            let client = NullsClient::new(imported(self.domain, &self.directory, &NULLS)?);
            client.null()?;
            self.binds_ns.push(clock::now_ns() - begin_ns);
            self.clients.push(client);
        }
        Ok(())
    }

    fn rounds(&self, alone: &Crowd<'_>, rounds: u32, table: &mut Table) -> Result<(), Failure> {
        let (stage, count) = (self.stage, self.clients.len());
        let plan = stage.plan_short();
        let (mut hottest, mut coldest) = (Tally::default(), Tally::default());
        for _ in 0..rounds {
            hottest.add(stage.beside(|| Ok(self.hot(plan)?), || Ok(alone.hot(plan)?))?);
            if count > 1 {
                coldest.add(stage.beside_bound(|| Ok(self.cold(plan)?))?);
            }
        }
        let ours = Named::ours();
        let case = Case::new(hot(count), stage, plan);
        table.tell(&case, &ours, &ours, &hottest, Statistic::P50);
        if count > 1 {
            let case = Case::new(format!("cold-{count}"), stage, plan);
            let bound = Named::bound(stage.bound_name());
            table.tell(&case, &ours, &bound, &coldest, Statistic::P50);
        }
        Ok(())
    }

    /// One binding, in the middle of the others, is called all the time.
    fn hot(&self, plan: Plan) -> Result<Samples, nearcall::CallError> {
        let client = &self.clients[self.clients.len() / 2];
        plan.time(|| client.null())
    }

    /// Each binding is called in turn.
    pub fn cold(&self, plan: Plan) -> Result<Samples, nearcall::CallError> {
        let mut turn = self.clients.iter().cycle();
        plan.time(|| turn.next().expect("a cycle has no end").null())
    }

    /// What all of them take, in memory, in time to bind, in processor time for nothing.
    fn count(&self, first: [u64; 2], table: &mut Table) -> Result<(), Failure> {
        let (processors, ours) = (self.stage.processors, Named::ours());
        let bindings = self.clients.len() as f64 - 1.0;
        let sides = ["client", "server"].into_iter().zip(first).zip(self.resident_bytes()?);
        for ((side, first), last) in sides {
            let each = last.saturating_sub(first) as f64 / bindings;
            let case = format!("memory-{side}-{processors}");
            table.count(&case, &ours, "bytes a binding", each.round());
        }
        let binds = Samples::new(1, self.binds_ns.clone());
        let case = format!("bind-{processors}");
        table.count(&case, &ours, "ns, p50", binds.p50_ns());
        let raw = RawBind::start(&self.directory, self.stage.there)?;
        let raw = raw.measure(self.binds_ns.len())?;
        table.count(&case, &Named::bound(bind::ROLE), "ns, p50", raw.p50_ns());
        let link = self.server.link();
        std::thread::sleep(Duration::from_millis(100));
        let begin_ns = link.ask(0)?;
        std::thread::sleep(Duration::from_secs(1));
        let used_ns = link.ask(0)? - begin_ns;
        let case = format!("idle-1s-{}-{processors}", self.clients.len());
        table.count(&case, &ours, "processor-ns", used_ns as f64);
        Ok(())
    }

    /// Of the client and of the server. Pages of segments count on both sides.
    fn resident_bytes(&self) -> Result<[u64; 2], Failure> {
        Ok([resident_bytes("self")?, resident_bytes(&self.server.id().to_string())?])
    }
}

fn resident_bytes(process: &str) -> Result<u64, Failure> {
    let text = fs::read_to_string(format!("/proc/{process}/statm"))?;
    let pages = text.split_whitespace().nth(1).ok_or("statm has two numbers")?;
    Ok(pages.parse::<u64>()? * page_size() as u64)
}

/// As many descriptors as this process may allow itself.
pub fn allow_descriptors() -> Result<(), Failure> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}
