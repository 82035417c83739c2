//! What there is to copy, as the server lists it.
//!
//! Regular files and directories are copied. Everything else is counted and left out.

use std::fmt;

use super::files::file_server::{Entry, EntryKind};

use super::caller::{Caller, Refused};
use super::source::Source;
use crate::failure::Failure;

/// A tree, every path relative to its root.
#[derive(Debug, Default)]
pub struct Tree {
    /// Each after the one that it lies in.
    pub directories: Vec<String>,
    /// Regular files, in order.
    pub files: Vec<String>,
    /// How long all of them together were.
    pub bytes: u64,
    /// What is not copied.
    pub left_out: LeftOut,
}

/// What is not copied, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Symbolic links.
    pub links: u64,
    /// Sockets, pipes, devices, names that are not UTF-8.
    pub others: u64,
    /// What the server may not read.
    pub denied: u64,
    /// What was listed and gone when it was to be read.
    pub gone: u64,
}

/// Lists all that `caller` exports.
pub fn list(caller: &mut Caller, source: &Source) -> Result<Tree, Failure> {
    let mut tree = Tree::default();
    let mut waiting = vec![String::new()];
    while let Some(directory) = waiting.pop() {
        let entries = match caller.list(&directory) {
            Ok(entries) => entries,
            Err(Refused::NotFound) if !directory.is_empty() => {
                tree.left_out.gone += 1;
                continue;
            }
            Err(Refused::Denied(_)) if !directory.is_empty() => {
                tree.left_out.denied += 1;
                continue;
            }
            Err(refused) => {
                return Err(caller.failure("list", &directory, refused));
            }
        };
        // The one that is taken from the end next comes first.
        for entry in entries.into_iter().rev().filter(|entry| !source.leaves_out(&entry.name)) {
            tree.add(&directory, entry, &mut waiting)?;
        }
        if !directory.is_empty() {
            tree.directories.push(directory);
        }
        source.check_size(tree.bytes)?;
    }
    tree.files.sort();
    Ok(tree)
}

impl Tree {
    fn add(
        &mut self,
        directory: &str,
        entry: Entry,
        waiting: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let Entry { name, kind, bytes } = entry;
        let path = match directory {
            "" => name.clone(),
            directory => format!("{directory}/{name}"),
        };
        match kind {
            EntryKind::Symlink => self.left_out.links += 1,
            EntryKind::Other => self.left_out.others += 1,
            // What the server calls a name becomes part of a path of ours.
            _ if !is_name(&name) => {
                return Err(format!("the server listed {path:?}, which is no name").into());
            }
            EntryKind::File => {
                self.bytes = self.bytes.saturating_add(bytes);
                self.files.push(path);
            }
            EntryKind::Directory => waiting.push(path),
        }
        Ok(())
    }
}

impl LeftOut {
    /// Nothing was.
    pub fn is_none(&self) -> bool {
        *self == LeftOut::default()
    }

    /// Both together.
    pub fn plus(&self, other: &LeftOut) -> LeftOut {
        LeftOut {
            links: self.links + other.links,
            others: self.others + other.others,
            denied: self.denied + other.denied,
            gone: self.gone + other.gone,
        }
    }
}

fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.links, "symbolic links"),
            (self.others, "sockets, pipes, devices and names that are not UTF-8"),
            (self.denied, "not readable"),
            (self.gone, "gone meanwhile"),
        ];
        let parts = counts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<_> = parts.map(|(count, what)| format!("{what}: {count}")).collect();
        f.write_str(&parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: EntryKind) -> Entry {
        Entry { name: name.to_owned(), kind, bytes: 1 }
    }

    #[test]
    fn a_name_that_climbs_is_no_name() {
        for name in ["", ".", "..", "a/b", "/a", "a\0"] {
            let mut tree = Tree::default();
            let added = tree.add("d", entry(name, EntryKind::File), &mut Vec::new());
            assert!(added.is_err(), "{name:?}");
        }
    }

    #[test]
    fn links_and_others_are_counted_and_left_out() {
        let mut tree = Tree::default();
        let mut waiting = Vec::new();
        let kinds = [EntryKind::Symlink, EntryKind::Other, EntryKind::File, EntryKind::Directory];
        for (kind, name) in kinds.into_iter().zip(["a", "b", "c", "d"]) {
            tree.add("top", entry(name, kind), &mut waiting).unwrap();
        }
        assert_eq!((tree.files, tree.bytes), (vec!["top/c".to_owned()], 1));
        assert_eq!(waiting, ["top/d"]);
        let text = "symbolic links: 1; sockets, pipes, devices and names that are not UTF-8: 1";
        assert_eq!(tree.left_out.to_string(), text);
    }
}
