//! The engine: exports `engine` until it is interrupted.

#![forbid(unsafe_code)]

use nearcall::{Clerk, Domain, Opaque};

/// The stubs.
mod stubs {
    include!(concat!(env!("OUT_DIR"), "/engine.rs"));
}

use stubs::engine::{Empty, EngineEntries, EngineServer, EngineSummariseException, Summary};

struct Engine;

impl EngineServer for Engine {
    fn null(&self) {}

    fn add(&self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    fn summarise(&self, samples: &[f64]) -> Result<Summary, EngineSummariseException> {
        if samples.is_empty() {
            return Err(EngineSummariseException::Empty(Empty {}));
        }
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(Summary { least, mean, greatest })
    }

    fn smooth(&self, samples: &[f64], width: u32) -> Vec<f64> {
        let half = width as usize / 2;
        let around = |at: usize| {
            let end = samples.len().min(at + half + 1);
            let window = &samples[at.saturating_sub(half)..end];
            window.iter().sum::<f64>() / window.len() as f64
        };
        (0..samples.len()).map(around).collect()
    }

    fn weigh(&self, data: Opaque<'_>) -> u64 {
        data.len() as u64
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let domain = Domain::new()?;
    let clerk = Clerk::export(&domain, "engine", EngineEntries::new(Engine))?;
    println!("engine is exported at {}", clerk.path().display());
    loop {
        std::thread::park();
    }
}
