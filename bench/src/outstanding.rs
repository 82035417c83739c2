//! Several calls outstanding from one thread: always as many, the oldest collected first, each
//! beside the same call made alone; and a call made alone right after them.

use std::collections::VecDeque;
use std::path::Path;

use nearcall::{CallError, Domain, Pending};

use crate::calls::stubs::calls::{SEVERAL, SeveralClient, SeveralEntries, SeveralServer};
use crate::calls::{self, imported, served};
use crate::child::{Child, Failure, Link};
use crate::rounds::{Statistic, Tally};
use crate::stage::Stage;
use crate::statistics::{Plan, Samples};
use crate::table::{Case, Named, Table};

/// Numbers of calls outstanding; as many as the interface has A-stacks, at most.
const OUTSTANDING: [usize; 4] = [1, 8, 16, 64];

/// The server's role.
pub const ROLE: &str = "several-server";

/// The procedures do nothing.
pub struct Server;

impl SeveralServer for Server {
    fn null(&self) {}

    fn leaf(&self) {}
}

/// A binding with A-stacks for all of them.
pub struct Several {
    client: SeveralClient,
    /// Ends last, after the binding.
    _server: Child,
}

/// What the server's process does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    served(SeveralEntries::new(Server), link, arguments)
}

impl Several {
    /// Starts a server where the stage has servers, and binds to it.
    pub fn start(stage: &Stage, domain: &Domain, directory: &Path) -> Result<Several, Failure> {
        let server = calls::start(ROLE, directory, stage.there)?;
        let client = SeveralClient::new(imported(domain, directory, &SEVERAL)?);
        Ok(Several { client, _server: server })
    }

    /// Measures all numbers of them.
    pub fn measure(&self, stage: &Stage, rounds: u32, table: &mut Table) -> Result<(), Failure> {
        let (plan, ours) = (stage.plan_short(), Named::ours());
        for count in OUTSTANDING {
            let mut tally = Tally::default();
            for _ in 0..rounds {
                tally.add(stage.beside(
                    || Ok(self.always(count, plan)?),
                    || Ok(plan.time(|| self.client.null())?),
                )?);
            }
            let case = Case::new(format!("pipelined-{count}"), stage, plan);
            table.tell(&case, &ours, &ours, &tally, Statistic::P50);
        }
        self.measure_after(stage, rounds, table)
    }

    /// A call made alone right after many were under way, beside one that nothing was before: the
    /// server, which polls all their A-stacks still, is to find it as soon.
    fn measure_after(&self, stage: &Stage, rounds: u32, table: &mut Table) -> Result<(), Failure> {
        let (plan, ours) = (stage.plan_short(), Named::ours());
        let count = OUTSTANDING[OUTSTANDING.len() - 1];
        let mut tally = Tally::default();
        for _ in 0..rounds {
            tally.add(stage.beside(
                || {
                    self.always(count, plan)?;
                    Ok(plan.time(|| self.client.null())?)
                },
                || Ok(plan.time(|| self.client.null())?),
            )?);
        }
        let case = Case::new(format!("after-pipelined-{count}"), stage, plan);
        table.tell(&case, &ours, &ours, &tally, Statistic::P50);
        Ok(())
    }

    /// What a call takes while `count` are under way.
    pub fn always(&self, count: usize, plan: Plan) -> Result<Samples, CallError> {
        let posting = self.client.posting();
        always(count, plan, || posting.null())
    }
}

/// What a call takes while `count` are under way, which `post` posts.
pub fn always<'c>(
    count: usize,
    plan: Plan,
    post: impl Fn() -> Result<Pending<'c, ()>, CallError>,
) -> Result<Samples, CallError> {
    let mut under_way = VecDeque::with_capacity(count);
    let samples = plan.time(|| {
        if under_way.len() == count {
            let oldest: Pending<'c, ()> = under_way.pop_front().expect("some are");
            oldest.collect()?;
        }
        under_way.push_back(post()?);
        Ok::<(), CallError>(())
    })?;
    under_way.into_iter().try_for_each(|pending| pending.collect())?;
    Ok(samples)
}
