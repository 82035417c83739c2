//! What the threads of a process do, as the system tells: counts, not times.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use rustix::io::Errno;

/// What the system has counted of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Its name, of up to 15 bytes.
    pub name: String,
    /// What it has used of processors, in the kernel's ticks.
    pub ticks: u64,
    /// How often it has waited.
    pub voluntary_switches: u64,
}

/// What a machine lacks whose system does not tell.
pub const TOLD: &str = "counts in /proc of how often threads wait";

/// How often a thread has waited, in its `status`.
const SWITCHES: &str = "voluntary_ctxt_switches:";

/// Whether the system tells, as it does of the thread that asks.
pub fn is_told() -> bool {
    fs::read_to_string("/proc/thread-self/status").is_ok_and(|status| status.contains(SWITCHES))
}

/// Of each thread of a process, by its number.
///
/// # Panics: the process has gone, or the system does not tell.
pub fn activity(pid: u32) -> BTreeMap<String, Activity> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("a process that is there");
    let threads = threads.map(|thread| thread.expect("it can be listed").path());
    let each = threads.filter_map(|path| {
        let id = path.file_name().expect("its number").to_string_lossy().into_owned();
        of_thread(&path).map(|activity| (id, activity))
    });
    each.collect()
}

/// Of the thread of a directory; `None` if it has ended since that was listed.
fn of_thread(path: &Path) -> Option<Activity> {
    let (stat, status) = (read(&path.join("stat"))?, read(&path.join("status"))?);
    let (_, fields) = stat.rsplit_once(") ").expect("fields behind the name");
    // utime and stime are fields 14 and 15; the state, which follows the name, is field 3.
    let ticks = fields.split(' ').skip(11).take(2);
    let ticks = ticks.map(|field| field.parse::<u64>().expect("ticks")).sum();
    let field = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name));
        value.unwrap_or_else(|| panic!("no {name} of a thread in {status}")).trim()
    };
    let voluntary_switches = field(SWITCHES).parse().expect("a count");
    Some(Activity { name: field("Name:").to_owned(), ticks, voluntary_switches })
}

/// A file of a thread, unless that has ended.
fn read(path: &Path) -> Option<String> {
    match fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if has_ended(&error) => None,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// Its files are gone, or are open still and have nobody to tell of.
fn has_ended(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn a_thread_that_has_ended_is_left_out_and_hides_no_other() {
        if !is_told() {
            return lacking::lacking(TOLD);
        }
        let (say, said) = mpsc::channel();
        let (end, ends) = mpsc::channel::<()>();
        let ended = thread::spawn(move || {
            say.send(rustix::thread::gettid().as_raw_nonzero()).unwrap();
            let _ = ends.recv();
        });
        let id = said.recv().unwrap();
        let path = format!("/proc/self/task/{id}");
        assert!(of_thread(Path::new(&path)).is_some());
        drop(end);
        ended.join().unwrap();
        // Whoever waits for it is told before it is gone.
        while Path::new(&path).exists() {
            thread::yield_now();
        }
        assert_eq!(of_thread(Path::new(&path)), None);
        let all = activity(std::process::id());
        assert!(all.contains_key(&std::process::id().to_string()), "{all:?}");
        assert!(!all.contains_key(&id.to_string()), "{all:?}");
    }

    #[test]
    #[should_panic(expected = "a process that is there")]
    fn a_process_that_has_gone_is_told_of() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        activity(child.id());
    }
}
