//! `files-client NAME [PATH]`: lists a directory of the server that exports NAME, or shows a file.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::Write;

use files_example::file_server::{EntryKind, FilesClient, OpenMode, PIECE_BYTES_MAX};
use nearcall::Domain;

fn main() {
    if let Err(error) = show() {
        eprintln!("files-client: {error}");
        std::process::exit(1);
    }
}

fn show() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("usage: files-client NAME [PATH]")?;
    let path = arguments.next().unwrap_or_default();

    let domain = Domain::new()?;
    let files = FilesClient::import(&domain, &name)?;

    match files.stat(&path)?.kind {
        EntryKind::Directory => show_directory(&files, &path),
        _ => show_file(&files, &path),
    }
}

fn show_directory(files: &FilesClient, path: &str) -> Result<(), Box<dyn Error>> {
    for entry in files.list(path)? {
        println!("{:12} {:?} {}", entry.bytes, entry.kind, entry.name);
    }
    Ok(())
}

fn show_file(files: &FilesClient, path: &str) -> Result<(), Box<dyn Error>> {
    let file = files.open(path, OpenMode::Read)?;
    // The same vector for every piece: only the first call allocates.
    let mut piece = Vec::new();
    let mut offset = 0;
    loop {
        files.read(file, offset, PIECE_BYTES_MAX, &mut piece)?;
        if piece.is_empty() {
            break;
        }
        std::io::stdout().write_all(&piece)?;
        offset += piece.len() as u64;
    }
    files.close(file)?;
    Ok(())
}
