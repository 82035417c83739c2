//! Marshals and unmarshals the same records by Nearcall and by other formats, in turn.
//!
//! ```text
//! arguments:       ROUNDS
//! standard output: CASE RECORDS SUBJECT VERSION ns ns …   of each round, there and back
//! ```
//!
//! Before it is timed, each subject has to give every value back as it was. Every subject begins
//! with a value that the caller keeps and ends with one of its own, judged: rkyv is deserialized
//! after it was validated. Nearcall is what its stubs do with such a value,
//! less the copies into the A-stack and out of it.

#![forbid(unsafe_code)]

mod values;

use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use nearcall::raw::{Marshal, Reader, Writer};
use wincode::config::{self, Configuration};

use stubs::records as ours;
use values::{Entry, Triangle};

/// What the compiler makes of the interface file.
mod stubs {
    include!(concat!(env!("OUT_DIR"), "/records.rs"));
}

type Failure = Box<dyn Error>;

/// Rounds before those that count.
const WARM_UP: usize = 2;

/// There and back, once; whether what came back is what went. All of it is compared, or, where the
/// time counts, how many there are.
type Trip<'t> = Box<dyn Fn(Compared) -> Result<bool, Failure> + 't>;

/// What of the values is compared.
#[derive(Clone, Copy)]
enum Compared {
    All,
    Number,
}

/// Who marshals.
struct Subject<'t> {
    name: &'static str,
    version: &'static str,
    trip: Trip<'t>,
}

impl Compared {
    fn is_same<T: PartialEq>(self, back: &[T], values: &[T]) -> bool {
        match self {
            Compared::All => back == values,
            Compared::Number => back.len() == values.len(),
        }
    }
}

/// By Nearcall.
fn nearcall<T: Marshal + PartialEq>(values: &Vec<T>) -> Subject<'_> {
    let trip = move |compared: Compared| {
        let mut writer = Writer::new();
        black_box(values).marshal(&mut writer);
        let bytes = writer.finish("given")?;
        let mut reader = Reader::new(black_box(&bytes));
        let back = Vec::<T>::unmarshal(&mut reader).map_err(|error| format!("{error:?}"))?;
        reader.finish().map_err(|error| format!("{error:?}"))?;
        Ok(compared.is_same(black_box(&back), values))
    };
    Subject { name: "nearcall", version: env!("NEARCALL_VERSION"), trip: Box::new(trip) }
}

/// By the others, whose functions take no type parameter that could be named here shortly.
macro_rules! others {
    ($values:expr, $type:ty) => {{
        let values: &Vec<$type> = $values;
        let rkyv = move |compared: Compared| {
            let bytes = rkyv::to_bytes::<rkyv::rancor::Error>(black_box(values))?;
            let back = rkyv::from_bytes::<Vec<$type>, rkyv::rancor::Error>(black_box(&bytes))?;
            Ok(compared.is_same(black_box(&back), values))
        };
        let wincode = move |compared: Compared| {
            // What it sets aside at once is limited to 4 MiB otherwise, and the mesh takes more.
            let config = Configuration::default().disable_preallocation_size_limit();
            let bytes = config::serialize(black_box(values), config)?;
            let back: Vec<$type> = config::deserialize(black_box(&bytes), config)?;
            Ok(compared.is_same(black_box(&back), values))
        };
        [
            Subject { name: "rkyv", version: env!("RKYV_VERSION"), trip: Box::new(rkyv) },
            Subject { name: "wincode", version: env!("WINCODE_VERSION"), trip: Box::new(wincode) },
        ]
    }};
}

fn main() -> ExitCode {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok());
    let done = rounds.ok_or_else(|| "how many rounds?".into()).and_then(measure);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-records: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(rounds: usize) -> Result<(), Failure> {
    let log = values::log();
    let entries: Vec<ours::Entry> = log.iter().map(ours::Entry::from).collect();
    tell("log", log.len(), rounds, nearcall(&entries), others!(&log, Entry))?;
    let mesh = values::mesh();
    let triangles: Vec<ours::Triangle> = mesh.iter().map(ours::Triangle::from).collect();
    tell("mesh", mesh.len(), rounds, nearcall(&triangles), others!(&mesh, Triangle))
}

/// One round after the other, each of all subjects.
fn tell(
    case: &str,
    records: usize,
    rounds: usize,
    ours: Subject<'_>,
    others: [Subject<'_>; 2],
) -> Result<(), Failure> {
    let subjects: Vec<Subject<'_>> = std::iter::once(ours).chain(others).collect();
    let mut times = vec![Vec::new(); subjects.len()];
    for round in 0..WARM_UP + rounds {
        for (subject, times) in subjects.iter().zip(&mut times) {
            let compared = if round < WARM_UP { Compared::All } else { Compared::Number };
            let start = Instant::now();
            let is_whole = (subject.trip)(compared)?;
            let ns = start.elapsed().as_nanos();
            if !is_whole {
                return Err(format!("{case}: records were lost by {}", subject.name).into());
            }
            if round >= WARM_UP {
                times.push(ns.to_string());
            }
        }
    }
    for (subject, times) in subjects.iter().zip(times) {
        let Subject { name, version, .. } = subject;
        println!("{case} {records} {name} {version} {}", times.join(" "));
    }
    Ok(())
}
