//! `cargo xtask install --prefix DIR`: libnearcall, its headers, what pkg-config and CMake find it
//! by, the options that .proto files import, and the compiler. What is installed knows no path but
//! relative ones: it can be packed, and moved.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::step::{self, Failed};

/// Of what is installed.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Before 1.0 every second number is another ABI; the same name is in the library (`build.rs` of
/// `crates/c`).
pub const SONAME: &str = concat!(
    "libnearcall.so.",
    env!("CARGO_PKG_VERSION_MAJOR"),
    ".",
    env!("CARGO_PKG_VERSION_MINOR")
);

/// What a program that links libnearcall.a needs besides: `rustc --print native-static-libs`, but
/// for what unwinds. Compilers bring that themselves, the one that fits: `gcc_s` is shared alone.
const SYSTEM_LIBRARIES: &[&str] = &["util", "rt", "pthread", "m", "dl", "c"];

const PKG_CONFIG: &str = include_str!("install/nearcall.pc");
const CMAKE: &str = include_str!("install/nearcall-config.cmake");
const CMAKE_VERSION: &str = include_str!("install/nearcall-config-version.cmake");

/// Builds the library and the compiler for release and installs both.
pub fn run(root: &Path, prefix: &Path) -> Result<(), Failed> {
    let build = ["build", "--release", "--package", "nearcall-c", "--package", "nearcall-cli"];
    let build = [&build[..], &["--message-format=json-render-diagnostics"]].concat();
    step::counted(step::cargo(root, &build), "targets", step::targets_of(root))?;
    let built = root.join("target/release");
    let count = install(root, &built, prefix)? + install_compiler(&built.join("nearcall"), prefix)?;
    println!("{count} files below {}", prefix.display());
    Ok(())
}

/// Installs the program `nearcall`; how many files that were.
pub fn install_compiler(program: &Path, prefix: &Path) -> Result<usize, Failed> {
    place(prefix, "bin/nearcall", &copy(program.to_owned()))?;
    Ok(1)
}

/// Installs the library that cargo has left in `built`; how many files that were.
pub fn install(root: &Path, built: &Path, prefix: &Path) -> Result<usize, Failed> {
    let mut count = 0;
    let mut place = |path: &str, write: &dyn Fn(&Path) -> io::Result<()>| {
        count += 1;
        place(prefix, path, write)
    };
    place(&format!("lib/{SONAME}"), &copy(built.join("libnearcall_c.so")))?;
    place("lib/libnearcall.so", &|to| symlink(SONAME, to))?;
    place("lib/libnearcall.a", &copy(built.join("libnearcall_c.a")))?;
    let own = ["", "_brief", "_codec", "_feed", "_layout", "_system_calls", "_time"]
        .map(|part| format!("nearcall{part}.h"));
    let wrappers =
        ["nearcall.hpp", "nearcall_calls.hpp", "nearcall_time.hpp", "nearcall_values.hpp"];
    for header in own.iter().map(String::as_str).chain(wrappers) {
        place(&format!("include/{header}"), &copy(root.join("crates/c/include").join(header)))?;
    }
    let options = "nearcall/options.proto";
    place(&format!("include/{options}"), &copy(root.join("crates/idl/proto").join(options)))?;
    for (path, template) in [
        ("lib/pkgconfig/nearcall.pc", PKG_CONFIG),
        ("lib/cmake/nearcall/nearcall-config.cmake", CMAKE),
        ("lib/cmake/nearcall/nearcall-config-version.cmake", CMAKE_VERSION),
    ] {
        place(path, &|to| fs::write(to, filled(template)))?;
    }
    Ok(count)
}

/// Has one file written where it belongs.
fn place(prefix: &Path, path: &str, write: &dyn Fn(&Path) -> io::Result<()>) -> Result<(), Failed> {
    let path = prefix.join(path);
    let directory = path.parent().expect("it stands in a directory");
    // A program may have the old library mapped: it is replaced, not written over.
    let written = fs::create_dir_all(directory).and_then(|()| match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => write(&path),
    });
    written.map_err(|error| Failed(format!("cannot install {}: {error}", path.display())))
}

fn copy(from: PathBuf) -> impl Fn(&Path) -> io::Result<()> {
    move |to| fs::copy(&from, to).map(|_| ())
}

fn filled(template: &str) -> String {
    let flags: Vec<String> = SYSTEM_LIBRARIES.iter().map(|name| format!("-l{name}")).collect();
    template
        .replace("@VERSION@", VERSION)
        .replace("@SONAME@", SONAME)
        .replace("@SERIES@", SONAME.trim_start_matches("libnearcall.so."))
        .replace("@SYSTEM_FLAGS@", &flags.join(" "))
        .replace("@SYSTEM_LIBRARIES@", &SYSTEM_LIBRARIES.join(";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_a_template_is_filled() {
        for template in [PKG_CONFIG, CMAKE, CMAKE_VERSION] {
            assert!(template.contains('@'), "{template}");
            assert!(!filled(template).contains('@'), "{}", filled(template));
        }
    }

    #[test]
    fn what_was_not_built_is_named() {
        let prefix = tempfile::tempdir().unwrap();
        let Failed(reason) = install(&step::root(), prefix.path(), prefix.path()).unwrap_err();
        assert!(reason.contains("cannot install") && reason.contains(SONAME), "{reason}");
    }
}
