//! The editor: FastThreads of one processor, each of which calls as if nobody else were there.
//!
//! ```text
//!  commands ──▶ text ──rows──▶ display ──▶ window manager
//!     ▲           └───splices─▶ file ────▶ file-cache manager
//!  standard input
//! ```
//!
//! While one of them waits for a reply, the others run: that is all there is to it.

use std::error::Error;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nearcall::{Binding, Domain};
use nearcall_threads::{block, fork, named};

use crate::domains::{Role, import_options};
use crate::file_cache::{FILE_CACHE, FileCacheClient, FileId, PIECE_BYTES_MAX};
use crate::queue::Queue;
use crate::text::{Command, Splice, Text};
use crate::view::{ROWS, Row, View};
use crate::windows::{WINDOWS, WindowsClient};

/// A file that is being edited.
#[derive(Debug)]
pub struct Editor {
    name: String,
    path: PathBuf,
    windows: WindowsClient,
    files: FileCacheClient,
    rows: Queue<Row>,
    changes: Queue<Change>,
    /// For each that saves: whether it was.
    saved: Queue<bool>,
}

/// Something to be done to the file.
#[derive(Debug)]
enum Change {
    Splice(Splice),
    Save,
}

/// What is over, and how it went.
type Outcome = Result<(), String>;

impl Editor {
    /// Binds to both servers.
    pub fn new(domain: &Domain, names: &Path, file: &Path) -> Result<Editor, Box<dyn Error>> {
        let import = |role: Role, interface| {
            Binding::import_with(domain, role.name(), interface, import_options(names))
        };
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| format!("{} is no name of a file", file.display()))?;
        Ok(Editor {
            name: name.to_owned(),
            path: file.to_owned(),
            windows: WindowsClient::new(import(Role::WindowManager, &WINDOWS)?),
            files: FileCacheClient::new(import(Role::FileCacheManager, &FILE_CACHE)?),
            rows: Queue::new(),
            changes: Queue::new(),
            saved: Queue::new(),
        })
    }

    /// Edits the file as what is typed says, on the FastThread that calls.
    ///
    /// # Errors: what could not be done.
    pub fn edit(self) -> Outcome {
        let editor = Arc::new(self);
        let (file, text) = editor.open()?;
        let on_file = Arc::clone(&editor);
        let on_display = Arc::clone(&editor);
        let file = named("file").fork(move || on_file.keep(file)).map_err(said)?;
        let display = named("display").fork(move || on_display.display()).map_err(said)?;
        let text = editor.obey(text);
        editor.rows.end();
        editor.changes.end();
        let shown = display.join().map_err(said)?;
        let kept = file.join().map_err(said)?;
        kept.map_err(|error| format!("{error}\n{}", rescue(&editor.path, &text)))?;
        shown
    }

    /// Reads the file, all pieces at once: each by a FastThread of its own.
    fn open(self: &Arc<Self>) -> Result<(FileId, Text), String> {
        let opened = self.files.open(&self.name);
        let (file, bytes) =
            opened.map_err(|error| format!("cannot open {:?}: {error}", self.name))?;
        let piece = |offset| {
            let editor = Arc::clone(self);
            fork(move || {
                let mut piece = Vec::new();
                let read = editor.files.read(file, offset, PIECE_BYTES_MAX, &mut piece);
                read.map(|()| piece).map_err(said)
            })
        };
        let pieces: Vec<_> = (0..bytes).step_by(PIECE_BYTES_MAX as usize).map(piece).collect();
        let mut read = Vec::new();
        for piece in pieces {
            read.extend(piece.map_err(said)?.join().map_err(said)??);
        }
        let text = String::from_utf8(read).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            format!("cannot edit {:?}: byte {at} is no UTF-8", self.name)
        })?;
        Ok((file, Text(text)))
    }

    /// Does what is typed until it is over; the text as it is then.
    fn obey(&self, mut text: Text) -> Text {
        let mut view = View::new();
        let mut status = self.status(&text, "");
        loop {
            self.draw(&mut view, &status, &text);
            let command = match next_line().as_deref().map(Command::parse) {
                None => Command::Quit,
                Some(Ok(command)) => command,
                Some(Err(refused)) => {
                    status = self.status(&text, &refused);
                    continue;
                }
            };
            status = match text.apply(&command) {
                Ok(Some(splice)) => {
                    self.changes.push(Change::Splice(splice));
                    self.status(&text, "")
                }
                Ok(None) => {
                    self.changes.push(Change::Save);
                    let is_saved = self.saved.pop() == Some(true);
                    self.status(&text, if is_saved { "Saved." } else { "Not saved." })
                }
                Err(refused) => self.status(&text, &refused),
            };
            match command {
                Command::Change(line, _) | Command::Insert(line, _) | Command::Delete(line) => {
                    view.show(line);
                }
                Command::Save => {}
                Command::Quit => break,
            }
        }
        self.draw(&mut view, &status, &text);
        text
    }

    fn draw(&self, view: &mut View, status: &str, text: &Text) {
        view.update(status, text).into_iter().for_each(|row| self.rows.push(row));
    }

    fn status(&self, text: &Text, news: &str) -> String {
        let lines = text.count();
        format!("{}: {lines} lines, {} bytes. {news}", self.name, text.0.len())
    }

    /// Draws what is to be drawn, as long as somebody draws.
    fn display(&self) -> Outcome {
        let outcome = self.draw_all();
        if let Err(error) = &outcome {
            eprintln!("editor: {error}: nothing is drawn any more, the file is kept all the same");
            // Nobody else empties it.
            while self.rows.pop().is_some() {}
        }
        outcome
    }

    fn draw_all(&self) -> Outcome {
        let window = self.windows.open(&self.name, ROWS).map_err(no_windows)?;
        while let Some(Row { row, text }) = self.rows.pop() {
            self.windows.draw(window, row, &text).map_err(no_windows)?;
        }
        self.windows.close(window).map_err(no_windows)
    }

    /// Keeps the file as it is edited.
    fn keep(&self, file: FileId) -> Outcome {
        let outcome = self.keep_all(file);
        if let Err(error) = &outcome {
            eprintln!("editor: {error}: what is typed from now on is not in the file");
            while let Some(change) = self.changes.pop() {
                if let Change::Save = change {
                    self.saved.push(false);
                }
            }
        }
        outcome
    }

    fn keep_all(&self, file: FileId) -> Outcome {
        while let Some(change) = self.changes.pop() {
            match change {
                Change::Splice(splice) => self.splice(file, &splice)?,
                Change::Save => {
                    let saved = self.files.save(file);
                    self.saved.push(saved.is_ok());
                    saved.map_err(no_files)?;
                }
            }
        }
        self.files.close(file).map_err(no_files)
    }

    fn splice(&self, file: FileId, splice: &Splice) -> Outcome {
        let (offset, bytes) = (splice.offset as u32, splice.bytes as u32);
        let replaced = self.files.replace(file, offset, bytes, splice.inserted.as_bytes());
        replaced.map_err(no_files)
    }
}

fn said(error: impl Display) -> String {
    error.to_string()
}

fn no_windows(error: impl Display) -> String {
    format!("the window manager fails: {error}")
}

fn no_files(error: impl Display) -> String {
    format!("the file-cache manager fails: {error}")
}

/// The next line that is typed; other FastThreads run until it is there.
fn next_line() -> Option<String> {
    let read = block(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|bytes| (bytes > 0).then_some(line))
    });
    let line = match read {
        Ok(Ok(line)) => line?,
        Ok(Err(error)) | Err(error) => {
            eprintln!("editor: what is typed cannot be read: {error}");
            return None;
        }
    };
    Some(line.trim_end_matches('\n').to_owned())
}

/// Nobody keeps the file: leaves the text beside it.
fn rescue(file: &Path, text: &Text) -> String {
    let beside = format!("{}.rescued", file.display());
    match std::fs::write(&beside, &text.0) {
        Ok(()) => format!("the text is in {beside}"),
        Err(error) => format!("the text is lost: {beside}: {error}"),
    }
}
