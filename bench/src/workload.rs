//! The workload of LRPC's section 2.2 replayed, instead of one call in a loop: which procedures are
//! called how often (L2), with how many bytes (Fig. 1). What was written down there is a shape, not
//! a trace; here it is drawn with a fixed seed, so that every run replays the same calls.

use std::hint::black_box;
use std::path::Path;

use nearcall::{CallError, Domain};

use crate::calls::{self, imported, served};
use crate::child::{Child, Failure, Link};
use crate::statistics::{Plan, Samples};

use stubs::workload::{
    Area, Attributes, Tile, WORKLOAD, WorkloadClient, WorkloadEntries, WorkloadServer,
};

/// What the compiler made of `workload.idl`.
pub mod stubs {
    include!(concat!(env!("OUT_DIR"), "/workload.rs"));
}

/// The server's role.
pub const ROLE: &str = "workload-server";

/// The case's name.
pub const CASE: &str = "mix";

/// Calls that are drawn; a replay begins again at the first.
const DRAWN: usize = 1 << 14;

/// Fig. 1: how many thousand calls moved up to so many bytes, arguments and results together. The
/// figure's bars, read off; those that it shows as hardly there are 2.
const FIG_1: [(u16, u16); 29] = [
    (50, 303),
    (100, 185),
    (150, 140),
    (200, 146),
    (250, 173),
    (300, 107),
    (350, 15),
    (400, 15),
    (450, 18),
    (500, 9),
    (550, 9),
    (600, 9),
    (650, 87),
    (700, 5),
    (750, 88),
    (800, 2),
    (850, 2),
    (900, 2),
    (950, 2),
    (1000, 2),
    (1050, 2),
    (1100, 2),
    (1150, 2),
    (1200, 2),
    (1250, 6),
    (1300, 5),
    (1350, 14),
    (1400, 24),
    (1450, 90),
];

/// Width of a bar.
const BAR_BYTES: u16 = 50;

/// Bytes of the numbers that go beside the octets of the longer calls.
const NUMBERS_BYTES: u16 = 16;

/// Who gets the calls of up to 50 bytes, in thousandths.
const SHORT: [(Procedure, u16); 9] = [
    (Procedure::Look, 680),
    (Procedure::Lock, 48),
    (Procedure::Seek, 48),
    (Procedure::Plot, 48),
    (Procedure::Now, 49),
    (Procedure::Draw, 49),
    (Procedure::Describe, 49),
    (Procedure::Leave, 14),
    (Procedure::Move, 15),
];

/// Who gets the longer ones.
const LONG: [(Procedure, u16); 6] = [
    (Procedure::Write, 384),
    (Procedure::Read, 384),
    (Procedure::Find, 176),
    (Procedure::Paint, 18),
    (Procedure::Entries, 19),
    (Procedure::Note, 19),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Procedure {
    Write,
    Read,
    Look,
    Lock,
    Seek,
    Plot,
    Now,
    Draw,
    Describe,
    Find,
    Paint,
    Entries,
    Note,
    Leave,
    Move,
}

/// A call that was drawn.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    procedure: Procedure,
    /// Octets both ways, of a procedure that has any.
    octets: u16,
}

/// A server in a process of its own, a binding to it, and what is called.
pub struct Workload {
    client: WorkloadClient,
    drawn: Vec<Drawn>,
    octets: Vec<u8>,
    /// Ends last, after the binding.
    _server: Child,
}

struct Server {
    octets: Vec<u8>,
}

impl WorkloadServer for Server {
    fn write(&self, _: i32, _: i32, octets: &[u8]) -> i32 {
        black_box(octets).len() as i32
    }

    fn read(&self, _: i32, _: i32, count: i32) -> Vec<u8> {
        self.some(count)
    }

    fn look(&self, window: i32, event: i32) -> i32 {
        window ^ event
    }

    fn lock(&self, file: i32) -> i32 {
        file
    }

    fn seek(&self, _: i32, offset: i32) -> i32 {
        offset
    }

    fn plot(&self, left: i32, top: i32, colour: i32) {
        black_box((left, top, colour));
    }

    fn now(&self) -> u64 {
        7
    }

    fn draw(&self, _: i32, area: &Area) {
        black_box(area);
    }

    fn describe(&self, file: i32) -> Attributes {
        Attributes { kind: file, ..Attributes::default() }
    }

    fn find(&self, path: &[u8]) -> Vec<u8> {
        path.to_vec()
    }

    fn paint(&self, _: i32, tile: &Tile) {
        black_box(tile);
    }

    fn entries(&self, count: i32, _: &[u8]) -> Vec<u8> {
        self.some(count)
    }

    fn note(&self, _: i32, text: &[u8], detail: &[u8]) {
        black_box((text, detail));
    }

    fn leave(&self, file: i32) {
        black_box(file);
    }

    fn r#move(&self, _: i32, area: &Area) {
        black_box(area);
    }
}

impl Server {
    fn some(&self, count: i32) -> Vec<u8> {
        let count = usize::try_from(count).unwrap_or(0);
        self.octets[..count.min(self.octets.len())].to_vec()
    }
}

/// What the server's process does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let server = Server { octets: vec![7; 1500] };
    served(WorkloadEntries::new(server), link, arguments)
}

impl Workload {
    /// Starts a server on processor `processor` that exports in `directory`, and binds to it.
    pub fn start(domain: &Domain, directory: &Path, processor: u32) -> Result<Workload, Failure> {
        let server = calls::start(ROLE, directory, processor)?;
        let client = WorkloadClient::new(imported(domain, directory, &WORKLOAD)?);
        let octets = vec![7; 1500];
        let workload = Workload { client, drawn: draw(DRAWN), octets, _server: server };
        workload.check()?;
        Ok(workload)
    }

    /// Results are right before anybody asks how fast they come.
    fn check(&self) -> Result<(), Failure> {
        let client = &self.client;
        let is_right = client.write(1, 2, &self.octets[..9])? == 9
            && client.read(1, 2, 9)? == self.octets[..9]
            && client.find(&self.octets[..5])? == self.octets[..5]
            && client.look(5, 3)? == 6
            && client.describe(4)?.kind == 4;
        if is_right { Ok(()) } else { Err("a call of the workload came back wrong".into()) }
    }

    /// Replays calls and times them.
    pub fn measure(&self, plan: Plan) -> Result<Samples, CallError> {
        let mut next = self.drawn.iter().cycle();
        plan.time(|| self.call(next.next().expect("a cycle has no end")))
    }

    #[inline]
    fn call(&self, drawn: &Drawn) -> Result<(), CallError> {
        let client = &self.client;
        let octets = &self.octets[..usize::from(drawn.octets)];
        let (half, rest) = octets.split_at(octets.len() / 2);
        let count = i32::from(drawn.octets);
        let area = Area { left: 1, top: 2, right: 3, bottom: 4 };
        match drawn.procedure {
            Procedure::Write => drop(black_box(client.write(1, 2, octets)?)),
            Procedure::Read => drop(black_box(client.read(1, 2, count)?)),
            Procedure::Look => drop(black_box(client.look(1, 2)?)),
            Procedure::Lock => drop(black_box(client.lock(1)?)),
            Procedure::Seek => drop(black_box(client.seek(1, 2)?)),
            Procedure::Plot => client.plot(1, 2, 3)?,
            Procedure::Now => drop(black_box(client.now()?)),
            Procedure::Draw => client.draw(1, black_box(&area))?,
            Procedure::Describe => drop(black_box(client.describe(1)?)),
            Procedure::Find => drop(black_box(client.find(half)?)),
            Procedure::Paint => client.paint(1, black_box(&[7; 300]))?,
            Procedure::Entries => drop(black_box(client.entries(count / 2, half)?)),
            Procedure::Note => client.note(1, half, rest)?,
            Procedure::Leave => client.leave(1)?,
            Procedure::Move => client.r#move(1, black_box(&area))?,
        }
        Ok(())
    }
}

/// So many calls of that shape, the same every time.
fn draw(count: usize) -> Vec<Drawn> {
    let mut dice = Dice(1989);
    let one = |dice: &mut Dice| {
        let bar = dice.pick(&FIG_1);
        let bytes = bar - dice.below(BAR_BYTES);
        let is_short = bar == FIG_1[0].0;
        let procedure = if is_short { dice.pick(&SHORT) } else { dice.pick(&LONG) };
        Drawn { procedure, octets: if is_short { 0 } else { bytes - NUMBERS_BYTES } }
    };
    (0..count).map(|_| one(&mut dice)).collect()
}

/// Numbers that look drawn. What matters is that they are the same in every run.
struct Dice(u64);

impl Dice {
    /// Below `end`.
    fn below(&mut self, end: u16) -> u16 {
        // Knuth's multiplier for 64 bits; the upper bits are the good ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % u64::from(end)) as u16
    }

    /// One of these, as often as its weight says.
    fn pick<T: Copy>(&mut self, weighted: &[(T, u16)]) -> T {
        let mut left = self.below(weighted.iter().map(|(_, weight)| weight).sum());
        for (one, weight) in weighted {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return *one,
            }
        }
        unreachable!("what is below the sum falls into one of the parts")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many in a hundred of the calls are such.
    fn percent(is_such: impl Fn(&Drawn) -> bool) -> usize {
        let drawn = draw(DRAWN);
        (drawn.iter().filter(|drawn| is_such(drawn)).count() * 100 + DRAWN / 2) / DRAWN
    }

    #[test]
    fn three_of_four_calls_go_to_three_procedures() {
        let top = [Procedure::Write, Procedure::Read, Procedure::Look];
        let share = percent(|drawn| top.contains(&drawn.procedure));
        assert!((74..=76).contains(&share), "{share}");
    }

    #[test]
    fn nineteen_of_twenty_calls_go_to_ten_procedures() {
        let share = percent(|drawn| drawn.procedure as u32 <= Procedure::Find as u32);
        assert!((94..=96).contains(&share), "{share}");
    }

    #[test]
    fn sizes_follow_the_figure() {
        for (bytes, want) in [(50, 22), (200, 53), (300, 71), (750, 88), (1450, 100)] {
            let share = percent(|drawn| drawn.octets + NUMBERS_BYTES <= bytes);
            assert!(share.abs_diff(want) <= 4, "{share} in 100 up to {bytes}, the figure: {want}");
        }
    }

    #[test]
    fn every_run_replays_the_same_calls() {
        let procedures = |drawn: Vec<Drawn>| -> Vec<Procedure> {
            drawn.into_iter().map(|drawn| drawn.procedure).collect()
        };
        assert_eq!(procedures(draw(1000)), procedures(draw(1000)));
    }
}
