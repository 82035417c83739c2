//! What the runtime tells, as lines of JSON.
//!
//! Nearcall tells of binds, refusals and ends of bindings (the target `nearcall::audit`), and warns
//! of peers that break the protocol and of what it has no room for, all as events of `tracing`. A
//! program in Rust has a subscriber for those, or takes any. This is for programs that are not in
//! Rust: a function gets each event as a line.
//!
//! ```
//! nearcall_log::write_lines(|_level, line| println!("{line}")).unwrap();
//! // {"timestamp":"2026-11-26T15:20:01.123456Z","level":"INFO","event":"bound","name":"files",
//! //  "interface":"files::Files","uid":1000,"gid":1000,"pid":4711,"rule":"owner","dropped":0,
//! //  "target":"nearcall::audit"}
//! ```
//!
//! Apart from `nearcall`, whose users choose how events are written, or leave them out.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::fmt;
use std::io;

use tracing::Metadata;
use tracing_subscriber::fmt::MakeWriter;

/// How grave what is told is.
pub use tracing::Level;

/// There is a subscriber already: this process's events go there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken;

/// A function that lines go to.
struct Lines<Write>(Write);

/// One line, on its way.
struct Line<'w, Write> {
    level: Level,
    write: &'w Write,
}

/// Has `write` get each event of this process from here on, however grave, as an object of JSON on
/// a line of its own, without its end. It is called by the thread that tells, which may be one of
/// the runtime's in the middle of its work: it must not call Nearcall, and what it takes, the
/// runtime takes.
///
/// # Errors: [`Taken`], if it was called before, or the program has a subscriber.
///
/// # Cost: 2.8 us an event (AMD EPYC, Zen 1), and what `write` takes. No call has one that is made,
/// taken and answered as usual.
pub fn write_lines(write: impl Fn(Level, &str) + Send + Sync + 'static) -> Result<(), Taken> {
    let lines = tracing_subscriber::fmt().json().flatten_event(true).with_max_level(Level::TRACE);
    let subscriber = lines.with_writer(Lines(write)).finish();
    tracing::subscriber::set_global_default(subscriber).map_err(|_| Taken)
}

impl<'w, Write: Fn(Level, &str) + 'w> MakeWriter<'w> for Lines<Write> {
    type Writer = Line<'w, Write>;

    fn make_writer(&'w self) -> Line<'w, Write> {
        Line { level: Level::INFO, write: &self.0 }
    }

    fn make_writer_for(&'w self, told: &Metadata<'_>) -> Line<'w, Write> {
        Line { level: *told.level(), write: &self.0 }
    }
}

/// An event comes whole, in one piece.
impl<Write: Fn(Level, &str)> io::Write for Line<'_, Write> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(event);
        (self.write)(self.level, line.trim_end_matches('\n'));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this process's events go to another subscriber already")
    }
}

impl std::error::Error for Taken {}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    static WRITTEN: Mutex<Vec<(Level, String)>> = Mutex::new(Vec::new());

    #[test]
    fn each_event_is_a_line_of_json_with_its_level_and_its_fields() {
        let write = |level, line: &str| WRITTEN.lock().unwrap().push((level, line.to_owned()));
        assert_eq!(write_lines(write), Ok(()));
        assert_eq!(write_lines(|_, _| ()), Err(Taken));
        tracing::info!(target: "nearcall::audit", event = "bound", name = "a\n\"b\"", uid = 7);
        tracing::warn!(unsaid = 3, "no room");
        let written = WRITTEN.lock().unwrap();
        let levels: Vec<Level> = written.iter().map(|(level, _)| *level).collect();
        assert_eq!(levels, [Level::INFO, Level::WARN]);
        let lines: Vec<serde_json::Value> =
            written.iter().map(|(_, line)| serde_json::from_str(line).unwrap()).collect();
        assert!(written.iter().all(|(_, line)| !line.contains('\n')));
        assert_eq!(lines[0]["target"], "nearcall::audit");
        assert_eq!(lines[0]["name"], "a\n\"b\"");
        assert_eq!(lines[0]["uid"], 7);
        assert_eq!((&lines[1]["message"], &lines[1]["unsaid"]), (&"no room".into(), &3.into()));
        assert!(lines.iter().all(|line| line["timestamp"].is_string()));
    }
}
