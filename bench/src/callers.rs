//! Fig. 2: how many calls a second one server takes from callers on 1 processor, 2, and so on. Each
//! caller is a process of its own, bound to its processor; the server's threads may run anywhere.

use std::hint::black_box;
use std::path::Path;

use nearcall::Domain;
use nearcall_os::{clock, processor};

use crate::calls;
use crate::child::{Child, Failure, Link};
use crate::raw::peer::Peer;
use crate::raw::yielding::Yield;
use crate::statistics::Plan;

/// The child's role.
pub const ROLE: &str = "caller";

/// How long everybody calls, if nothing else is asked for.
pub const CALLING_NS: u64 = 100_000_000;

/// Round trips of two bare processes in about that time.
pub const ROUND_TRIPS: u32 = 60_000;

/// Calls between two looks at the clock.
const BATCH: u64 = 16;

/// A server, and a caller on each processor.
pub struct Callers {
    /// In the order of the processors.
    callers: Vec<Child>,
    _server: Child,
}

impl Callers {
    /// Starts them. Call it while this thread may run on every processor, so that the server may.
    pub fn start(directory: &Path, processors: &[u32]) -> Result<Callers, Failure> {
        let server = calls::start_anywhere(calls::ROLE, directory)?;
        let directory = directory.to_str().ok_or("the directory has no name in Unicode")?;
        let caller = |place: &u32| Child::start(ROLE, &[directory, &place.to_string()], &[]);
        let callers = processors.iter().map(caller).collect::<Result<_, _>>()?;
        Ok(Callers { callers, _server: server })
    }

    /// Has the first `count` of them call for so long, all at once; calls a second altogether.
    pub fn measure(&self, count: usize, calling_ns: u64) -> Result<f64, Failure> {
        let callers = &self.callers[..count];
        callers.iter().try_for_each(|caller| caller.link().answer(calling_ns))?;
        let mut calls = 0;
        for caller in callers {
            let [made, ..] = caller.link().next()?.ok_or("a caller ended")?;
            calls += made;
        }
        Ok(calls as f64 * 1e9 / calling_ns as f64)
    }
}

/// On each of some processors two bare processes that give it to each other: what callers and their
/// server would take if each call were served where it was made.
pub struct Alternating {
    pairs: Vec<(u32, Peer)>,
}

impl Alternating {
    /// Starts them.
    pub fn start(processors: &[u32]) -> Result<Alternating, Failure> {
        let pair = |&processor: &u32| Ok((processor, Peer::start(processor)?));
        Ok(Alternating { pairs: processors.iter().map(pair).collect::<Result<_, Failure>>()? })
    }

    /// Has the first `count` of them alternate, all at once; round trips a second altogether.
    pub fn measure(&self, count: usize, round_trips: u32) -> Result<f64, Failure> {
        let plan = Plan::new(round_trips, round_trips);
        let alternate = |(processor, peer): &(u32, Peer)| {
            processor::pin(*processor).map_err(|error| error.to_string())?;
            let samples = peer.alternate::<Yield>(plan).map_err(|error| error.to_string())?;
            Ok::<f64, String>(1e9 / samples.p50_ns())
        };
        let rates = std::thread::scope(|scope| {
            let pairs = self.pairs[..count].iter();
            let threads: Vec<_> = pairs.map(|pair| scope.spawn(|| alternate(pair))).collect();
            let ended = threads.into_iter().map(|thread| thread.join().expect("nothing panics"));
            ended.collect::<Result<Vec<f64>, String>>()
        });
        Ok(rates?.into_iter().sum())
    }
}

/// What a caller does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let [directory, place] = arguments else {
        return Err("which directory, which processor?".into());
    };
    processor::pin(place.parse()?)?;
    let domain = Domain::new()?;
    let client = calls::import(&domain, Path::new(directory))?;
    link.answer(0)?;
    while let Some([calling_ns, ..]) = link.next()? {
        let begin_ns = clock::now_ns();
        let mut calls = 0;
        while clock::now_ns() - begin_ns < calling_ns {
            for _ in 0..BATCH {
                client.null()?;
            }
            calls += BATCH;
        }
        link.answer(black_box(calls))?;
    }
    Ok(())
}
