//! What a policy file is, before anybody looks what it says: a short regular file that nobody may
//! write but root and whoever reads it.

use std::fs::{Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;

/// Longest policy file, bytes: some ten thousand rules, which every importer is held against.
pub const FILE_BYTES_MAX: u64 = 1 << 20;

/// Looks what it is before it is opened, which a device may mind, and once more what was opened,
/// which waits for the writer of no FIFO. Whose it is, is asked of what is read: there may be
/// another one by that path by now.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let checked = |metadata: Metadata| match metadata.is_file() {
        true => Ok(metadata),
        false => Err(io::Error::other("it is no regular file")),
    };
    checked(std::fs::metadata(path)?)?;
    let at_once = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(at_once).open(path)?;
    let metadata = checked(file.metadata()?)?;
    let (owner, group, mode) = (metadata.uid(), metadata.gid(), metadata.mode());
    Writers { owner, group, mode }.check(geteuid().as_raw()).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    // It may grow meanwhile, or be one that does not know its length.
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    let length = metadata.len().max(read as u64);
    if length > FILE_BYTES_MAX {
        let reason = format!("it has {length} bytes; a policy has {FILE_BYTES_MAX} at most");
        return Err(io::Error::other(reason));
    }
    Ok(bytes)
}

/// Whom the kernel has no number for here owns it, or may: user namespaces have no numbers for
/// those whom they do not map.
const UNKNOWN_USER: u32 = 65_534;

/// Who says what is in a file. An access control list shows in the mode: it lets nobody do more
/// than the group is shown to do.
struct Writers {
    owner: u32,
    group: u32,
    mode: u32,
}

impl Writers {
    /// Whether that is nobody but root and the user `own`.
    fn check(&self, own: u32) -> Result<(), String> {
        let Writers { owner, group, mode } = *self;
        let ours = match own {
            0 | UNKNOWN_USER => "root owns a policy".to_owned(),
            own => format!("root or user {own}, as whom this process runs, owns a policy"),
        };
        if owner == UNKNOWN_USER {
            let nobody = "whom all are shown as that have no number here";
            return Err(format!("user {owner} owns it, {nobody}; {ours}"));
        }
        if owner != 0 && owner != own {
            return Err(format!("user {owner} owns it; {ours}"));
        }
        let mode = Mode::from_raw_mode(mode);
        let whose = match mode {
            mode if mode.contains(Mode::WOTH) => "everybody".to_owned(),
            mode if mode.contains(Mode::WGRP) => format!("group {group}"),
            _ => return Ok(()),
        };
        let bits = mode.bits();
        Err(format!(
            "it has mode {bits:04o}, so that {whose} may write it; its owner alone may (chmod go-w)"
        ))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;
    use crate::load;

    /// A file that nobody else may write, whatever the umask.
    pub fn own_file(name: &str, bytes: &[u8]) -> PathBuf {
        let name = format!("nearcall-policy-{name}-{}.toml", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    #[test]
    fn what_is_no_regular_file_is_not_read() {
        let directory = std::env::temp_dir();
        for path in [directory.as_path(), Path::new("/dev/null")] {
            let error = load(path).unwrap_err().to_string();
            assert_eq!(error, format!("{}: it is no regular file", path.display()));
        }
    }

    #[test]
    fn a_file_that_is_too_long_is_told_with_its_length_and_the_limit() {
        let path = own_file("long", b"# none\n");
        assert_eq!(load(&path).unwrap().rules, []);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        let error = load(&path).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        let says = "it has 1099511627776 bytes; a policy has 1048576 at most";
        assert_eq!(error, format!("{}: {says}", path.display()));
    }

    #[test]
    fn a_policy_is_root_s_or_ones_own_and_nobody_else_may_write_it() {
        let check =
            |owner, own, mode: u32| Writers { owner, group: 50, mode: 0o100_000 | mode }.check(own);
        for (owner, own) in [(0, 0), (0, 7), (7, 7), (0, UNKNOWN_USER)] {
            for mode in [0o400, 0o600, 0o644, 0o755, 0o444] {
                assert_eq!(check(owner, own, mode), Ok(()), "{owner} {own} {mode:o}");
            }
            let error = check(owner, own, 0o664).unwrap_err();
            let says = "it has mode 0664, so that group 50 may write it; its owner alone may";
            assert_eq!(error, format!("{says} (chmod go-w)"));
            let error = check(owner, own, 0o606).unwrap_err();
            assert!(error.starts_with("it has mode 0606, so that everybody may write it"));
        }
        assert_eq!(check(7, 0, 0o600), Err("user 7 owns it; root owns a policy".to_owned()));
        let error = check(8, 7, 0o600).unwrap_err();
        let says = "user 8 owns it; root or user 7, as whom this process runs, owns a policy";
        assert_eq!(error, says);
        // Whoever that is.
        for own in [0, 7, UNKNOWN_USER] {
            let error = check(UNKNOWN_USER, own, 0o600).unwrap_err();
            assert!(error.starts_with("user 65534 owns it, whom all are shown as"), "{error}");
        }
    }

    #[test]
    fn whose_a_file_is_is_asked_of_what_is_read() {
        let path = own_file("writable", b"# none\n");
        let link = path.with_extension("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let writable = std::fs::Permissions::from_mode(0o620);
        std::fs::set_permissions(&path, writable).unwrap();
        let errors = [&path, &link].map(|path| load(path).unwrap_err().to_string());
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(&link).unwrap();
        for (error, path) in errors.iter().zip([path, link]) {
            let says = format!("{}: it has mode 0620, so that group", path.display());
            assert!(error.starts_with(&says), "{error}");
        }
    }
}
