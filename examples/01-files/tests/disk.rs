//! A `Disk`, called through its interface by a client in the same process.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use files_example::Disk;
use files_example::file_server::{
    Denied, EntryKind, Failed, FilesClient, FilesEntries, FilesListException,
    FilesMakeDirectoryException, FilesOpenException, FilesReadException, FilesStatException,
    NotOpen, OpenMode, PIECE_BYTES_MAX,
};
use nearcall::name::Scope;
use nearcall::{Clerk, Domain, Error, ExportOptions, ImportOptions};
use tempfile::TempDir;

/// A served directory, `directory/root`; what stands beside it is none of the client's business.
struct Served {
    directory: TempDir,
    domain: Domain,
    files: FilesClient,
    _clerk: Clerk,
}

impl Served {
    fn new() -> Served {
        let directory = TempDir::new().unwrap();
        fs::create_dir(directory.path().join("root")).unwrap();
        fs::write(directory.path().join("secret"), "secret").unwrap();
        let domain = Domain::new().unwrap();
        let disk = Disk::new(directory.path().join("root")).unwrap();
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(directory.path().to_owned()));
        let entries = FilesEntries::new(disk);
        let clerk = Clerk::export_with(&domain, "files", entries, options).unwrap();
        let files = import(&domain, directory.path());
        Served { directory, domain, files, _clerk: clerk }
    }

    fn root(&self) -> std::path::PathBuf {
        self.directory.path().join("root")
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::write(self.root().join(path), text).unwrap();
    }

    fn open(&self, path: &str, mode: OpenMode) -> Result<u32, FilesOpenException> {
        raised(self.files.open(path, mode))
    }

    fn read(&self, file: u32, offset: u64, bytes: u32) -> Result<Vec<u8>, FilesReadException> {
        let mut data = Vec::new();
        raised(self.files.read(file, offset, bytes, &mut data)).map(|()| data)
    }
}

fn import(domain: &Domain, directory: &Path) -> FilesClient {
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![Scope::Directory(directory.to_owned())]);
    FilesClient::import_with(domain, "files", options).unwrap()
}

/// The exception; a call that has no results for another reason is a failure of the test.
fn raised<T, E: std::fmt::Debug>(result: Result<T, Error<E>>) -> Result<T, E> {
    result.map_err(|error| match error {
        Error::Exception(exception) => exception,
        Error::Call(error) => panic!("{error}"),
    })
}

fn is_denied(opened: Result<u32, FilesOpenException>, part: &str) -> bool {
    let denied = |denied: &Denied| denied.reason.contains(part);
    matches!(&opened, Err(FilesOpenException::Denied(raised)) if denied(raised))
}

#[test]
fn a_directory_is_listed_in_order_of_names() {
    let served = Served::new();
    served.write("b", "12345");
    fs::create_dir(served.root().join("c")).unwrap();
    symlink("b", served.root().join("a")).unwrap();
    let entries = served.files.list("").unwrap();
    let seen: Vec<_> = entries.iter().map(|e| (e.name.as_str(), e.kind)).collect();
    let want = [("a", EntryKind::Symlink), ("b", EntryKind::File), ("c", EntryKind::Directory)];
    assert_eq!(seen, want);
    assert_eq!(entries[1].bytes, 5);
    assert_eq!(served.files.list("c").unwrap(), []);
}

#[test]
fn a_long_directory_is_listed_whole() {
    let served = Served::new();
    for number in 0..2_000 {
        served.write(&format!("{number:04}-{}", "n".repeat(200)), "");
    }
    let entries = served.files.list("").unwrap();
    assert_eq!(entries.len(), 2_000);
    assert!(entries.is_sorted());
}

#[test]
fn a_name_that_is_not_utf_8_is_shown_and_leads_nowhere() {
    let served = Served::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    fs::write(served.root().join(name), "").unwrap();
    let entries = served.files.list("").unwrap();
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!((entry.name.as_str(), entry.kind), ("caf\u{fffd}", EntryKind::Other));
    let opened = served.open(&entry.name, OpenMode::Read);
    assert!(matches!(opened, Err(FilesOpenException::NotFound(_))), "{opened:?}");
}

#[test]
fn what_is_not_a_directory_is_not_listed() {
    let served = Served::new();
    served.write("file", "");
    for path in ["file", "nothing", "file/below"] {
        let listed = raised(served.files.list(path));
        assert!(matches!(listed, Err(FilesListException::NotFound(e)) if e.path == path));
    }
}

#[test]
fn a_status_tells_kind_size_permissions_and_time() {
    let served = Served::new();
    served.write("file", "123");
    let path = served.root().join("file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let status = served.files.stat("file").unwrap();
    assert_eq!((status.kind, status.bytes, status.permissions), (EntryKind::File, 3, 0o640));
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(status.modified_ns, since.as_nanos() as i64);
    assert_eq!(served.files.stat("").unwrap().kind, EntryKind::Directory);
}

#[test]
fn the_status_of_a_symbolic_link_is_its_own() {
    let served = Served::new();
    symlink("/", served.root().join("link")).unwrap();
    assert_eq!(served.files.stat("link").unwrap().kind, EntryKind::Symlink);
}

#[test]
fn a_file_is_read_in_pieces_and_past_its_end_there_is_nothing() {
    let served = Served::new();
    served.write("file", "0123456789");
    let file = served.open("file", OpenMode::Read).unwrap();
    assert_eq!(served.read(file, 0, 4).unwrap(), b"0123");
    assert_eq!(served.read(file, 8, 4).unwrap(), b"89");
    assert_eq!(served.read(file, 10, 4).unwrap(), b"");
    assert_eq!(served.read(file, 1 << 40, 4).unwrap(), b"");
    assert_eq!(served.read(file, 3, 0).unwrap(), b"");
}

#[test]
fn a_piece_is_no_longer_than_the_interface_has_it() {
    let served = Served::new();
    let whole: Vec<u8> = (0..PIECE_BYTES_MAX + 10).map(|i| (i * 7) as u8).collect();
    served.write("file", &whole);
    let file = served.open("file", OpenMode::Read).unwrap();
    let piece = served.read(file, 0, u32::MAX).unwrap();
    assert_eq!(piece.len(), PIECE_BYTES_MAX as usize);
    assert!(piece == whole[..piece.len()]);
    assert!(served.read(file, 5, PIECE_BYTES_MAX).unwrap() == whole[5..][..piece.len()]);
}

#[test]
fn an_offset_that_no_file_has_is_a_failure_with_its_number() {
    let served = Served::new();
    served.write("file", "");
    let file = served.open("file", OpenMode::Read).unwrap();
    let refused = served.read(file, u64::MAX, 1);
    let is_invalid = |failed: &Failed| failed.error_number == 22 && !failed.reason.is_empty();
    assert!(
        matches!(&refused, Err(FilesReadException::Failed(failed)) if is_invalid(failed)),
        "{refused:?}"
    );
}

#[test]
fn what_is_written_is_in_the_file() {
    let served = Served::new();
    served.write("file", "what was there before");
    let file = served.open("file", OpenMode::Write).unwrap();
    let piece = vec![7; PIECE_BYTES_MAX as usize];
    served.files.write(file, 3, &piece).unwrap();
    served.files.write(file, 0, b"abc").unwrap();
    served.files.close(file).unwrap();
    let written = fs::read(served.root().join("file")).unwrap();
    assert!(written == [b"abc".as_slice(), &piece].concat());
}

#[test]
fn a_file_that_is_opened_to_write_is_made_or_emptied() {
    let served = Served::new();
    served.write("old", "what was there before");
    for path in ["old", "new"] {
        served.open(path, OpenMode::Write).unwrap();
        assert_eq!(fs::read(served.root().join(path)).unwrap(), b"");
    }
    let opened = served.open("no/such/file", OpenMode::Write);
    assert!(matches!(opened, Err(FilesOpenException::NotFound(_))), "{opened:?}");
}

#[test]
fn a_path_that_climbs_out_is_denied() {
    let served = Served::new();
    fs::create_dir(served.root().join("below")).unwrap();
    symlink("../secret", served.root().join("relative")).unwrap();
    symlink(served.directory.path(), served.root().join("absolute")).unwrap();
    for path in ["../secret", "below/../../secret", "relative", "absolute/secret", ".."] {
        for mode in [OpenMode::Read, OpenMode::Write] {
            let opened = served.open(path, mode);
            assert!(is_denied(opened, "leads out"), "{path}");
        }
    }
    assert!(matches!(raised(served.files.list("..")), Err(FilesListException::Denied(_))));
    assert!(matches!(raised(served.files.stat("..")), Err(FilesStatException::Denied(_))));
    let made = raised(served.files.make_directory("../new"));
    assert!(matches!(made, Err(FilesMakeDirectoryException::Denied(_))));
    assert_eq!(fs::read(served.directory.path().join("secret")).unwrap(), b"secret");
    assert!(!served.directory.path().join("new").exists());
}

#[test]
fn a_path_that_stays_below_is_followed() {
    let served = Served::new();
    fs::create_dir(served.root().join("below")).unwrap();
    served.write("file", "text");
    symlink("../file", served.root().join("below/link")).unwrap();
    for path in ["below/../file", "below/link", "./file", "below//link"] {
        let file = served.open(path, OpenMode::Read).unwrap();
        assert_eq!(served.read(file, 0, 9).unwrap(), b"text", "{path}");
    }
}

#[test]
fn absolute_paths_and_zero_bytes_are_denied() {
    let served = Served::new();
    assert!(is_denied(served.open("/etc/passwd", OpenMode::Read), "absolute"));
    assert!(is_denied(served.open("a\0b", OpenMode::Read), "zero byte"));
    for path in ["/", "/new", "//"] {
        let made = raised(served.files.make_directory(path));
        assert!(matches!(made, Err(FilesMakeDirectoryException::Denied(_))), "{path}");
    }
}

#[test]
fn a_link_that_leads_round_is_denied() {
    let served = Served::new();
    symlink("round", served.root().join("round")).unwrap();
    assert!(is_denied(served.open("round", OpenMode::Read), "nowhere"));
}

#[test]
fn what_is_not_a_regular_file_is_not_opened() {
    let served = Served::new();
    fs::create_dir(served.root().join("directory")).unwrap();
    let pipe = served.root().join("pipe");
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, 0o600.into(), 0).unwrap();
    for path in ["directory", "pipe", ""] {
        assert!(is_denied(served.open(path, OpenMode::Read), "not a regular file"), "{path}");
    }
    let opened = served.open("directory", OpenMode::Write);
    assert!(matches!(opened, Err(FilesOpenException::Failed(_))), "{opened:?}");
}

#[test]
fn a_file_that_is_not_open_or_open_the_other_way_is_refused() {
    let served = Served::new();
    served.write("file", "text");
    let reading = served.open("file", OpenMode::Read).unwrap();
    let writing = served.open("new", OpenMode::Write).unwrap();
    let refused = |file| Err(FilesReadException::NotOpen(NotOpen { file }));
    assert_eq!(served.read(writing, 0, 1), refused(writing));
    assert_eq!(served.read(999, 0, 1), refused(999));
    assert!(raised(served.files.write(reading, 0, b"x")).is_err());
    served.files.close(reading).unwrap();
    assert_eq!(served.read(reading, 0, 1), refused(reading));
    assert!(raised(served.files.close(reading)).is_err());
    assert_eq!(fs::read(served.root().join("file")).unwrap(), b"text");
}

#[test]
fn the_number_of_another_clients_file_means_nothing() {
    let served = Served::new();
    served.write("file", "text");
    let file = served.open("file", OpenMode::Read).unwrap();
    let other = import(&served.domain, served.directory.path());
    let refused = raised(other.read(file, 0, 1, &mut Vec::new()));
    assert_eq!(refused, Err(FilesReadException::NotOpen(NotOpen { file })));
    assert!(raised(other.close(file)).is_err());
    assert_eq!(served.read(file, 0, 4).unwrap(), b"text");
}

#[test]
fn a_directory_is_made_once_and_found_again() {
    let served = Served::new();
    for path in ["new", "new", "new/below/", "new/below", "", "."] {
        served.files.make_directory(path).unwrap();
    }
    assert!(served.root().join("new/below").is_dir());
    served.write("file", "");
    let made = raised(served.files.make_directory("file"));
    let Err(FilesMakeDirectoryException::Failed(Failed { error_number, reason })) = made else {
        panic!("{made:?}");
    };
    assert_eq!((error_number, reason.as_str()), (17, "File exists"));
    let made = raised(served.files.make_directory("no/such/parent"));
    assert!(matches!(made, Err(FilesMakeDirectoryException::NotFound(_))), "{made:?}");
}

#[test]
fn a_directory_that_is_not_there_cannot_be_served() {
    let missing = Disk::new("/no/such/directory").unwrap_err();
    assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
    assert!(Disk::new("/dev/null").is_err());
}
