//! Is an order needed? One row's order is made weaker, and some model has to fail. Each runs in a
//! process of its own, because a model that fails may leave loom unable to unwind.

use core::sync::atomic::Ordering;
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::LazyLock;

use rayon::prelude::*;

/// One row of a table, and what stands there instead of its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakening {
    /// The row's name.
    pub row: String,
    /// Its order.
    pub from: Ordering,
    /// What a model has instead.
    pub to: Ordering,
}

/// The variable that tells a model, run in a process of its own, what to weaken.
const VARIABLE: &str = "NEARCALL_MODEL_WEAKENING";

impl Weakening {
    /// As it is told and printed.
    pub fn to_text(&self) -> String {
        format!("{} {:?} {:?}", self.row, self.from, self.to)
    }

    fn from_text(text: &str) -> Option<Weakening> {
        let mut words = text.split(' ');
        let row = words.next()?.to_owned();
        let (from, to) = (ordering(words.next()?)?, ordering(words.next()?)?);
        Some(Weakening { row, from, to })
    }

    /// Whether this model, by the name of its test in the calling program, fails with it.
    ///
    /// # Panics
    ///
    /// If the model neither passes nor fails.
    pub fn fails(&self, model: &str) -> bool {
        let mut command = Command::new(std::env::current_exe().expect("the path of this test"));
        command.args(["--exact", model, "--nocapture"]);
        command.env(VARIABLE, self.to_text()).env("RUST_BACKTRACE", "0");
        let output = command.output().expect("a run of this test");
        let said = |what: &str, stream: &[u8]| String::from_utf8_lossy(stream).contains(what);
        let passed = output.status.success() && said("1 passed", &output.stdout);
        let failed = !output.status.success() && said("panicked", &output.stderr);
        assert!(passed != failed, "{model} neither passed nor failed: {output:?}");
        failed
    }
}

fn ordering(name: &str) -> Option<Ordering> {
    use Ordering::{AcqRel, Acquire, Relaxed, Release};
    let mut all = [Relaxed, Acquire, Release, AcqRel].into_iter();
    all.find(|order| format!("{order:?}") == name)
}

static WEAKENING: LazyLock<Option<Weakening>> = LazyLock::new(|| {
    let text = std::env::var(VARIABLE).ok()?;
    Some(Weakening::from_text(&text).expect("a row and two orders"))
});

/// The order of a row, in this process.
pub fn order(row: &str, order: Ordering) -> Ordering {
    match &*WEAKENING {
        Some(weakening) if weakening.row == row && weakening.from == order => weakening.to,
        _ => order,
    }
}

/// Each row and order that these sources name: `ord!("O1", Release)`.
///
/// # Panics
///
/// If one is written otherwise.
pub fn rows(sources: &[&str]) -> BTreeSet<(String, String)> {
    let uses = sources.iter().flat_map(|source| source.split("ord!(\"").skip(1));
    let parts = uses.map(|rest| {
        let (row, rest) = rest.split_once("\", ").expect("a row and an order");
        let (order, _) = rest.split_once(')').expect("the end of an order");
        (row.to_owned(), order.to_owned())
    });
    parts.collect()
}

/// Each order that is stronger than it would have to be if nothing needed it, and each weaker one
/// to put in its place.
///
/// # Panics
///
/// If a row's order is none of those that tables have.
pub fn weakenings(sources: &[&str]) -> Vec<Weakening> {
    use Ordering::{AcqRel, Acquire, Relaxed, Release};
    let mut all = Vec::new();
    for (row, order) in rows(sources) {
        let (from, weaker) = match order.as_str() {
            "Relaxed" => continue,
            "Acquire" => (Acquire, vec![Relaxed]),
            "Release" => (Release, vec![Relaxed]),
            "AcqRel" => (AcqRel, vec![Relaxed, Acquire, Release]),
            other => panic!("row {row} has order {other}"),
        };
        all.extend(weaker.into_iter().map(|to| Weakening { row: row.clone(), from, to }));
    }
    all
}

/// What `look` finds of each, in their order. It waits for models, each a process of its own, so as
/// many are looked at at once as there are processors.
pub fn survey<T: Send>(all: &[Weakening], look: impl Fn(&Weakening) -> T + Sync + Send) -> Vec<T> {
    all.par_iter().map(look).collect()
}
