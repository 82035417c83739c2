//! Servers in C and C++ that export by a policy file, and read another one while they do (L47).

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use nearcall::name::Scope;
use nearcall::{BindError, Binding, CallError, Domain, ImportOptions, NotExecuted, Ran};
use stubs_c_tests::witnessed::witness::*;

use crate::support::{domain, in_both};

/// Whoever binds may ask who it is, and nothing else.
const ONE: &str = "[[rule]]\nid = \"askers\"\noperations = [\"who\"]\nverdict = \"admit\"\n";

/// Nobody may bind.
const NOBODY: &str = "[[rule]]\nid = \"closed\"\nverdict = \"refuse\"\n";

/// No policy: a key that there is not.
const WRONG: &str = "[[rule]]\nid = \"typo\"\nuser_id = 0\nverdict = \"admit\"\n";

/// No policy for this interface: it has no such procedure.
const FOREIGN: &str = "[[rule]]\nid = \"askers\"\noperations = [\"whom\"]\nverdict = \"admit\"\n";

/// A server, what it is told, and what it says.
struct Onlooker {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Onlooker {
    fn start(program: &Path, runtime: &Path, policy: &Path) -> Onlooker {
        let mut child = domain(program, runtime)
            .args([Path::new("guarded"), policy])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdin = child.stdin.take().expect("it is a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Onlooker { child, stdin, stdout }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("it can be read");
        line.trim_end().to_owned()
    }

    /// What it says of another policy.
    fn replace(&mut self, policy: &Path) -> String {
        let line = [policy.as_os_str().as_bytes(), b"\n"].concat();
        self.stdin.write_all(&line).expect("it reads");
        self.line()
    }

    fn end(mut self) {
        drop(self.stdin);
        assert!(self.child.wait().expect("it ends").success());
    }
}

fn bind(domain: &Domain, runtime: &Path) -> Result<WitnessClient, BindError> {
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![Scope::Directory(runtime.join("nearcall"))]);
    Binding::import_with(domain, "guarded", &WITNESS, options).map(WitnessClient::new)
}

fn guard(program: &Path, runtime: &Path) {
    let file = |name: &[u8], rules: &str| {
        let path = runtime.join(OsStr::from_bytes(name));
        fs::write(&path, rules).expect("it can be written");
        // Nobody else may write it, whatever the umask.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        path
    };
    // A path is bytes, and not always text.
    let (one, nobody) = (file(b"one\xff", ONE), file(b"nobody", NOBODY));
    let (wrong, foreign) = (file(b"wrong", WRONG), file(b"foreign", FOREIGN));
    let open = file(b"open", ONE);
    fs::set_permissions(&open, fs::Permissions::from_mode(0o620)).expect("it is ours");
    let told = [
        (&wrong, "user_id"),
        (&foreign, "foreign: rule \"askers\" names"),
        (&open, "mode 0620, so that group"),
    ];
    for (policy, what) in told {
        let mut refused = Onlooker::start(program, runtime, policy);
        let said = refused.line();
        let name = policy.to_str().expect("it is text");
        assert!(said.contains(name) && said.contains(what), "{said}");
        refused.end();
    }

    let mut server = Onlooker::start(program, runtime, &one);
    assert_eq!(server.line(), "ready");
    let domain = Domain::new().expect("a domain");
    let client = bind(&domain, runtime).expect("it is admitted");
    assert_eq!(client.who().expect("it may").2, i64::from(std::process::id()));
    let error = client.left().expect_err("it may not");
    let not_permitted =
        matches!(error, CallError::NotExecuted { reason: NotExecuted::NotPermitted, .. });
    assert!(not_permitted && error.ran() == Ran::No, "{error}");

    let said = server.replace(&wrong);
    assert!(said.starts_with("-1 ") && said.contains("user_id"), "{said}");
    let said = server.replace(&foreign);
    assert!(said.starts_with("-1 ") && said.contains("foreign: rule \"askers\" names"), "{said}");
    client.who().expect("the policy before it stays");
    assert_eq!(server.replace(&nobody), "1");
    client.who().expect_err("its binding was revoked");
    let error = bind(&domain, runtime).expect_err("nobody is admitted");
    assert!(matches!(error, BindError::NotAdmitted { .. }), "{error}");
    assert_eq!(server.replace(&one), "0");
    bind(&domain, runtime).expect("it is admitted").who().expect("it may");
    server.end();
}

#[test]
fn a_server_is_guarded_by_a_policy_file() {
    in_both("witness.idl", ["onlooker", "onlooker_cpp"], guard);
}
