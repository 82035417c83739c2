//! Which machine, kernel and commit a table comes from.

use std::fmt;
use std::fs;
use std::process::Command;

use nearcall_os::processor;

/// What can be found out; what cannot is `None`.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    kernel: Option<String>,
    processor: Option<String>,
    commit: Option<String>,
    processors_allowed: Option<usize>,
}

impl Machine {
    /// This one.
    pub fn here() -> Machine {
        let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Machine {
            kernel: Machine::kernel(),
            processor: model_in(&processors),
            commit: commit(),
            processors_allowed: Some(processor::count_allowed()),
        }
    }

    /// The kernel's release.
    pub fn kernel() -> Option<String> {
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
        Some(release.trim().to_owned())
    }
}

/// Bytes that processes can still have, as far as the kernel tells.
pub fn memory_available_bytes() -> Option<u64> {
    available_in(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn available_in(memory: &str) -> Option<u64> {
    let line = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_unknown = |known: &Option<String>| known.clone().unwrap_or("unknown".to_owned());
        write!(f, "nearcall {}", env!("CARGO_PKG_VERSION"))?;
        write!(f, ", commit {}", or_unknown(&self.commit))?;
        write!(f, ", Linux {}", or_unknown(&self.kernel))?;
        write!(f, ", {}", or_unknown(&self.processor))?;
        let Some(count) = self.processors_allowed else { return Ok(()) };
        write!(f, ", {count} processors allowed")
    }
}

/// The processor's name in `/proc/cpuinfo`. Some architectures have none there.
fn model_in(processors: &str) -> Option<String> {
    let line = processors.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

/// The commit of the source tree, with a `+` if files differ from it.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-C", env!("CARGO_MANIFEST_DIR")]).args(arguments);
        let output = command.output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}+") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_has_the_name_that_the_kernel_gives_it() {
        let text = "processor\t: 0\nmodel name\t: AMD EPYC: 9R14\nmodel name\t: other\n";
        assert_eq!(model_in(text).as_deref(), Some("AMD EPYC: 9R14"));
        assert_eq!(model_in("processor\t: 0\n"), None);
    }

    #[test]
    fn available_memory_is_told_in_kib() {
        let text = "MemTotal:       64 kB\nMemAvailable:   24 kB\n";
        assert_eq!(available_in(text), Some(24 * 1024));
        assert_eq!(available_in("MemTotal:       64 kB\n"), None);
    }

    #[test]
    fn what_is_not_known_is_called_unknown() {
        let text = Machine::default().to_string();
        assert!(text.ends_with("commit unknown, Linux unknown, unknown"), "{text}");
    }
}
