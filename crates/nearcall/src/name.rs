//! The name server, which is the file system: an exported interface is a socket file.
//!
//! ```text
//! user scope      $XDG_RUNTIME_DIR/nearcall/acme/kv.socket     0700, the user's own
//! system scope    /run/nearcall/acme/kv.socket                 0755, root's
//! ```
//!
//! No daemon, no abstract socket, nothing left behind but the file of a server that was killed,
//! which the next export replaces (RELIABILITY 1.2: a name must not be squatted or outlive its
//! permissions).

use std::path::{Path, PathBuf};

use crate::error::NameError;

/// Longest path of a socket, bytes: what `sun_path` holds, less its end.
pub const PATH_BYTES_MAX: usize = 107;

/// Where names are looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `$XDG_RUNTIME_DIR/nearcall`.
    User,
    /// `/run/nearcall`.
    System,
    /// A directory of one's own choice. An export makes it if it is not there, for its own user
    /// alone: others may be let in by a policy, and have to be let into the directory as well.
    Directory(PathBuf),
}

/// Where an export goes when nobody says: the user scope if there is one, else, for root, the
/// system scope.
pub fn default_scope() -> Result<Scope, NameError> {
    match user_directory() {
        Some(_) => Ok(Scope::User),
        None if nearcall_os::peer::effective_uid() == 0 => Ok(Scope::System),
        None => Err(NameError::NoScope),
    }
}

/// Where an import looks, in order, when nobody says.
pub fn default_search() -> Vec<Scope> {
    let user = user_directory().map(|_| Scope::User);
    user.into_iter().chain([Scope::System]).collect()
}

/// The socket file of `name`.
pub fn socket_path(scope: &Scope, name: &str) -> Result<PathBuf, NameError> {
    check(name)?;
    let path = scope.directory()?.join(format!("{name}.socket"));
    let path_bytes = path.as_os_str().len();
    if path_bytes > PATH_BYTES_MAX {
        let name = name.to_owned();
        return Err(NameError::TooLong { name, path_bytes, limit: PATH_BYTES_MAX });
    }
    Ok(path)
}

impl Scope {
    /// The directory that the scope's names lie in.
    pub fn directory(&self) -> Result<PathBuf, NameError> {
        match self {
            Scope::User => user_directory().ok_or(NameError::NoScope),
            Scope::System => Ok(Path::new("/run/nearcall").to_owned()),
            Scope::Directory(directory) => Ok(directory.clone()),
        }
    }

    /// Permission bits of directories made for the scope.
    pub(crate) fn directory_mode(&self) -> u32 {
        if *self == Scope::System { 0o755 } else { 0o700 }
    }
}

fn user_directory() -> Option<PathBuf> {
    let runtime = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR")?);
    runtime.is_absolute().then(|| runtime.join("nearcall"))
}

fn check(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    for part in name.split('/') {
        if matches!(part, "" | "." | "..") || !part.chars().all(is_plain) {
            return Err(NameError::Part { name: name.to_owned(), part: part.to_owned() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> Result<PathBuf, NameError> {
        socket_path(&Scope::System, name)
    }

    #[test]
    fn a_name_is_a_socket_below_its_scope() {
        assert_eq!(path("acme/kv"), Ok(PathBuf::from("/run/nearcall/acme/kv.socket")));
    }

    #[test]
    fn an_empty_name_is_refused() {
        assert_eq!(path(""), Err(NameError::Empty));
    }

    #[test]
    fn a_name_that_climbs_is_refused_with_the_part() {
        for name in ["a/../b", "..", "/a", "a/", "a//b", "a/./b", "a b", "a\0b"] {
            let refused = path(name).unwrap_err();
            assert!(matches!(&refused, NameError::Part { name: n, .. } if n == name), "{name}");
        }
        let refused = path("a/../b").unwrap_err().to_string();
        assert!(refused.starts_with(r#"name "a/../b" has part "..": "#), "{refused}");
    }

    #[test]
    fn a_path_over_the_limit_is_refused_with_both_lengths() {
        let room = PATH_BYTES_MAX - "/run/nearcall/.socket".len();
        assert!(path(&"n".repeat(room)).is_ok());
        let name = "n".repeat(room + 1);
        let refused = NameError::TooLong { name: name.clone(), path_bytes: 108, limit: 107 };
        assert_eq!(path(&name), Err(refused));
    }
}
