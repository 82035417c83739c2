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

    /// Whether this model, by the name of its test in the calling program, fails with it. One that
    /// is too long for loom with it has not failed: nobody has seen what comes of it.
    ///
    /// # Panics
    ///
    /// If the model neither passes nor fails, nor is too long.
    pub fn fails(&self, model: &str) -> bool {
        // This program, also where a build beside it has put another one in its place.
        let mut command = Command::new("/proc/self/exe");
        command.args(["--exact", model, "--nocapture"]);
        command.env(VARIABLE, self.to_text()).env("RUST_BACKTRACE", "0");
        let output = command.output().expect("a run of this test");
        let [told, said] =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        has_failed(output.status.success(), &told, &said)
            .unwrap_or_else(|| panic!("{model} neither passed nor failed: {output:?}"))
    }
}

/// What loom says first of a model that branches more often than it may.
const TOO_LONG: &str = "Model exceeded maximum number of branches";

/// Whether a run has failed, by how it ended and what it wrote to both outputs; `None`: it has not
/// passed either.
fn has_failed(is_success: bool, told: &str, said: &str) -> Option<bool> {
    match is_success {
        true => told.contains("1 passed").then_some(false),
        false => said.contains("panicked").then(|| !said.contains(TOO_LONG)),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What loom itself says of a model that waits for itself.
    fn said_of_one_that_is_too_long() -> String {
        let wait = || {
            let flag = loom::sync::atomic::AtomicBool::new(false);
            while !flag.load(Ordering::Relaxed) {}
        };
        let payload = std::panic::catch_unwind(|| loom::model(wait)).expect_err("it has no end");
        payload
            .downcast_ref::<String>()
            .cloned()
            .unwrap_or_else(|| (*payload.downcast_ref::<&str>().expect("words")).to_owned())
    }

    #[test]
    fn a_model_that_is_too_long_for_loom_has_not_failed() {
        let said = format!("thread 'x' panicked at y:\n{}", said_of_one_that_is_too_long());
        assert_eq!(has_failed(false, "", &said), Some(false), "{said}");
    }

    #[test]
    fn a_model_that_panics_has_failed_and_one_that_passes_has_not() {
        assert_eq!(
            has_failed(false, "", "thread 'x' panicked at y:\nthe words differ"),
            Some(true)
        );
        assert_eq!(has_failed(true, "test result: ok. 1 passed;", ""), Some(false));
    }

    #[test]
    fn what_has_not_run_has_neither_passed_nor_failed() {
        assert_eq!(has_failed(true, "test result: ok. 0 passed;", ""), None);
        assert_eq!(has_failed(false, "", "no such file"), None);
    }
}
