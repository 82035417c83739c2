//! Whoever listens to `tracing` in a test: keeps what it is told.

use std::fmt::{Debug, Write};
use std::sync::{Mutex, Once};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Listener;

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            write!(self.0, "{value:?}").unwrap();
        }
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        HEARD.lock().unwrap().push(text.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Has this process listen from now on.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Listener).unwrap());
}

/// What it has been told that has this in it.
pub fn heard(part: &str) -> Vec<String> {
    let heard = HEARD.lock().unwrap();
    heard.iter().filter(|text| text.contains(part)).cloned().collect()
}
