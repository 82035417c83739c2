//! `cargo xtask kernel`: tests under another kernel, which an emulator boots.
//!
//! ```text
//!   this machine                             emulated machine
//!   /, read only ────────── 9p ───────────▶  what is written goes to memory (overlay)
//!   programs of the tests, as cargo has      `kernel/init.sh` runs one after another, each in its
//!   made them for that architecture          package's directory, and says which have failed
//! ```
//!
//! It emulates every instruction, so that a test takes ten to fifty times as long: nothing that is
//! measured there means anything.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::Message;

use crate::step::{self, Failed};

/// Whose tests meet the kernel.
const PACKAGES: [&str; 4] = ["nearcall-os", "nearcall", "nearcall-threads", "testkit"];

/// Programs of theirs that do not, and take an hour there, models and tests of the campaign's rows;
/// and those that hold times against each other.
const NOT_RUN: [&str; 8] = [
    "model",
    "schedules",
    "interpreted",
    "testkit",
    "fairness",
    "reallocation",
    "spinning",
    "waits",
];

/// What the emulated machine loads before it sees the files of this one.
const MODULES: [&str; 5] = ["virtio_pci", "virtio_mmio", "9pnet_virtio", "9p", "overlay"];

/// The first program there.
const INIT: &str = include_str!("kernel/init.sh");

/// Says that all programs of the tests were run.
const AT_THE_END: &str = "all have run";

/// Said of a program of tests that failed.
const HAS_FAILED: &str = "failed: ";

/// An emulated machine.
struct Machine {
    emulator: &'static str,
    arguments: &'static [&'static str],
    console: &'static str,
    /// What cargo calls it.
    target: &'static str,
    /// Whose files it sees as its own.
    sysroot: &'static str,
}

const X86_64: Machine = Machine {
    emulator: "qemu-system-x86_64",
    arguments: &["-cpu", "max"],
    console: "ttyS0",
    target: "x86_64-unknown-linux-gnu",
    sysroot: "",
};

const AARCH64: Machine = Machine {
    emulator: "qemu-system-aarch64",
    arguments: &["-machine", "virt", "-cpu", "max,pauth-impdef=on"],
    console: "ttyAMA0",
    target: "aarch64-unknown-linux-gnu",
    sysroot: "/usr/aarch64-linux-gnu",
};

/// A program of tests, and the directory of its package.
struct Program {
    name: String,
    executable: PathBuf,
    directory: PathBuf,
}

/// Runs tests under the kernel that `unpacked` has: what packages of a kernel, of its modules and
/// of a static busybox, all for one architecture, were unpacked to. `only`: of all programs of
/// tests these, if it names any.
pub fn run(root: &Path, unpacked: &Path, only: &[String]) -> Result<(), Failed> {
    let modules = version_of_modules(unpacked)?;
    let is_arm = modules.join("kernel/arch/arm64").exists();
    let machine = if is_arm { &AARCH64 } else { &X86_64 };
    let programs = programs(root, machine, only)?;
    let work = root.join("target/kernel");
    let archive = work.join("initramfs");
    fill(&work.join("root"), unpacked, &modules, &programs)?;
    pack(&work.join("root"), &archive)?;

    let said = RefCell::new(Said::default());
    let command = emulator(root, machine, &kernel(unpacked)?, &archive);
    let hear = step::summed(|line| said.borrow_mut().hear(line));
    step::counted(command, "tests", hear).and(said.into_inner().judge())
}

/// What the emulated machine has said of its programs.
#[derive(Default)]
struct Said {
    failed: Vec<String>,
    is_over: bool,
}

impl Said {
    /// How many tests the line says have passed.
    fn hear(&mut self, line: &str) -> usize {
        self.failed.extend(line.strip_prefix(HAS_FAILED).map(str::to_owned));
        self.is_over |= line == AT_THE_END;
        step::tests_passed(line)
    }

    fn judge(self) -> Result<(), Failed> {
        if !self.failed.is_empty() {
            return Err(Failed(format!("failed there: {}", self.failed.join(", "))));
        }
        let early = || Failed("the emulated machine ended before all tests had run".to_owned());
        self.is_over.then_some(()).ok_or_else(early)
    }
}

/// The directory of modules in what was unpacked.
fn version_of_modules(unpacked: &Path) -> Result<PathBuf, Failed> {
    let found = ["lib/modules", "usr/lib/modules"].iter().find_map(|place| {
        let mut entries = fs::read_dir(unpacked.join(place)).ok()?;
        entries.find_map(|entry| Some(entry.ok()?.path()))
    });
    found.ok_or_else(|| Failed(format!("{} has no kernel's modules", unpacked.display())))
}

fn kernel(unpacked: &Path) -> Result<PathBuf, Failed> {
    let mut entries = fs::read_dir(unpacked.join("boot")).map_err(at(&unpacked.join("boot")))?;
    let is_kernel = |path: &PathBuf| path.to_string_lossy().contains("/vmlinuz-");
    let found = entries.find_map(|entry| Some(entry.ok()?.path()).filter(is_kernel));
    found.ok_or_else(|| Failed(format!("{} has no boot/vmlinuz-*", unpacked.display())))
}

/// Has cargo make the programs.
fn programs(root: &Path, machine: &Machine, only: &[String]) -> Result<Vec<Program>, Failed> {
    let mut arguments = vec!["test", "--no-run", "--message-format=json-render-diagnostics"];
    PACKAGES.iter().for_each(|package| arguments.extend(["--package", package]));
    if machine.target != X86_64.target {
        arguments.extend(["--target", machine.target]);
    }
    let mut cargo = step::cargo(root, &arguments);
    cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
    let output = run_to_end(cargo.stderr(Stdio::inherit()))?;
    let programs = Message::parse_stream(&output[..]).filter_map(|message| match message {
        Ok(Message::CompilerArtifact(artifact)) if artifact.profile.test => Some(Program {
            name: artifact.target.name.clone(),
            executable: artifact.executable?.into_std_path_buf(),
            directory: artifact.manifest_path.parent()?.as_std_path().to_path_buf(),
        }),
        _ => None,
    });
    choose(programs.collect(), only)
}

fn choose(programs: Vec<Program>, only: &[String]) -> Result<Vec<Program>, Failed> {
    let is_there = |name: &String| programs.iter().any(|program| program.name == *name);
    if let Some(name) = only.iter().find(|name| !is_there(name)) {
        let mut names: Vec<_> = programs.iter().map(|program| program.name.as_str()).collect();
        names.sort_unstable();
        return Err(Failed(format!("no program of tests is {name:?}, of {}", names.join(", "))));
    }
    let is_wanted = |program: &Program| match only.is_empty() {
        true => !NOT_RUN.contains(&program.name.as_str()),
        false => only.contains(&program.name),
    };
    Ok(programs.into_iter().filter(is_wanted).collect())
}

/// What the emulated machine begins with: the first program, a shell, modules, and the list.
fn fill(begin: &Path, unpacked: &Path, modules: &Path, programs: &[Program]) -> Result<(), Failed> {
    let _ = fs::remove_dir_all(begin);
    for directory in ["bin", "dev", "host", "modules", "new", "proc", "sys", "written"] {
        fs::create_dir_all(begin.join(directory)).map_err(at(begin))?;
    }
    let shell = ["bin/busybox", "usr/bin/busybox"].map(|place| unpacked.join(place));
    let shell = shell.iter().find(|place| place.exists());
    let shell = shell.ok_or_else(|| Failed(format!("{} has no busybox", unpacked.display())))?;
    fs::copy(shell, begin.join("bin/busybox")).map_err(at(shell))?;
    write(&begin.join("init"), INIT)?;
    run_to_end(Command::new("chmod").arg("755").arg(begin.join("init")))?;
    let line = |program: &Program| {
        let (executable, directory) = (&program.executable, &program.directory);
        format!("{} {} {}\n", program.name, directory.display(), executable.display())
    };
    write(&begin.join("tests"), &programs.iter().map(line).collect::<String>())?;
    load(unpacked, modules, &begin.join("modules"))
}

/// Puts modules there, and what each needs before it, numbered as they are to be loaded.
fn load(unpacked: &Path, modules: &Path, into: &Path) -> Result<(), Failed> {
    // Where the modules are in `usr`, it is that which is the root to these tools.
    let is_in_usr = modules.starts_with(unpacked.join("usr"));
    let base = if is_in_usr { unpacked.join("usr") } else { unpacked.to_path_buf() };
    let version = modules.file_name().unwrap_or_default();
    run_to_end(Command::new("depmod").arg("--basedir").arg(&base).arg(version))?;
    let mut shown = Command::new("modprobe");
    shown.arg("--dirname").arg(&base).arg("--set-version").arg(version);
    let output = run_to_end(shown.args(["--show-depends", "--all"]).args(MODULES))?;
    let mut seen = Vec::new();
    for line in String::from_utf8_lossy(&output).lines() {
        let Some(path) = line.strip_prefix("insmod ").map(str::trim) else { continue };
        if seen.iter().any(|other| other == path) {
            continue;
        }
        let unpacks = |program| run_to_end(Command::new(program).args(["-d", "-c", path]));
        let bytes = match Path::new(path).extension().and_then(OsStr::to_str) {
            Some("xz") => unpacks("xz")?,
            Some("zst") => unpacks("zstd")?,
            _ => fs::read(path).map_err(at(Path::new(path)))?,
        };
        let name = into.join(format!("{:03}.ko", seen.len()));
        fs::write(&name, bytes).map_err(at(&name))?;
        seen.push(path.to_owned());
    }
    Ok(())
}

fn pack(begin: &Path, archive: &Path) -> Result<(), Failed> {
    let found = run_to_end(Command::new("find").arg(".").current_dir(begin))?;
    let mut cpio = Command::new("cpio");
    cpio.args(["--create", "--quiet", "--format=newc"]).current_dir(begin);
    let file = fs::File::create(archive).map_err(at(archive))?;
    let child = cpio.stdin(Stdio::piped()).stdout(file).spawn();
    let mut child = child.map_err(|error| Failed(format!("`cpio` did not start: {error}")))?;
    let mut names = child.stdin.take().expect("it is piped");
    let written = names.write_all(&found);
    drop(names);
    match (written, child.wait()) {
        (Ok(()), Ok(status)) if status.success() => Ok(()),
        (written, status) => Err(Failed(format!("`cpio` failed: {written:?}, {status:?}"))),
    }
}

fn emulator(root: &Path, machine: &Machine, kernel: &Path, archive: &Path) -> Command {
    let mut command = Command::new(machine.emulator);
    command.args(machine.arguments).args(["-accel", "tcg,thread=multi"]);
    command.args(["-smp", "2", "-m", "3G", "-nographic", "-no-reboot"]);
    command.arg("-kernel").arg(kernel).arg("-initrd").arg(archive);
    let files = "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap";
    command.args(["-virtfs", files, "-append"]);
    let Machine { console, sysroot, .. } = machine;
    command.arg(format!(
        "console={console} quiet panic=-1 mitigations=off SYSROOT={sysroot} WORKSPACE={}",
        root.display()
    ));
    command.stdin(Stdio::null());
    command
}

/// Its standard output.
fn run_to_end(command: &mut Command) -> Result<Vec<u8>, Failed> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output();
    let output = output.map_err(|error| Failed(format!("`{program}` did not start: {error}")))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(Failed(format!("`{program}` failed ({}): {said}", output.status)))
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failed> {
    fs::write(path, text).map_err(at(path))
}

fn at(path: &Path) -> impl Fn(io::Error) -> Failed {
    move |error| Failed(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(lines: &[&str]) -> (usize, Result<(), String>) {
        let mut said = Said::default();
        let passed = lines.iter().map(|line| said.hear(line)).sum();
        (passed, said.judge().map_err(|failed| failed.0))
    }

    #[test]
    fn a_machine_that_ends_early_or_a_program_that_fails_has_not_passed() {
        let (passed, failed) = ("test result: ok. 3 passed; 0 failed", "failed: forks");
        assert_eq!(judged(&["==> forks", passed, AT_THE_END]), (3, Ok(())));
        let early = "the emulated machine ended before all tests had run".to_owned();
        assert_eq!(judged(&["==> forks", passed]), (3, Err(early)));
        let said = "failed there: forks".to_owned();
        assert_eq!(judged(&[passed, failed, AT_THE_END]), (3, Err(said)));
    }

    #[test]
    fn a_program_that_there_is_not_is_named() {
        let program = |name: &str| Program {
            name: name.to_owned(),
            executable: PathBuf::new(),
            directory: PathBuf::new(),
        };
        let chosen = |only: &[&str]| {
            let only: Vec<_> = only.iter().map(|name| (*name).to_owned()).collect();
            let programs = ["forks", "waits", "model"].map(program).into();
            let chosen = choose(programs, &only).map_err(|failed| failed.0)?;
            Ok(chosen.into_iter().map(|program| program.name).collect::<Vec<_>>())
        };
        let names = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(chosen(&[]), names(&["forks"]));
        assert_eq!(chosen(&["waits"]), names(&["waits"]));
        let unknown = "no program of tests is \"fork\", of forks, model, waits".to_owned();
        assert_eq!(chosen(&["waits", "fork"]), Err::<Vec<String>, _>(unknown));
    }
}
