//! Who may bind and call what, and what is written down about it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Mutex;

use lacking::lacking;
use nearcall::name::Scope;
use nearcall::{
    Admission, BindError, Binding, CallError, Cancellation, Clerk, Domain, DomainOptions,
    ExportError, ExportOptions, Importer, Limits, NotExecuted, Policy, Priority, Rule, Rules,
    Verdict, Who,
};
use testkit::contract::{self, import_options};
use testkit::records::Records;
use testkit::stubs::contract::{CONTRACT, ContractClient};

fn own_uid() -> Option<u32> {
    Some(nearcall_os::peer::effective_uid())
}

fn rule(id: &str, who: Who, verdict: Verdict) -> Rule {
    let (priority, limits) = (Priority::default(), Limits::default());
    Rule { id: id.to_owned(), who, verdict, priority, limits, trust_class: None }
}

fn export(domain: &Domain, directory: &Path, policy: Policy) -> Result<Clerk, ExportError> {
    export_as("keeper", domain, directory, policy)
}

fn export_as(
    name: &str,
    domain: &Domain,
    directory: &Path,
    policy: Policy,
) -> Result<Clerk, ExportError> {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    options.policy = policy;
    Clerk::export_with(domain, name, contract::entries(domain, directory), options)
}

fn import(domain: &Domain, directory: &Path) -> Result<ContractClient, BindError> {
    import_as("keeper", domain, directory)
}

fn import_as(name: &str, domain: &Domain, directory: &Path) -> Result<ContractClient, BindError> {
    let options = import_options(directory);
    Binding::import_with(domain, name, &CONTRACT, options).map(ContractClient::new)
}

/// Whether rules admit this process.
fn is_admitted(rules: Vec<Rule>) -> bool {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let domain = Domain::new().expect("a domain");
    let policy = Policy::Rules(Rules { rules });
    let _clerk = export(&domain, directory.path(), policy).expect("an export");
    match import(&domain, directory.path()) {
        Ok(client) => client.null().map(|()| true).expect("it was admitted"),
        Err(BindError::NotAdmitted { .. }) => false,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn the_first_rule_that_fits_decides_and_none_refuses() {
    let mine = || Who { uid: own_uid(), ..Who::default() };
    let other = || Who { uid: own_uid().map(|uid| uid + 1), ..Who::default() };
    let admit = |who| rule("a", who, Verdict::Admit);
    let refuse = |who| rule("r", who, Verdict::Refuse);
    let cases = [
        (vec![], false),
        (vec![admit(Who::default())], true),
        (vec![admit(mine())], true),
        (vec![admit(other())], false),
        (vec![refuse(mine()), admit(Who::default())], false),
        (vec![refuse(other()), admit(mine())], true),
        (vec![admit(mine()), refuse(mine())], true),
        (vec![admit(Who { interface: Some("contract::Contract".to_owned()), ..mine() })], true),
        (vec![admit(Who { interface: Some("other::Other".to_owned()), ..mine() })], false),
        (vec![admit(Who { gid: Some(4_000_000), ..mine() })], false),
        (vec![admit(Who { group: Some(4_000_000), ..mine() })], false),
        (vec![admit(Who { cgroup: Some("/no/such/group".to_owned()), ..mine() })], false),
        // The number that the kernel shows for users it has none for is nobody.
        (vec![admit(Who { uid: Some(65534), ..Who::default() })], false),
    ];
    for (rules, want) in cases {
        assert_eq!(is_admitted(rules.clone()), want, "{rules:?}");
    }
}

#[test]
fn a_client_calls_what_it_may_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let only = Verdict::AdmitOnly(vec!["pid".to_owned(), "echo".to_owned()]);
    let rules = Rules { rules: vec![rule("some", Who::default(), only)] };
    let _clerk = export(&domain, directory.path(), Policy::Rules(rules)).unwrap();
    let client = import(&domain, directory.path()).unwrap();
    for data in [&[1, 2, 3][..], &[7; 100_000]] {
        assert_eq!(client.echo(data).unwrap(), data);
        assert_eq!(client.pid().unwrap(), std::process::id());
        let want = NotExecuted::NotPermitted;
        // Each twice: what was judged once is not taken for judged well.
        let null = [client.null().unwrap_err(), client.null().unwrap_err()];
        let running = [client.running().unwrap_err(), client.running().unwrap_err()];
        for error in null.into_iter().chain(running) {
            assert!(matches!(error, CallError::NotExecuted { reason, .. } if reason == want));
        }
    }
    assert!(!client.binding().is_revoked(), "to ask is no fault");
}

#[test]
fn a_rule_for_a_procedure_that_is_not_there_exports_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let only = Verdict::AdmitOnly(vec!["pidd".to_owned()]);
    let rules = Rules { rules: vec![rule("some", Who::default(), only)] };
    let error = export(&domain, directory.path(), Policy::Rules(rules)).unwrap_err();
    let want = r#"rule "some" names "pidd", which contract::Contract does not have"#;
    assert_eq!(error.to_string(), want);
}

fn only(names: &[&str]) -> Policy {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    let rules = vec![rule("only", Who::default(), Verdict::AdmitOnly(names))];
    Policy::Rules(Rules { rules })
}

fn nobody() -> Policy {
    Policy::Rules(Rules::default())
}

#[test]
fn another_policy_revokes_what_it_does_not_say_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let server = Domain::new().unwrap();
    let domain = Domain::new().unwrap();
    let clerk = export(&server, directory.path(), Policy::OwnerOnly).unwrap();
    let client = import(&domain, directory.path()).unwrap();
    // The same in other words.
    assert_eq!(clerk.set_policy(Policy::Anyone).unwrap(), 0);
    client.null().unwrap();
    assert_eq!(clerk.set_policy(only(&["pid"])).unwrap(), 1);
    let error = client.null().unwrap_err();
    assert!(matches!(error, CallError::NotExecuted { .. }), "{error}");
    let client = import(&domain, directory.path()).unwrap();
    assert_eq!(client.pid().unwrap(), std::process::id());
    assert_eq!(clerk.set_policy(only(&["pid"])).unwrap(), 0);
    assert_eq!(clerk.set_policy(only(&["pid", "null"])).unwrap(), 1);
    let client = import(&domain, directory.path()).unwrap();
    client.null().unwrap();
    assert_eq!(clerk.set_policy(nobody()).unwrap(), 1);
    assert!(matches!(import(&domain, directory.path()), Err(BindError::NotAdmitted { .. })));
    assert!(client.null().is_err());
}

#[test]
fn a_call_that_runs_when_its_binding_is_revoked_by_policy_has_its_result() {
    let directory = tempfile::tempdir().unwrap();
    let server = Domain::new().unwrap();
    let domain = Domain::new().unwrap();
    let clerk = export(&server, directory.path(), Policy::Anyone).unwrap();
    let client = import(&domain, directory.path()).unwrap();
    std::thread::scope(|scope| {
        let runs = scope.spawn(|| client.work_until_cancelled(200));
        let other = import(&domain, directory.path()).unwrap();
        while other.running().unwrap() == 0 {
            std::thread::yield_now();
        }
        assert_eq!(clerk.set_policy(nobody()).unwrap(), 2);
        // It was not cancelled.
        assert!(!runs.join().unwrap().unwrap());
    });
}

/// Its end comes behind the result of what runs; until then a refused call says where to go.
#[test]
fn whoever_is_refused_beside_a_call_that_runs_has_another_binding_by_a_rebind() {
    let directory = tempfile::tempdir().unwrap();
    let server = Domain::new().unwrap();
    let domain = Domain::new().unwrap();
    let clerk = export(&server, directory.path(), Policy::Anyone).unwrap();
    let client = import(&domain, directory.path()).unwrap();
    let cancellation = Cancellation::new();
    std::thread::scope(|scope| {
        let work = || cancellation.run(|| client.work_until_cancelled(60_000));
        let runs = scope.spawn(work);
        let other = import(&domain, directory.path()).unwrap();
        while other.running().unwrap() == 0 {
            std::thread::yield_now();
        }
        assert_eq!(clerk.set_policy(only(&["null"])).unwrap(), 2);
        let refused = client.null().unwrap_err();
        assert!(matches!(refused, CallError::NotExecuted { reason: NotExecuted::Refused, .. }));
        assert!(refused.to_string().contains("rebind"), "{refused}");
        let renewed = ContractClient::new(client.binding().rebind().unwrap());
        renewed.null().unwrap();
        assert_eq!(clerk.set_policy(nobody()).unwrap(), 1);
        assert!(renewed.null().is_err());
        let refused = client.binding().rebind().unwrap_err();
        assert!(matches!(refused, BindError::NotAdmitted { .. }), "{refused}");
        cancellation.cancel();
        assert!(runs.join().unwrap().is_err());
    });
}

#[test]
fn a_bind_that_a_replaced_policy_has_decided_is_judged_again() {
    let directory = tempfile::tempdir().unwrap();
    let server = Domain::new().unwrap();
    let domain = Domain::new().unwrap();
    let (asked, is_asked) = std::sync::mpsc::channel();
    let (goes_on, go_on) = std::sync::mpsc::channel::<()>();
    let go_on = Mutex::new(go_on);
    let ask = move |_: &Importer| {
        asked.send(()).unwrap();
        go_on.lock().unwrap().recv().unwrap();
        Admission::Admit
    };
    let clerk = export(&server, directory.path(), Policy::Ask(Box::new(ask))).unwrap();
    std::thread::scope(|scope| {
        let binds = scope.spawn(|| import(&domain, directory.path()));
        is_asked.recv().unwrap();
        // It is in no table yet.
        assert_eq!(clerk.set_policy(nobody()).unwrap(), 0);
        goes_on.send(()).unwrap();
        let outcome = binds.join().unwrap();
        assert!(outcome.is_err() || outcome.unwrap().null().is_err());
    });
}

#[test]
fn a_policy_that_is_none_for_the_interface_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let server = Domain::new().unwrap();
    let domain = Domain::new().unwrap();
    let clerk = export(&server, directory.path(), Policy::OwnerOnly).unwrap();
    let client = import(&domain, directory.path()).unwrap();
    let mode = || std::fs::metadata(clerk.path()).unwrap().permissions().mode() & 0o777;
    assert!(matches!(clerk.set_policy(only(&["pidd"])), Err(ExportError::Policy(_))));
    assert_eq!(mode(), 0o600);
    client.null().unwrap();
    clerk.set_policy(Policy::Anyone).unwrap();
    assert_eq!(mode(), 0o666);
}

/// The policy that nobody chose, by where the name goes: one's own user elsewhere, and nobody in
/// the system scope, not even root, whose it is.
#[test]
fn without_a_policy_the_owner_alone_may_bind_and_in_the_system_scope_nobody() {
    let domain = Domain::new().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let clerk = export(&domain, directory.path(), Policy::default()).unwrap();
    assert_eq!(clerk.path().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    import(&domain, directory.path()).unwrap().null().unwrap();

    if own_uid() != Some(0) {
        return lacking("the right to export in the system scope");
    }
    let name = format!("nearcall-permissions-{}", std::process::id());
    let system = |policy| {
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::System);
        options.policy = policy;
        let entries = contract::entries(&domain, directory.path());
        Clerk::export_with(&domain, &name, entries, options).unwrap()
    };
    let bind = || {
        let mut options = import_options(directory.path());
        options.scopes = Some(vec![Scope::System]);
        Binding::import_with(&domain, &name, &CONTRACT, options).map(ContractClient::new)
    };
    let clerk = system(Policy::default());
    assert_eq!(clerk.path(), Path::new("/run/nearcall").join(format!("{name}.socket")));
    let refused = bind().unwrap_err();
    assert!(matches!(refused, BindError::NotAdmitted { .. }), "{refused:?}");
    assert!(refused.to_string().contains("system scope"), "{refused}");
    drop(clerk);
    let _clerk = system(Policy::OwnerOnly);
    bind().unwrap().null().unwrap();
}

#[test]
fn every_bind_refusal_and_end_is_written_down_and_a_flood_is_counted() {
    let records = Records::default();
    tracing::subscriber::set_global_default(records.clone()).expect("the only one");
    let directory = tempfile::tempdir().unwrap();
    let mut options = DomainOptions::default();
    options.bindings_max = 2;
    let server = Domain::with_options(options).unwrap();
    let all = || {
        let rules = vec![rule("all", Who::default(), Verdict::Admit)];
        Policy::Rules(Rules { rules })
    };
    let clerk = export_as("noted", &server, directory.path(), all()).unwrap();
    // The other tests of this program bind, too, to what has another name.
    let mine = |what: &str| {
        let all = records.all();
        let mine = all.into_iter().filter(|text| text.contains("\"noted\"") && text.contains(what));
        mine.collect::<Vec<_>>()
    };
    let domain = Domain::new().unwrap();
    let client = import_as("noted", &domain, directory.path()).unwrap();
    client.null().unwrap();
    let uid = own_uid().unwrap();
    let bound = format!(
        "event=\"bound\" name=\"noted\" interface=\"contract::Contract\" uid={uid} \
         rule=\"all\" dropped=0"
    );
    assert_eq!(mine("rule=\"all\""), [bound]);
    // Its end is written down when the server has seen it.
    drop(client);
    let ended = format!("uid={uid} reason=\"peer hung up\"");
    while mine(&ended).is_empty() {
        std::thread::yield_now();
    }
    // What it held is given back a little later.
    let import_in_the_end = || loop {
        match import_as("noted", &domain, directory.path()) {
            Ok(client) => break client,
            Err(BindError::Overloaded { .. }) => std::thread::yield_now(),
            Err(other) => panic!("{other}"),
        }
    };
    let client = import_in_the_end();
    assert_eq!(clerk.set_policy(nobody()).unwrap(), 1);
    assert_eq!(mine("reason=\"another policy is in force\"").len(), 1);
    clerk.set_policy(all()).unwrap();
    drop(client);
    let client = import_in_the_end();
    for _ in 0..200 {
        assert!(matches!(
            import_as("noted", &domain, directory.path()),
            Err(BindError::Overloaded { .. })
        ));
    }
    let some = mine("share");
    assert!(some[0].contains("event=\"refused\""), "{}", some[0]);
    assert!((1..200).contains(&some.len()), "{} records of 200 refusals", some.len());
    drop(clerk);
    drop(client);
    drop(server);
}
