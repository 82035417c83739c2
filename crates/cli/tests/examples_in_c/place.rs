//! A directory with what is installed, and with an example that is made against it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lacking::lacking;
use tempfile::TempDir;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// What a `Makefile` of an example calls.
const TOOLS: [&str; 4] = ["make", "pkg-config", "cc", "g++"];

/// The directory of the programs, and how commands are run in it.
pub struct Place {
    own: TempDir,
}

impl Place {
    /// Installs, and makes what the example's `Makefile` makes; without what that takes there is
    /// none.
    pub fn with(example: &str, sources: &[&str]) -> Option<Place> {
        if !TOOLS.into_iter().all(is_there) {
            return None;
        }
        let place = Place { own: TempDir::new().unwrap() };
        let test = std::env::current_exe().unwrap();
        let root = xtask::step::root();
        let library = xtask::install::install(&root, test.parent().unwrap(), &place.prefix());
        let program = Path::new(env!("CARGO_BIN_EXE_nearcall"));
        let compiler = xtask::install::install_compiler(program, &place.prefix());
        let count = library.and_then(|library| Ok(library + compiler?));
        println!("{} files installed", count.unwrap_or_else(|failed| panic!("{failed}")));
        fs::create_dir(place.programs()).unwrap();
        let example = Path::new(EXAMPLES).join(example);
        for name in sources {
            fs::copy(example.join(name), place.programs().join(name)).unwrap();
        }
        let (said, is_made) = place.told("make CFLAGS='-O2 -Wall -Wextra -Werror'");
        assert!(is_made, "{said}");
        Some(place)
    }

    fn prefix(&self) -> PathBuf {
        self.own.path().join("prefix")
    }

    pub fn programs(&self) -> PathBuf {
        self.own.path().join("programs")
    }

    /// A command of a shell there.
    pub fn shell(&self, words: &str) -> Command {
        let mut path = self.prefix().join("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec 2>&1; {words}")]).current_dir(self.programs());
        command.env("PATH", path).env("XDG_RUNTIME_DIR", self.own.path());
        // Where what is killed leaves its names.
        command.env("TMPDIR", self.own.path());
        command.env("PKG_CONFIG_PATH", self.prefix().join("lib/pkgconfig"));
        command
    }

    /// What it says, on both outputs, and whether it ended well.
    pub fn told(&self, words: &str) -> (String, bool) {
        let output = self.shell(words).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status.success())
    }
}

/// What an example's README has.
pub fn readme(example: &str) -> String {
    fs::read_to_string(Path::new(EXAMPLES).join(example).join("README.md")).unwrap()
}

fn is_there(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        lacking(tool);
    }
    found
}
