//! A policy file decides for clerks that export: who binds to what, who calls what, and what
//! becomes of bindings when the file is changed while they last.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use lacking::lacking;
use nearcall::name::Scope;
use nearcall::{
    BindError, Binding, CallError, Clerk, Domain, ExportError, ExportOptions, NotExecuted, Policy,
};
use nearcall_abi::InterfaceDescriptor;
use nearcall_policy::PolicyError;
use testkit::contract;
use testkit::faults::faults::{FAULTS, FaultsClient};
use testkit::server::{self, import_options};
use testkit::stubs::contract::{CONTRACT, ContractClient};
use testkit::users::{ANOTHER_USER, as_user};

/// Another user than this process is of.
const OTHER: u32 = 4_000_001;

/// A file, and a clerk of each of two interfaces that it decides for.
struct Scene {
    directory: tempfile::TempDir,
    clerks: [Clerk; 2],
    /// Of those who import.
    domain: Domain,
    _server: Domain,
}

/// Text for the user that this process is of.
fn own(text: &str) -> String {
    text.replace("OWN", &nearcall_os::peer::effective_uid().to_string())
}

fn file_in(directory: &Path) -> PathBuf {
    directory.join("policy.toml")
}

/// Writes it for nobody else to write, whatever the umask.
fn write(directory: &Path, text: &str) {
    let path = file_in(directory);
    fs::write(&path, own(text)).expect("our own directory");
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("our own file");
}

fn rules_of(directory: &Path) -> Policy {
    Policy::Rules(nearcall_policy::load(&file_in(directory)).expect("a policy"))
}

fn scene(text: &str) -> Scene {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let everybody = fs::Permissions::from_mode(0o755);
    fs::set_permissions(directory.path(), everybody).expect("our own directory");
    write(directory.path(), text);
    let server = Domain::new().expect("a domain");
    let options = || {
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(directory.path().to_owned()));
        options.policy = rules_of(directory.path());
        options
    };
    let keeper = contract::entries(&server, directory.path());
    let tester = server::entries(&server, directory.path());
    let clerks = [
        Clerk::export_with(&server, "keeper", keeper, options()).expect("an export"),
        Clerk::export_with(&server, "tester", tester, options()).expect("an export"),
    ];
    let domain = Domain::new().expect("a domain");
    Scene { directory, clerks, domain, _server: server }
}

impl Scene {
    fn import(
        &self,
        name: &str,
        interface: &'static InterfaceDescriptor,
    ) -> Result<Binding, BindError> {
        let options = import_options(self.directory.path());
        Binding::import_with(&self.domain, name, interface, options)
    }

    fn keeper(&self) -> Result<ContractClient, BindError> {
        self.import("keeper", &CONTRACT).map(ContractClient::new)
    }

    fn tester(&self) -> Result<FaultsClient, BindError> {
        self.import("tester", &FAULTS).map(FaultsClient::new)
    }

    /// Changes the file and has both clerks read it again: how many bindings each has revoked.
    fn change(&self, text: &str) -> [usize; 2] {
        write(self.directory.path(), text);
        let read_again = |clerk: &Clerk| clerk.set_policy(rules_of(self.directory.path()));
        self.clerks.each_ref().map(|clerk| read_again(clerk).expect("rules for the interface"))
    }
}

fn is_refused<T>(outcome: &Result<T, BindError>) -> bool {
    matches!(outcome, Err(BindError::NotAdmitted { .. }))
}

fn is_forbidden<T>(outcome: Result<T, CallError>) -> bool {
    let want = NotExecuted::NotPermitted;
    matches!(outcome, Err(CallError::NotExecuted { reason, .. }) if reason == want)
}

/// Where nobody else may be had, this part is left out, in words.
fn as_other<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let did = as_user(OTHER, work);
    if did.is_none() {
        lacking(ANOTHER_USER);
    }
    did
}

#[test]
fn a_file_admits_to_one_interface_and_refuses_at_another() {
    let scene = scene(
        r#"
        [[rule]]
        id = "keepers"
        interface = "contract::Contract"
        verdict = "admit"
        "#,
    );
    scene.keeper().unwrap().null().unwrap();
    assert!(is_refused(&scene.tester()));
    if let Some((keeper, tester)) = as_other(|| (scene.keeper(), scene.tester())) {
        keeper.unwrap().null().unwrap();
        assert!(is_refused(&tester));
    }
}

#[test]
fn a_file_admits_one_user_and_refuses_another() {
    let scene = scene(
        r#"
        [[rule]]
        id = "not the others"
        uid = 4000001
        interface = "faults::Faults"
        verdict = "refuse"

        [[rule]]
        id = "us"
        uid = OWN
        verdict = "admit"

        [[rule]]
        id = "whoever is left"
        interface = "faults::Faults"
        verdict = "admit"
        "#,
    );
    scene.keeper().unwrap().null().unwrap();
    scene.tester().unwrap().null().unwrap();
    if let Some((keeper, tester)) = as_other(|| (scene.keeper(), scene.tester())) {
        assert!(is_refused(&keeper), "no rule fits");
        assert!(is_refused(&tester), "the first rule that fits refuses");
    }
}

#[test]
fn a_file_says_which_operations_of_which_interface_may_be_called() {
    let scene = scene(
        r#"
        [[rule]]
        id = "those who ask"
        interface = "contract::Contract"
        operations = ["pid", "echo"]
        verdict = "admit"

        [[rule]]
        id = "those who count"
        interface = "faults::Faults"
        operations = ["add"]
        verdict = "admit"
        "#,
    );
    let (keeper, tester) = (scene.keeper().unwrap(), scene.tester().unwrap());
    for _ in 0..2 {
        assert_eq!(keeper.pid().unwrap(), std::process::id());
        assert_eq!(keeper.echo(&[7; 5_000]).unwrap(), [7; 5_000]);
        assert!(is_forbidden(keeper.null()));
        assert!(is_forbidden(keeper.running()));
        assert_eq!(tester.add(2, 3).unwrap(), 5);
        assert!(is_forbidden(tester.null()));
        assert!(is_forbidden(tester.echo(&[7])), "the other interface's procedure of that name");
        assert!(is_forbidden(tester.set_level(1)));
    }
}

#[test]
fn a_file_that_is_changed_decides_anew_about_bindings_and_binds() {
    let keepers = r#"
        [[rule]]
        id = "keepers"
        interface = "contract::Contract"
        verdict = "admit"
    "#;
    let testers = r#"
        [[rule]]
        id = "testers"
        interface = "faults::Faults"
        operations = ["add"]
        verdict = "admit"
    "#;
    let scene = scene(keepers);
    let keeper = scene.keeper().unwrap();
    // Nothing is said anew of a binding that there is.
    assert_eq!(scene.change(&format!("{keepers}{testers}")), [0, 0]);
    keeper.null().unwrap();
    let tester = scene.tester().unwrap();
    assert_eq!(tester.add(2, 3).unwrap(), 5);
    assert!(is_forbidden(tester.null()));
    // One interface's clients go, the other's do not notice.
    assert_eq!(scene.change(testers), [1, 0]);
    assert!(matches!(keeper.null(), Err(CallError::NotExecuted { .. })));
    assert!(is_refused(&scene.keeper()));
    assert_eq!(tester.add(2, 3).unwrap(), 5);
    // Other operations are another decision.
    assert_eq!(scene.change(&testers.replace("\"add\"", "\"null\"")), [0, 1]);
    assert!(matches!(tester.add(2, 3), Err(CallError::NotExecuted { .. })));
    let tester = scene.tester().unwrap();
    tester.null().unwrap();
    assert!(is_forbidden(tester.add(2, 3)));
    // A file without rules admits nobody.
    assert_eq!(scene.change(""), [0, 1]);
    assert!(is_refused(&scene.keeper()) && is_refused(&scene.tester()));
}

#[test]
fn a_user_that_a_changed_file_refuses_goes_and_others_stay() {
    let both = r#"
        [[rule]]
        id = "us"
        uid = OWN
        verdict = "admit"

        [[rule]]
        id = "them"
        uid = 4000001
        verdict = "admit"
    "#;
    let scene = scene(both);
    let ours = scene.keeper().unwrap();
    let Some(theirs) = as_other(|| scene.keeper().unwrap()) else {
        return;
    };
    theirs.null().unwrap();
    let (us, _) = both.split_once("\n\n").unwrap();
    assert_eq!(scene.change(us), [1, 0]);
    assert!(matches!(theirs.null(), Err(CallError::NotExecuted { .. })));
    ours.null().unwrap();
    assert!(as_other(|| is_refused(&scene.keeper())).unwrap());
}

/// Who may write it decides who may bind.
#[test]
fn a_file_that_another_user_may_write_is_no_policy() {
    let admits_all = "[[rule]]\nid = \"all\"\nverdict = \"admit\"\n";
    let scene = scene(admits_all);
    let keeper = scene.keeper().unwrap();
    let path = file_in(scene.directory.path());
    let refused = || match nearcall_policy::load(&path) {
        Err(error @ PolicyError::File { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    fs::set_permissions(&path, fs::Permissions::from_mode(0o646)).unwrap();
    assert!(
        refused().ends_with("so that everybody may write it; its owner alone may (chmod go-w)")
    );
    write(scene.directory.path(), admits_all);
    // Root's is everybody's policy, and one's own is nobody else's, not even root's.
    if let Some(of_root) = as_other(|| nearcall_policy::load(&path)) {
        of_root.unwrap();
        std::os::unix::fs::chown(&path, Some(OTHER), None).unwrap();
        assert!(refused().ends_with("user 4000001 owns it; root owns a policy"));
        as_other(|| nearcall_policy::load(&path)).unwrap().unwrap();
    }
    keeper.null().unwrap();
}

#[test]
fn a_file_that_is_no_policy_leaves_the_one_before_in_force() {
    let scene = scene(
        r#"
        [[rule]]
        id = "all"
        verdict = "admit"
        "#,
    );
    let keeper = scene.keeper().unwrap();
    let path = file_in(scene.directory.path());
    // A key that there is not: nothing is taken from it, and the clerk is not asked.
    let text = "[[rule]]\nid = \"all\"\nuser_id = 0\nverdict = \"refuse\"\n";
    write(scene.directory.path(), text);
    assert!(matches!(nearcall_policy::load(&path), Err(PolicyError::Text { .. })));
    keeper.null().unwrap();
    // An operation that there is not: the clerk does not take it.
    let text = "[[rule]]\nid = \"all\"\noperations = [\"pidd\"]\nverdict = \"admit\"\n";
    write(scene.directory.path(), text);
    let refused = scene.clerks[0].set_policy(rules_of(scene.directory.path()));
    assert!(matches!(refused, Err(ExportError::Policy(_))), "{refused:?}");
    keeper.null().unwrap();
    scene.keeper().unwrap().null().unwrap();
    fs::remove_file(&path).unwrap();
    assert!(matches!(nearcall_policy::load(&path), Err(PolicyError::File { .. })));
    keeper.null().unwrap();
}
