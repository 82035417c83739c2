//! Which files are open, and whose they are.
//!
//! A number alone gives nothing: only the client that opened a file may use it. Knows no path.

use std::collections::HashMap;
use std::fs::File;
use std::sync::{Arc, Weak};

use nearcall::Importer;

use super::file_server::{FileId, OpenMode};

/// Most files that all clients together have open.
const FILES_MAX: usize = 1024;

/// The open files.
#[derive(Debug, Default)]
pub struct OpenFiles {
    files: HashMap<FileId, OpenFile>,
    last: FileId,
}

#[derive(Debug)]
struct OpenFile {
    file: Arc<File>,
    mode: OpenMode,
    client: Client,
}

/// Who calls. Lives no longer than its binding.
#[derive(Clone, Debug)]
pub struct Client(Option<Weak<Importer>>);

impl Client {
    /// Whoever made the call that this thread runs.
    pub fn current() -> Client {
        Client(nearcall::current_call().map(|call| Arc::downgrade(call.importer())))
    }

    fn is_gone(&self) -> bool {
        self.0.as_ref().is_some_and(|importer| importer.strong_count() == 0)
    }

    fn is(&self, other: &Client) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => one.ptr_eq(other),
            (None, None) => true,
            _ => false,
        }
    }
}

impl OpenFiles {
    /// Takes a file in; `None` if there are too many. Files of clients that are gone are closed.
    pub fn insert(&mut self, file: File, mode: OpenMode, client: Client) -> Option<FileId> {
        self.files.retain(|_, open| !open.client.is_gone());
        if self.files.len() >= FILES_MAX {
            return None;
        }
        let free = |id: &FileId| !self.files.contains_key(id);
        let id = (1..).map(|step| self.last.wrapping_add(step)).find(free)?;
        self.files.insert(id, OpenFile { file: Arc::new(file), mode, client });
        self.last = id;
        Some(id)
    }

    /// The client's file of this number, opened this way.
    pub fn find(&self, id: FileId, mode: OpenMode, client: &Client) -> Option<Arc<File>> {
        let open = self.files.get(&id)?;
        (open.mode == mode && open.client.is(client)).then(|| Arc::clone(&open.file))
    }

    /// Closes the client's file of this number, once the calls that use it are done; false if it
    /// has none.
    pub fn remove(&mut self, id: FileId, client: &Client) -> bool {
        let is_theirs = self.files.get(&id).is_some_and(|open| open.client.is(client));
        is_theirs && self.files.remove(&id).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nobody() -> Client {
        Client(None)
    }

    fn null() -> File {
        File::open("/dev/null").unwrap()
    }

    #[test]
    fn a_number_is_not_given_twice() {
        let mut open = OpenFiles { last: FileId::MAX - 1, ..OpenFiles::default() };
        let mut insert = || open.insert(null(), OpenMode::Read, nobody());
        assert_eq!([insert(), insert(), insert()], [Some(FileId::MAX), Some(0), Some(1)]);
        open.last = FileId::MAX - 1;
        assert_eq!(open.insert(null(), OpenMode::Read, nobody()), Some(2));
    }

    #[test]
    fn a_client_has_no_file_of_another() {
        let mut open = OpenFiles::default();
        let other = Client(Some(Weak::new()));
        let id = open.insert(null(), OpenMode::Read, nobody()).unwrap();
        assert!(open.find(id, OpenMode::Read, &other).is_none());
        assert!(!open.remove(id, &other));
        assert!(open.find(id, OpenMode::Read, &nobody()).is_some());
    }

    #[test]
    fn the_files_of_a_client_that_is_gone_are_closed() {
        let mut open = OpenFiles::default();
        let gone = Client(Some(Weak::new()));
        let id = open.insert(null(), OpenMode::Read, gone).unwrap();
        open.insert(null(), OpenMode::Read, nobody());
        assert!(!open.files.contains_key(&id));
    }

    #[test]
    fn one_file_too_many_is_refused() {
        let mut open = OpenFiles::default();
        for _ in 0..FILES_MAX {
            assert!(open.insert(null(), OpenMode::Read, nobody()).is_some());
        }
        assert_eq!(open.insert(null(), OpenMode::Read, nobody()), None);
    }
}
