//! What an audit record says of an importer is what a policy decides by.

use nearcall::name::Scope;
use nearcall::{
    BindError, Binding, CallError, Clerk, Domain, ExportOptions, Limits, NotExecuted, Policy,
    Priority, Rule, Rules, Verdict, Who,
};
use nearcall_os::peer::{Peer, Process};
use nearcall_os::socket::Stream;
use testkit::contract::{self, import_options};
use testkit::records::Records;
use testkit::stubs::contract::{CONTRACT, ContractClient};

fn policy(who: Who, verdict: Verdict) -> Policy {
    let (priority, limits) = (Priority::default(), Limits::default());
    let rule = Rule { id: "decides".to_owned(), who, verdict, priority, limits, trust_class: None };
    Policy::Rules(Rules { rules: vec![rule] })
}

/// The fields of a record that say this much, in the order in which they are written.
fn importer(mine: &Peer) -> String {
    let words: Vec<_> = mine.groups.iter().map(u32::to_string).collect();
    let groups = (!words.is_empty()).then(|| format!("groups={:?} ", words.join(" ")));
    let process = Process::current().unwrap();
    let cgroup = process.cgroup().map(|cgroup| format!("cgroup={cgroup:?} "));
    let inode = process.inode().map(|inode| format!("pidfd_inode={inode} "));
    [groups, cgroup, inode].into_iter().flatten().collect()
}

/// How many records were left out before this one.
fn dropped(record: &str) -> usize {
    let (_, count) = record.rsplit_once("dropped=").expect("each says it");
    count.parse().expect("a number")
}

/// A client calls what it may not: the first call of each procedure has a record, and others come
/// at a pace.
fn call_what_is_refused(records: &Records, client: &ContractClient, wanted: &str) {
    for _ in 0..200 {
        let error = client.null().unwrap_err();
        let reason = NotExecuted::NotPermitted;
        assert!(matches!(error, CallError::NotExecuted { reason: why, .. } if why == reason));
    }
    assert_eq!(client.pid().unwrap(), std::process::id());
    let of_calls = |text: &String| text.contains("event=\"not_permitted\"");
    let calls: Vec<_> = records.all().into_iter().filter(of_calls).collect();
    assert!(calls[0].ends_with("procedure=\"null\" dropped=0"), "{}", calls[0]);
    assert!(calls[0].contains(wanted), "{}, without {wanted}", calls[0]);
    assert!((1..200).contains(&calls.len()), "{} records of 200 calls", calls.len());
    // Another one is not hidden behind so many, and says how many were left out.
    let of_echo = |text: &String| text.contains("procedure=\"echo\"");
    for _ in 0..200 {
        client.echo(b"").unwrap_err();
    }
    let echoes: Vec<_> = records.all().into_iter().filter(of_echo).collect();
    assert!(echoes[0].contains("event=\"not_permitted\""), "{}", echoes[0]);
    let told: usize = calls.iter().chain(&echoes[..1]).map(|record| dropped(record)).sum();
    assert_eq!(calls.len() + told, 200, "{}", echoes[0]);
    assert!(echoes.len() < 200, "{} records of 200 calls", echoes.len());
}

#[test]
fn a_record_shows_the_groups_and_the_control_group_that_decided() {
    let records = Records::whole();
    tracing::subscriber::set_global_default(records.clone()).expect("the only one");
    let directory = tempfile::tempdir().unwrap();
    let (server, domain) = (Domain::new().unwrap(), Domain::new().unwrap());
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.path().to_owned()));
    let entries = contract::entries(&server, directory.path());
    let clerk = Clerk::export_with(&server, "noted", entries, options).unwrap();
    let import =
        || Binding::import_with(&domain, "noted", &CONTRACT, import_options(directory.path()));
    let (here, _there) = Stream::pair().unwrap();
    let mine = Peer::of(&here).unwrap();
    let wanted = importer(&mine);
    let last = || records.all().last().cloned().unwrap_or_default();

    let group = mine.groups.first().copied().or(mine.gid);
    clerk.set_policy(policy(Who { group, ..Who::default() }, Verdict::Refuse)).unwrap();
    assert!(matches!(import().unwrap_err(), BindError::NotAdmitted { .. }));
    let refused = last();
    assert!(refused.contains("event=\"refused\"") && refused.contains("rule=\"decides\""));
    assert!(refused.contains(&format!("gid={} ", mine.gid.unwrap())), "{refused}");
    assert!(refused.contains(&wanted), "{refused}, without {wanted}");

    // Where the system has no control groups of this kind, no rule about one fits.
    let cgroup = Some("/".to_owned());
    clerk.set_policy(policy(Who { cgroup, ..Who::default() }, Verdict::Refuse)).unwrap();
    assert!(matches!(import().unwrap_err(), BindError::NotAdmitted { .. }));
    let rule = match Process::current().unwrap().cgroup() {
        Some(_) => "rule=\"decides\"",
        None => "rule=\"otherwise\"",
    };
    let refused = last();
    assert!(refused.contains(&wanted) && refused.contains(rule), "{refused}, without {wanted}");

    // It is bound, and calls what it may not: that is written down as well, at a pace.
    let only = Verdict::AdmitOnly(vec!["pid".to_owned()]);
    clerk.set_policy(policy(Who::default(), only)).unwrap();
    let client = ContractClient::new(import().unwrap());
    call_what_is_refused(&records, &client, &wanted);
    drop(client);
    while !last().contains("event=\"revoked\"") {
        std::thread::yield_now();
    }
    assert!(last().ends_with("not_permitted=400 dropped=0"), "{}", last());

    // The end of a binding is written down when its client may have gone.
    clerk.set_policy(policy(Who::default(), Verdict::Admit)).unwrap();
    let client = import().unwrap();
    assert!(last().contains("event=\"bound\"") && last().ends_with("dropped=0"), "{}", last());
    drop(client);
    while !last().contains("event=\"revoked\"") {
        std::thread::yield_now();
    }
    assert!(last().contains(&wanted), "{}, without {wanted}", last());
}
