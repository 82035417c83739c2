//! `files-server DIR [NAME]`: exports the files below a directory.

#![forbid(unsafe_code)]

use std::error::Error;

use files_example::Disk;
use files_example::file_server::FilesEntries;
use nearcall::{Clerk, Domain};

fn main() {
    if let Err(error) = serve() {
        eprintln!("files-server: {error}");
        std::process::exit(1);
    }
}

fn serve() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("usage: files-server DIR [NAME]")?;
    let name = arguments.next().unwrap_or_else(|| "files".to_owned());

    let domain = Domain::new()?;
    let disk = Disk::new(&directory)?;
    let clerk = Clerk::export(&domain, &name, FilesEntries::new(disk))?;

    println!("{directory} is exported as {name}, at {}", clerk.path().display());
    loop {
        std::thread::park();
    }
}
