//! `editor FILE`: edits a file as lines of standard input say, in three domains.
//!
//! The editor calls a window manager and a file-cache manager, which it starts: this program once
//! more, each in a process of its own. `README.md` shows a session.

#![forbid(unsafe_code)]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use nearcall::Domain;

include!(concat!(env!("OUT_DIR"), "/windows.rs"));
include!(concat!(env!("OUT_DIR"), "/file_cache.rs"));

mod domains;
mod editor;
mod file_cache_manager;
mod owned;
mod queue;
mod text;
mod view;
mod window_manager;

use domains::{Role, Server};
use editor::Editor;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["serve", role, names, files] => serve(role, Path::new(names), Path::new(files)),
        [file] => edit(Path::new(file)),
        _ => Err("usage: editor FILE".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", arguments.get(1).unwrap_or(&"editor"));
            ExitCode::FAILURE
        }
    }
}

fn serve(role: &str, names: &Path, files: &Path) -> Result<(), Box<dyn Error>> {
    let role = Role::named(role).ok_or_else(|| format!("there is no role {role:?}"))?;
    role.serve(names, files)
}

fn edit(file: &Path) -> Result<(), Box<dyn Error>> {
    let directory = match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let names = tempfile::tempdir()?;
    let start = |role| Server::start(role, names.path(), directory);
    let servers = [start(Role::WindowManager)?, start(Role::FileCacheManager)?];
    for server in &servers {
        eprintln!("editor: the {} is process {}", server.role().name(), server.process());
    }
    let outcome = edit_with(names.path(), file);
    for server in servers {
        let role = server.role().name();
        let status = server.end()?;
        if !status.success() {
            eprintln!("editor: the {role} ended: {status}");
        }
    }
    Ok(outcome?)
}

/// With servers that are there.
fn edit_with(names: &Path, file: &Path) -> Result<(), String> {
    let domain = Domain::new().map_err(|error| error.to_string())?;
    let editor = Editor::new(&domain, names, file).map_err(|error| error.to_string())?;
    let edited = nearcall_threads::run(move || editor.edit());
    edited.map_err(|error| error.to_string())?
}
