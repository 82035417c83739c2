//! The audit records of a test program, or its warnings, as text.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::{Level, span};

/// Keeps them, in order. To be the subscriber of the program.
#[derive(Clone, Debug, Default)]
pub struct Records {
    all: Arc<Mutex<Vec<String>>>,
    /// Instead of audit records.
    are_warnings: bool,
    /// Also with what differs from one run to the next.
    are_whole: bool,
}

/// What an audit record has of the importer that differs from one run to the next.
const OF_RUNS: &[&str] = &["pid", "gid", "groups", "cgroup", "pidfd_inode"];

struct Text {
    text: String,
    is_whole: bool,
}

impl Records {
    /// Keeps what `nearcall` warns of.
    pub fn of_warnings() -> Records {
        Records { are_warnings: true, ..Records::default() }
    }

    /// Keeps audit records with all that they say.
    pub fn whole() -> Records {
        Records { are_whole: true, ..Records::default() }
    }

    /// Those there are; but for whole ones, each without the importer's process and groups.
    pub fn all(&self) -> Vec<String> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if self.is_whole || !OF_RUNS.contains(&field.name()) {
            self.text += &format!("{}={value:?} ", field.name());
        }
    }
}

impl tracing::Subscriber for Records {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        let (target, is_warning) = (metadata.target(), *metadata.level() <= Level::WARN);
        let is_wanted_warning = is_warning && target.starts_with("nearcall");
        if self.are_warnings { is_wanted_warning } else { target == "nearcall::audit" }
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = Text { text: String::new(), is_whole: self.are_whole };
        event.record(&mut text);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(text.text.trim_end().to_owned());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}
