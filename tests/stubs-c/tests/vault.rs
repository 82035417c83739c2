//! Descriptors between Rust, C and C++, each in a process of its own: what arrives, what is refused
//! on either side, and that nothing stays open that nobody holds.

#![forbid(unsafe_code)]

mod support;

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use nearcall::name::Scope;
use nearcall::raw::{Arguments, Client, Entries, Outcome};
use nearcall::{
    Binding, CallError, Clerk, DescriptorKind, Domain, Error, ExportOptions, InterfaceDescriptor,
    NotExecuted, UsageError,
};
use nearcall_idl::plan::{Step, plan};
use stubs_c_tests::passed::vault::*;
use support::{
    RustServer, Server, Workshop, expect_success, import, model, run_client, serve_here, ways,
};

/// How many descriptors this process has.
fn open_count() -> u32 {
    let all = std::fs::read_dir("/proc/self/fd").expect("this process has descriptors");
    all.count() as u32 - 1
}

/// A file of that text.
fn file(text: &str) -> File {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(text.as_bytes()).expect("there is room");
    file
}

fn inode(descriptor: impl AsFd) -> u64 {
    rustix::fs::fstat(descriptor).expect("it is open").st_ino
}

struct Keeper {
    domain: Domain,
}

impl VaultServer for Keeper {
    fn swap(
        &self,
        file: OwnedFd,
        text: &str,
        link: OwnedFd,
    ) -> Result<(OwnedFd, OwnedFd), VaultSwapException> {
        match text {
            "busy" => Err(Busy { holder: 7 }.into()),
            _ => Ok((link, file)),
        }
    }

    fn either(&self, link: Option<OwnedFd>, file: OwnedFd) -> (Option<OwnedFd>, Option<OwnedFd>) {
        match link {
            Some(link) => (Some(link), None),
            None => (None, Some(file)),
        }
    }

    fn measure(&self, segment: OwnedFd) -> u64 {
        rustix::fs::fstat(segment).expect("it is open").st_size as u64
    }

    fn made(&self, text: &str) -> OwnedFd {
        let mut made = file(text);
        made.rewind().expect("it is a file");
        made.into()
    }

    fn wrong(&self) -> OwnedFd {
        rustix::pipe::pipe().expect("a pipe").0
    }

    fn ask(&self, introduction: OwnedFd) -> u32 {
        let met = Binding::import_introduced(&self.domain, introduction, &VAULT);
        met.map_or(0, |met| VaultClient::new(met).open_count().expect("it returns"))
    }

    fn close(&self, given: OwnedFd) {
        drop(given);
    }

    fn open_count(&self) -> u32 {
        open_count()
    }
}

/// Exports the server in Rust until standard input ends: this test program as another process.
#[test]
fn serve() {
    serve_here(|domain, name| {
        let keeper = Keeper { domain: domain.clone() };
        Clerk::export(domain, name, VaultEntries::new(keeper))
    });
}

/// What a client in Rust passes to a server in another language.
fn passes(vault: &VaultClient) {
    let (given, (link, _other)) = (file("x"), UnixStream::pair().expect("sockets"));
    let (back, same) = vault.swap(given.as_fd(), "swap", link.as_fd()).expect("it returns");
    assert_eq!((inode(&back), inode(&same)), (inode(&link), inode(&given)));
    let raised = vault.swap(given.as_fd(), "busy", link.as_fd());
    let Err(Error::Exception(VaultSwapException::Busy(busy))) = raised else {
        panic!("{raised:?}");
    };
    assert_eq!(busy.holder, 7);
    let wrong = vault.swap(link.as_fd(), "swap", link.as_fd());
    let is_usage = |error: &Error<_>| {
        matches!(error, Error::Call(CallError::Usage(UsageError::WrongDescriptor { .. })))
    };
    assert!(wrong.as_ref().is_err_and(is_usage), "{wrong:?}");
    let inodes = |link| {
        let (back, same) = vault.either(link, given.as_fd()).expect("it returns");
        (back.map(inode), same.map(inode))
    };
    assert_eq!(inodes(Some(link.as_fd())), (Some(inode(&link)), None));
    assert_eq!(inodes(None), (None, Some(inode(&given))));
    let wrong = vault.either(Some(given.as_fd()), given.as_fd());
    let is_usage = |error: &CallError| {
        matches!(error, CallError::Usage(UsageError::WrongDescriptor { parameter: "link", .. }))
    };
    assert!(wrong.as_ref().is_err_and(is_usage), "{wrong:?}");
    let mut text = String::new();
    let made = vault.made("five!").expect("it returns");
    let mut made = File::from(made);
    made.rewind().expect("it is a file");
    made.read_to_string(&mut text).expect("it is text");
    assert_eq!(text, "five!");
    let introduction = vault.binding().introduce().expect("it has room");
    assert!(vault.ask(introduction.as_fd()).expect("it returns") > 0);
    assert_eq!(vault.ask(introduction.as_fd()).expect("it returns"), 0);
    let refused = vault.wrong();
    assert!(matches!(refused, Err(CallError::ResultsRefused { .. })), "{refused:?}");
    vault.close(given.as_fd()).expect("it is posted");
}

/// Arguments of `swap` that no stub would send; what came of them.
fn attack(client: &Client, text: &[u8], descriptors: &[(DescriptorKind, BorrowedFd<'_>)]) {
    let model = model(&Path::new(env!("CARGO_MANIFEST_DIR")).join("vault.idl"));
    let steps = &plan(&model).interfaces[0].procedures[0].client.request;
    let at = steps.iter().find_map(|step| match step {
        Step::Variable { at, .. } => Some(*at as usize),
        _ => None,
    });
    let class = client.binding().interface().procedures[0].class;
    let mut call = client.claim_of_class(class.into(), 0).expect("there is an A-stack");
    call.put_u32::<0>(text.len() as u32);
    let mut variable = call.variable_at(at.expect("it has text"), 8).expect("it fits");
    variable.put(text);
    if !descriptors.is_empty() {
        let named: Vec<_> =
            descriptors.iter().map(|(kind, fd)| ("lie", *kind, Some(*fd))).collect();
        call.put_each_descriptor(&named).expect("they are sent");
    }
    let refused = call.post(4).map(|reply| reply.raised());
    let is_refused = |error: &CallError| {
        matches!(error, CallError::NotExecuted { reason: NotExecuted::ArgumentsRefused, .. })
    };
    assert!(refused.as_ref().is_err_and(|error| is_refused(error)), "{refused:?}");
}

/// None, too few, too many, of the wrong kind; and the right ones, with what is no text.
fn attacks(client: &Client) {
    let (given, (link, _other)) = (file("x"), UnixStream::pair().expect("sockets"));
    let (file, link) =
        ((DescriptorKind::File, given.as_fd()), (DescriptorKind::Socket, link.as_fd()));
    attack(client, b"swap", &[]);
    attack(client, b"swap", &[file]);
    attack(client, b"swap", &[file, link, file]);
    attack(client, b"swap", &[link, file]);
    attack(client, b"\xff\xff", &[file, link]);
}

/// Clients in Rust, one of them hostile, of a server in a process of its own.
fn call_server(program: &Path, name: &str, runtime: &Path) {
    let domain = Domain::new().expect("a domain");
    let vault = VaultClient::new(import(&domain, name, runtime, &VAULT));
    let hostile = Client::new(import(&domain, name, runtime, &VAULT), &VAULT);
    passes(&vault);
    attacks(&hostile);
    // One more: the segment that a server may hold ready for the replies to its next importer.
    let before = vault.open_count().expect("it returns") + 1;
    for _ in 0..20 {
        passes(&vault);
        attacks(&hostile);
    }
    let closed = (0..2000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        vault.open_count().expect("it returns") <= before
    });
    let after = vault.open_count();
    assert!(closed, "{} might have {before} open, has {after:?}", program.display());
}

#[test]
fn descriptors_go_between_languages() {
    let ways = ways();
    let mut pairs = 0;
    for (compiler, flags) in &ways {
        println!("{compiler} {flags:?}");
        let (c, cpp) = (Workshop::of("c", "vault.idl"), Workshop::of("cpp", "vault.idl"));
        let runtime = c.path();
        let clients = [
            c.program(compiler, "keeper_client", flags),
            cpp.program(compiler, "keeper_client_cpp", flags),
        ];
        let rust = RustServer::start(module_path!(), "rust", runtime);
        for client in &clients {
            print!("{} calls Rust: {}", client.display(), run_client(client, "rust", runtime));
        }
        drop(rust);
        let servers = [
            ("c", c.program(compiler, "keeper_server", flags)),
            ("cpp", cpp.program(compiler, "keeper_server_cpp", flags)),
        ];
        for (name, program) in &servers {
            let server = Server::start(program, name, runtime);
            for client in &clients {
                print!("{} calls {name}: {}", client.display(), run_client(client, name, runtime));
            }
            call_server(program, name, runtime);
            server.end();
        }
        pairs += clients.len() + servers.len() * (clients.len() + 1);
    }
    println!("{pairs} pairs");
    assert!(pairs == 8 * ways.len(), "{pairs} pairs");
}

/// A server that sends none, too few, too many, and others, each time something else.
struct Liar(AtomicUsize);

impl Entries for Liar {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &VAULT
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let given = file("x");
        let any = (DescriptorKind::Any, given.as_fd());
        let lie = self.0.fetch_add(1, Ordering::SeqCst);
        let mut results = arguments.results();
        match lie {
            0 => {}
            1 => results.put_descriptors([any])?,
            2 => results.put_descriptors([any, any, any])?,
            // The first has to be a socket.
            _ => results.put_descriptors([any, any])?,
        }
        results.reply(0)
    }
}

#[test]
fn a_client_revokes_the_binding_of_a_server_that_lies() {
    for (compiler, flags) in ways() {
        for (language, program) in [("c", "keeper_client"), ("cpp", "keeper_client_cpp")] {
            let workshop = Workshop::of(language, "vault.idl");
            let client = workshop.program(compiler, program, flags);
            let domain = Domain::new().expect("a domain");
            let mut options = ExportOptions::default();
            options.scope = Some(Scope::Directory(workshop.path().join("nearcall")));
            let liar = Liar(AtomicUsize::new(0));
            let clerk = Clerk::export_with(&domain, "liar", liar, options).expect("it is free");
            expect_success(&client, &["liar", "lies"], workshop.path());
            drop(clerk);
        }
    }
}
