//! Export and import: names, admission, hashes, what is left behind.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use lacking::lacking;
use nearcall::name::Scope;
use nearcall::raw::Client;
use nearcall::{
    AStackClass, Admission, BindError, Binding, CallError, Clerk, Domain, ExportError,
    ExportOptions, InterfaceDescriptor, NotExecuted, Policy, ProcedureDescriptor,
};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketType, accept, bind, listen, recv,
    send, socket,
};
use testkit::campaign::effects;
use testkit::faults::faults::{FAULTS, FaultsClient};
use testkit::server::{export, import_options};
use testkit::users::{ANOTHER_USER, as_user};
use testkit::world::{Kind, World, each_world, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// A user who is neither root nor the one of the servers.
const NOBODY: u32 = 65533;

fn import(directory: &Path, name: &str) -> Result<Binding, BindError> {
    let domain = Domain::new().unwrap();
    Binding::import_with(&domain, name, &FAULTS, import_options(directory))
}

fn in_processes(test: impl Fn(&World)) {
    in_world(Kind::Processes, SERVER, test);
}

#[test]
fn a_name_that_nobody_exports_is_named_with_the_places_tried() {
    let directory = tempfile::tempdir().unwrap();
    let error = import(directory.path(), "nobody").unwrap_err();
    let socket = directory.path().join("nobody.socket");
    let want = format!(r#"no domain exports "nobody": looked for {}"#, socket.display());
    assert_eq!(error.to_string(), want);
}

#[test]
fn an_import_waits_for_a_server_that_comes_later() {
    let directory = tempfile::tempdir().unwrap();
    let (importer, exporter) = (Domain::new().unwrap(), Domain::new().unwrap());
    let mut options = import_options(directory.path());
    options.ready_timeout = Duration::from_secs(60);
    std::thread::scope(|threads| {
        let importing =
            threads.spawn(|| Binding::import_with(&importer, "later", &FAULTS, options));
        // It has not given up: nobody has exported the name for longer than its longest pause.
        let looked = Instant::now();
        while looked.elapsed() < Duration::from_millis(50) {
            assert!(!importing.is_finished());
            std::thread::yield_now();
        }
        let _clerk = export(&exporter, directory.path(), "later").unwrap();
        FaultsClient::new(importing.join().unwrap().unwrap()).null().unwrap();
    });
}

#[test]
fn fastthreads_run_while_one_of_them_waits_for_an_export() {
    let directory = tempfile::tempdir().unwrap();
    let (importer, exporter) = (Domain::new().unwrap(), Domain::new().unwrap());
    let mut options = import_options(directory.path());
    options.ready_timeout = Duration::from_secs(60);
    nearcall_threads::run(move || {
        let importing = nearcall_threads::fork(move || {
            Binding::import_with(&importer, "later", &FAULTS, options)
        });
        // It runs until it waits: there is one processor.
        nearcall_threads::yield_now();
        let _clerk = export(&exporter, directory.path(), "later").unwrap();
        let binding = importing.unwrap().join().unwrap().unwrap();
        FaultsClient::new(binding).null().unwrap();
    })
    .unwrap();
}

#[test]
fn an_import_that_waits_in_vain_says_for_what_and_how_long() {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let mut options = import_options(directory.path());
    options.ready_timeout = Duration::from_millis(20);
    let error = Binding::import_with(&domain, "vain", &FAULTS, options.clone()).unwrap_err();
    let said = error.to_string();
    assert!(said.starts_with("\"vain\" was not ready within 20ms: no domain exports"), "{said}");
    assert!(error.may_retry(), "{error:?}");
    // What no time mends is told at once.
    options.ready_timeout = Duration::MAX;
    let refused = Binding::import_with(&domain, "a/../b", &FAULTS, options).unwrap_err();
    assert!(matches!(refused, BindError::Name(_)), "{refused}");
}

#[test]
fn an_import_does_not_wait_for_a_server_that_breaks_the_protocol_to_mend() {
    let directory = tempfile::tempdir().unwrap();
    let address = SocketAddrUnix::new(directory.path().join("liar.socket")).unwrap();
    let listener = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    bind(&listener, &address).unwrap();
    listen(&listener, 1).unwrap();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let importer = accept(&listener).unwrap();
            send(&importer, b"nonsense", SendFlags::empty()).unwrap();
            // Until it has hung up, with what it has said before.
            while recv(&importer, &mut [0; 1024], RecvFlags::empty()).is_ok_and(|(n, _)| n > 0) {}
        });
        let domain = Domain::new().unwrap();
        let mut options = import_options(directory.path());
        options.ready_timeout = Duration::MAX;
        let error = Binding::import_with(&domain, "liar", &FAULTS, options).unwrap_err();
        assert!(matches!(error, BindError::Peer { .. }), "{error}");
    });
}

#[test]
fn a_name_that_is_none_is_refused_by_both_sides() {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let long = "n".repeat(108);
    for name in ["", "a/../b", "/a", "a b", long.as_str()] {
        let refused = export(&domain, directory.path(), name).unwrap_err();
        assert!(matches!(refused, ExportError::Name(_)), "{refused}");
        let refused = import(directory.path(), name).unwrap_err();
        assert!(matches!(refused, BindError::Name(_)), "{refused}");
    }
}

#[test]
fn a_living_export_is_not_replaced() {
    in_processes(|world| {
        let server = world.serve("taken");
        let domain = Domain::new().unwrap();
        let error = export(&domain, world.directory(), "taken").unwrap_err();
        let pid = server.pid().unwrap();
        let want = format!(r#""taken" is already exported, by process {pid}"#);
        assert_eq!(error.to_string(), want);
        world.import(&server).null().unwrap();
    });
}

#[test]
fn the_socket_of_a_killed_server_is_replaced() {
    in_processes(|world| {
        let mut dead = world.serve("reborn");
        let before = world.import(&dead).binding().incarnation();
        dead.kill();
        assert!(world.directory().join("reborn.socket").exists());
        let refused = import(world.directory(), "reborn").unwrap_err();
        assert!(matches!(refused, BindError::NoSuchName { .. }), "{refused}");
        let server = world.serve("reborn");
        let client = world.import(&server);
        assert!(client.binding().incarnation() > before);
        client.null().unwrap();
    });
}

#[test]
fn an_orderly_end_leaves_no_file() {
    each_world(SERVER, |world| {
        let mut server = world.serve("passing");
        let client = world.import(&server);
        client.null().unwrap();
        server.shut_down();
        let left = std::fs::read_dir(world.directory()).unwrap().map(|entry| entry.unwrap());
        // The witness among the servers writes one that outlives it.
        let left: Vec<_> = left.filter(|entry| entry.file_name() != effects::FILE).collect();
        assert!(left.is_empty(), "{left:?}");
    });
}

#[test]
fn a_name_may_have_parts() {
    in_processes(|world| {
        let server = world.serve("acme/eu/kv");
        world.import(&server).null().unwrap();
    });
}

#[test]
fn another_hash_names_the_first_operation_that_differs() {
    static PROCEDURES: [ProcedureDescriptor; 3] = {
        let mut second = FAULTS.procedures[1];
        second.hash[0] ^= 1;
        [FAULTS.procedures[0], second, FAULTS.procedures[2]]
    };
    static CHANGED: InterfaceDescriptor = InterfaceDescriptor {
        name: FAULTS.name,
        hash: [9; 16],
        procedures: &PROCEDURES,
        classes: FAULTS.classes,
        appendables: FAULTS.appendables,
    };
    in_processes(|world| {
        let _server = world.serve("changed");
        let options = world.import_options();
        let domain = world.client_domain();
        let error = Binding::import_with(domain, "changed", &CHANGED, options).unwrap_err();
        let BindError::Hash { interface: "faults::Faults", difference } = &error else {
            panic!("{error}");
        };
        assert!(difference.contains("add"), "{difference}");
    });
}

#[test]
fn smaller_astacks_at_the_server_are_refused_by_name() {
    const LARGE: AStackClass = AStackClass { block_bytes: 1 << 20, count: 1 };
    static OTHER: InterfaceDescriptor = InterfaceDescriptor { classes: &[LARGE], ..FAULTS };
    in_processes(|world| {
        let _server = world.serve("classes");
        let options = world.import_options();
        let error =
            Binding::import_with(world.client_domain(), "classes", &OTHER, options).unwrap_err();
        let want = "A-stacks of procedure 0 have 0 bytes there, 1048576 here: `null`";
        assert!(error.to_string().contains(want), "{error}");
    });
}

#[test]
fn another_number_of_astacks_at_the_server_is_taken() {
    const COUNT: usize = FAULTS.classes.len();
    static CLASSES: [AStackClass; COUNT] = {
        let mut classes = [FAULTS.classes[0]; COUNT];
        let mut index = 0;
        while index < COUNT {
            let AStackClass { block_bytes, count } = FAULTS.classes[index];
            classes[index] = AStackClass { block_bytes, count: count + 1 };
            index += 1;
        }
        classes
    };
    static OTHER: InterfaceDescriptor = InterfaceDescriptor { classes: &CLASSES, ..FAULTS };
    in_processes(|world| {
        let _server = world.serve("counts");
        let options = world.import_options();
        let binding = Binding::import_with(world.client_domain(), "counts", &OTHER, options);
        let client = Client::new(binding.unwrap(), &OTHER);
        let call = client.claim::<0>(0).unwrap();
        assert_eq!(call.post(0).unwrap().raised(), 0);
    });
}

#[test]
fn another_interface_under_the_name_is_named() {
    static OTHER: InterfaceDescriptor = InterfaceDescriptor { name: "other::Other", ..FAULTS };
    in_processes(|world| {
        let _server = world.serve("other");
        let options = world.import_options();
        let error =
            Binding::import_with(world.client_domain(), "other", &OTHER, options).unwrap_err();
        assert_eq!(error.to_string(), r#""other" is interface faults::Faults, not other::Other"#);
    });
}

#[test]
fn a_policy_that_refuses_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.path().to_owned()));
    options.policy = Policy::Ask(Box::new(|importer| {
        assert_eq!(importer.pid(), Some(std::process::id()));
        assert!(importer.uid().is_some() && importer.gid().is_some());
        Admission::Refuse("closed on Saturdays".to_owned())
    }));
    let entries = testkit::server::entries(&domain, directory.path());
    let _clerk = Clerk::export_with(&domain, "shop", entries, options).unwrap();
    let error = import(directory.path(), "shop").unwrap_err();
    assert_eq!(error.to_string(), r#"not admitted to "shop": closed on Saturdays"#);
}

#[test]
fn a_withdrawn_export_revokes_its_bindings() {
    each_world(SERVER, |world| {
        let mut server = world.serve("leaving");
        let client = world.import(&server);
        client.null().unwrap();
        server.shut_down();
        while !client.binding().is_revoked() {
            std::thread::yield_now();
        }
        let error = client.null().unwrap_err();
        let want = NotExecuted::Revoked;
        assert!(matches!(error, CallError::NotExecuted { reason, .. } if reason == want));
    });
}

#[test]
fn a_dropped_binding_is_forgotten_by_its_server() {
    let directory = tempfile::tempdir().unwrap();
    let server = Domain::new().unwrap();
    let clerk = export(&server, directory.path(), "short").unwrap();
    for _ in 0..50 {
        let client = FaultsClient::new(import(directory.path(), "short").unwrap());
        client.null().unwrap();
    }
    while clerk.binding_count() > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn another_user_is_not_admitted_by_the_socket_nor_by_the_policy() {
    in_processes(|world| {
        let server = world.serve("private");
        let socket = world.directory().join("private.socket");
        let permit = |path: &Path, mode| {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        };
        permit(world.directory(), 0o755);
        let refused_to_nobody =
            || as_user(NOBODY, || import(world.directory(), "private").unwrap_err().to_string());
        let Some(closed) = refused_to_nobody() else {
            return lacking(ANOTHER_USER);
        };
        let want = format!(r#"not admitted to "private": {}: Permission denied"#, socket.display());
        assert!(closed.starts_with(&want), "{closed}");
        permit(&socket, 0o666);
        let want = r#"not admitted to "private": only the server's own user may bind"#;
        assert_eq!(refused_to_nobody().as_deref(), Some(want));
        world.import(&server).null().unwrap();
    });
}
