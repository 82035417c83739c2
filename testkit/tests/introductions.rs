//! Bindings that are passed on (design note 0019): who is bound in the end, and what becomes of
//! introductions that are used otherwise than they should.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nearcall::{
    Admission, BindError, Binding, CallError, Clerk, Domain, DomainOptions, ImportOptions,
    Importer, InterfaceDescriptor, Limits, NotExecuted, Policy, Priority, Rule, Rules, UsageError,
    Verdict, Who,
};
use nearcall_abi::message::Message;
use nearcall_os::socket::Stream;
use testkit::campaign::hand;
use testkit::faults::faults::FAULTS;
use testkit::introducing::{self, said_over};
use testkit::introducing_stubs::introducing::{HOST, HostClient};
use testkit::records::Records;
use testkit::server::import_options;
use testkit::world::{Kind, Server, World, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// Longest until what is over has an end.
const GONE: Duration = Duration::from_secs(60);

fn own_pid() -> String {
    std::process::id().to_string()
}

fn import(domain: &Domain, world: &World, name: &str) -> HostClient {
    let options = import_options(world.directory());
    let binding = Binding::import_with(domain, name, &HOST, options);
    HostClient::new(binding.expect("the server admits us"))
}

/// Other processes that are introduced or that others are introduced to, and clients of theirs.
struct Party {
    process: Server,
    client: HostClient,
}

impl Party {
    fn new(world: &World, name: &str) -> Party {
        let process = world.serve(name);
        let client = import(world.client_domain(), world, &introducing::name_of(name));
        Party { process, client }
    }

    fn pid(&self) -> String {
        self.process.pid().expect("it is a process").to_string()
    }
}

/// A test of three processes: this one is bound to both others, and may give.
fn check(test: impl Fn(&mut Party, &mut Party)) {
    in_world(Kind::Processes, SERVER, |world| {
        let (mut server, mut receiver) =
            (Party::new(world, "server"), Party::new(world, "receiver"));
        test(&mut server, &mut receiver);
    });
}

#[test]
fn whoever_is_introduced_is_bound_as_itself() {
    check(|server, receiver| {
        assert_eq!(server.client.caller().unwrap().to_string(), own_pid());
        let introduction = server.client.binding().introduce().unwrap();
        assert_eq!(receiver.client.meet(introduction.as_fd()).unwrap(), receiver.pid());
        assert_eq!(receiver.client.call_on().unwrap(), receiver.pid());
    });
}

#[test]
fn an_introduction_comes_back_as_a_result_and_is_passed_on_further() {
    check(|server, receiver| {
        let introduction = server.client.binding().introduce().unwrap();
        receiver.client.meet(introduction.as_fd()).unwrap();
        let further = receiver.client.introduce().unwrap();
        let domain = Domain::new().unwrap();
        let binding = Binding::import_introduced(&domain, further, &HOST).unwrap();
        assert_eq!(said_over(&binding), own_pid());
        let giver = HostClient::new(binding.clone()).giver().unwrap();
        assert_eq!((giver.to_string(), server.client.giver().unwrap()), (receiver.pid(), 0));
        assert_eq!(binding.incarnation(), server.client.binding().incarnation());
        // It is the server's end that ends it, not that of who gave it.
        receiver.process.kill();
        assert_eq!(said_over(&binding), own_pid());
        server.process.kill();
        let failed = HostClient::new(binding).caller().unwrap_err();
        let is_told = matches!(
            failed,
            CallError::CallFailed { .. }
                | CallError::NotExecuted { reason: NotExecuted::ServerEnded, .. }
                | CallError::NotExecuted { reason: NotExecuted::Revoked, .. }
        );
        assert!(is_told, "{failed}");
    });
}

#[test]
fn a_giver_that_is_killed_takes_its_introductions_along() {
    check(|server, receiver| {
        let introduction = server.client.binding().introduce().unwrap();
        receiver.client.meet(introduction.as_fd()).unwrap();
        let further = receiver.client.introduce().unwrap();
        receiver.process.kill();
        expect_end(&further);
        assert_over(Binding::import_introduced(&Domain::new().unwrap(), further, &HOST));
    });
}

#[test]
fn a_server_that_is_killed_takes_its_introductions_along() {
    check(|server, receiver| {
        let introduction = server.client.binding().introduce().unwrap();
        server.process.kill();
        let over = "the introduction to introducing::Host is over: it was used, waited too long, \
                    or whoever gave it, or the server, has gone";
        assert_eq!(receiver.client.meet(introduction.as_fd()).unwrap(), over);
        let error = server.client.binding().introduce().unwrap_err();
        assert!(matches!(error, BindError::Revoked { .. }), "{error}");
    });
}

#[test]
fn what_is_of_another_kind_does_not_travel_as_an_introduction() {
    check(|_, receiver| {
        let (pipe, _other) = rustix::pipe::pipe().unwrap();
        let refused = receiver.client.meet(pipe.as_fd()).unwrap_err();
        assert!(matches!(refused, CallError::Usage(UsageError::WrongDescriptor { .. })));
        let said = "introduction: a descriptor of mode 10600 is no introduction to a binding";
        assert_eq!(refused.to_string(), said);
        let refused = receiver.client.wrong().unwrap_err();
        assert!(
            matches!(refused, CallError::ResultsRefused { procedure }
                if procedure.operation() == "wrong"),
            "{refused}"
        );
    });
}

#[test]
fn nobody_holds_descriptors_of_introductions_that_are_over() {
    check(|server, receiver| {
        let held = |host: &Party| host.client.count().unwrap();
        let pass = || {
            let introduction = server.client.binding().introduce().unwrap();
            receiver.client.meet(introduction.as_fd()).unwrap();
            drop(server.client.binding().introduce().unwrap());
        };
        pass();
        await_that(|| {
            // What the binding before held is given back by and by.
            let before = (held(server), held(receiver));
            (0..3).for_each(|_| pass());
            std::thread::sleep(Duration::from_millis(20));
            (held(server), held(receiver)) == before
        });
    });
}

/// Three domains of this process.
struct Three {
    directory: tempfile::TempDir,
    server: Domain,
    clerk: Clerk,
    giver: Domain,
    receiver: Domain,
}

fn three_with(options: DomainOptions, policy: Policy) -> Three {
    let directory = tempfile::tempdir().unwrap();
    let server = Domain::with_options(options).unwrap();
    let clerk = introducing::export(&server, directory.path(), "host", policy).unwrap();
    let (giver, receiver) = (Domain::new().unwrap(), Domain::new().unwrap());
    Three { directory, server, clerk, giver, receiver }
}

fn three() -> Three {
    three_with(DomainOptions::default(), Policy::default())
}

impl Three {
    fn given(&self) -> Binding {
        let options = import_options(self.directory.path());
        Binding::import_with(&self.giver, "host", &HOST, options).unwrap()
    }

    fn import(&self, introduction: OwnedFd) -> Result<Binding, BindError> {
        self.import_as(introduction, &HOST)
    }

    fn import_as(
        &self,
        introduction: OwnedFd,
        interface: &'static InterfaceDescriptor,
    ) -> Result<Binding, BindError> {
        Binding::import_introduced(&self.receiver, introduction, interface)
    }
}

fn assert_over(outcome: Result<Binding, BindError>) {
    let error = outcome.map(|_| ()).expect_err("the introduction is over");
    assert!(matches!(error, BindError::IntroductionOver { .. }), "{error}");
}

/// Demands that the server closes its end.
fn expect_end(introduction: &OwnedFd) {
    let stream = Stream::from_descriptor(introduction.try_clone().unwrap()).unwrap();
    assert!(hand::await_hang_up(&stream, GONE).is_some(), "the introduction is not over");
}

fn await_that(mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < GONE, "it has not come about");
        std::thread::yield_now();
    }
}

/// As soon as there is room.
fn introduce_in_the_end(binding: &Binding) -> OwnedFd {
    let mut introduction = None;
    await_that(|| match binding.introduce() {
        Ok(made) => introduction.replace(made).is_none(),
        Err(BindError::Overloaded { .. }) => false,
        Err(other) => panic!("{other}"),
    });
    introduction.expect("it was made")
}

#[test]
fn over_a_twin_bindings_are_passed_on_too() {
    let three = three();
    let options = ImportOptions::default();
    let twin = Binding::import_twin(&three.giver, &three.clerk, &HOST, options).unwrap();
    let binding = three.import(twin.introduce().unwrap()).unwrap();
    assert_eq!(said_over(&binding), own_pid());
}

#[test]
fn an_introduction_is_used_once() {
    let three = three();
    let given = three.given();
    let introduction = given.introduce().unwrap();
    let again = introduction.try_clone().unwrap();
    let binding = three.import(introduction).unwrap();
    assert_over(three.import(again));
    assert_eq!(said_over(&binding), own_pid());
    assert_eq!(three.clerk.binding_count(), 2);
}

#[test]
fn of_two_that_use_one_introduction_at_once_one_is_bound() {
    let three = three();
    let given = three.given();
    for _ in 0..20 {
        let introduction = given.introduce().unwrap();
        let both = [introduction.try_clone().unwrap(), introduction];
        let bound = std::thread::scope(|threads| {
            let import = |one| threads.spawn(|| three.import(one));
            let both = both.map(import).map(|thread| thread.join().unwrap());
            both.into_iter().filter(Result::is_ok).count()
        });
        assert_eq!(bound, 1, "bindings by one introduction");
    }
}

#[test]
fn a_binding_that_was_introduced_outlives_the_one_it_came_from() {
    let three = three();
    let given = three.given();
    let binding = three.import(given.introduce().unwrap()).unwrap();
    drop(given);
    await_that(|| three.clerk.binding_count() == 1);
    assert_eq!(said_over(&binding), own_pid());
    drop(binding);
    await_that(|| three.clerk.binding_count() == 0);
}

#[test]
fn it_is_refused_for_another_interface_and_for_another_version() {
    let three = three();
    let given = three.given();
    let error = three.import_as(given.introduce().unwrap(), &FAULTS).unwrap_err();
    let BindError::OtherInterface { expected, exported, .. } = &error else { panic!("{error}") };
    assert_eq!((*expected, exported.as_str()), ("faults::Faults", "introducing::Host"));
    let other = InterfaceDescriptor { hash: [7; 16], ..HOST };
    let other = Box::leak(Box::new(other));
    let error = three.import_as(given.introduce().unwrap(), other).unwrap_err();
    assert!(matches!(error, BindError::Hash { interface: "introducing::Host", .. }), "{error}");
    assert_eq!(said_over(&given), own_pid());
}

#[test]
fn an_introduction_ends_with_its_giver_s_binding() {
    let three = three();
    let given = three.given();
    let introduction = given.introduce().unwrap();
    drop(given);
    expect_end(&introduction);
    assert_over(three.import(introduction));
}

fn nobody() -> Policy {
    Policy::Rules(Rules::default())
}

fn within(limits: Limits, verdict: Verdict) -> Policy {
    let (who, priority) = (Who::default(), Priority::default());
    let rule = Rule { id: "all".to_owned(), who, verdict, priority, limits, trust_class: None };
    Policy::Rules(Rules { rules: vec![rule] })
}

#[test]
fn another_policy_ends_what_it_does_not_say_of_the_giver_used_or_not() {
    let three = three();
    let given = three.given();
    let binding = three.import(given.introduce().unwrap()).unwrap();
    let introduction = given.introduce().unwrap();
    assert_eq!(three.clerk.set_policy(Policy::Anyone).unwrap(), 0);
    assert_eq!(said_over(&binding), own_pid());
    assert_eq!(three.clerk.set_policy(nobody()).unwrap(), 2);
    assert_over(three.import(introduction));
    await_that(|| binding.is_revoked());
}

#[test]
fn the_policy_is_asked_about_the_giver_and_never_about_who_is_introduced() {
    in_world(Kind::Processes, SERVER, |world| {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let only_this_process = move || {
            let log = Arc::clone(&log);
            Policy::Ask(Box::new(move |importer: &Importer| {
                let is_this = importer.pid() == Some(std::process::id());
                log.lock().unwrap().push(is_this);
                let refused = || Admission::Refuse("another process".to_owned());
                if is_this { Admission::Admit } else { refused() }
            }))
        };
        let server = Domain::new().unwrap();
        let directory = world.directory();
        let clerk = introducing::export(&server, directory, "host", only_this_process()).unwrap();
        let given = import(world.client_domain(), world, "host");
        let receiver = Party::new(world, "receiver");
        let introduction = given.binding().introduce().unwrap();
        assert_eq!(receiver.client.meet(introduction.as_fd()).unwrap(), receiver.pid());
        assert_eq!(clerk.set_policy(only_this_process()).unwrap(), 0);
        assert_eq!(receiver.client.call_on().unwrap(), receiver.pid());
        let asked = asked.lock().unwrap();
        assert!(asked.len() >= 4 && asked.iter().all(|is_this| *is_this), "{asked:?}");
    });
}

#[test]
fn whoever_is_introduced_may_call_what_its_giver_may() {
    let only = Verdict::AdmitOnly(vec!["caller".to_owned()]);
    let three = three_with(DomainOptions::default(), within(Limits::default(), only));
    let given = three.given();
    let client = HostClient::new(three.import(given.introduce().unwrap()).unwrap());
    assert_eq!(client.caller().unwrap(), std::process::id());
    let refused = client.count().unwrap_err();
    let reason = NotExecuted::NotPermitted;
    assert!(matches!(refused, CallError::NotExecuted { reason: found, .. } if found == reason));
}

#[test]
fn whoever_is_introduced_has_its_own_share_and_its_giver_s_limits() {
    let mut limits = Limits::default();
    limits.user.bindings_max = Some(2);
    let three = three_with(DomainOptions::default(), within(limits, Verdict::Admit));
    let given = three.given();
    let _second = three.import(given.introduce().unwrap()).unwrap();
    let error = three.import(given.introduce().unwrap()).unwrap_err();
    let BindError::Overloaded { reason, .. } = &error else { panic!("{error}") };
    assert_eq!(reason, "bindings: 3 is over its user's limit, which is 2");
}

#[test]
fn more_introductions_than_the_limit_are_refused_until_some_are_over() {
    let mut options = DomainOptions::default();
    options.handshakes_max = 8;
    let three = three_with(options, Policy::default());
    let given = three.given();
    // One user alone has half.
    let mut all: Vec<OwnedFd> = (0..4).map(|_| given.introduce().unwrap()).collect();
    let error = given.introduce().unwrap_err();
    assert!(matches!(error, BindError::Overloaded { .. }), "{error}");
    let binding = three.import(all.remove(0)).unwrap();
    all.push(introduce_in_the_end(&given));
    drop(all);
    for _ in 0..8 {
        drop(introduce_in_the_end(&given));
    }
    assert_eq!((said_over(&binding), said_over(&given)), (own_pid(), own_pid()));
}

#[test]
fn one_that_nobody_uses_is_over_in_time_and_leaves_nothing() {
    let mut options = DomainOptions::default();
    options.introduction_timeout = Duration::from_millis(50);
    options.handshakes_max = 2;
    let three = three_with(options, Policy::default());
    let given = three.given();
    for _ in 0..3 {
        // There is room for one.
        let introduction = introduce_in_the_end(&given);
        expect_end(&introduction);
        assert_over(three.import(introduction));
    }
}

#[test]
fn what_is_no_introduction_is_refused() {
    let three = three();
    let _given = three.given();
    let (pipe, _other) = rustix::pipe::pipe().unwrap();
    let (stream, _other) = UnixStream::pair().unwrap();
    for other in [pipe, OwnedFd::from(stream)] {
        let error = three.import(other).unwrap_err();
        assert!(matches!(error, BindError::NoIntroduction(_)), "{error}");
    }
    let (nobody_answers, _other) = Stream::pair().unwrap();
    let mut options = ImportOptions::default();
    options.timeout = Duration::from_millis(50);
    let domain = &three.receiver;
    let nobody_answers = OwnedFd::from(nobody_answers);
    let error = Binding::import_introduced_with(domain, nobody_answers, &HOST, options);
    let error = error.unwrap_err();
    assert!(matches!(error, BindError::TimedOut { .. }), "{error}");
    // A way to the clerk, by which one binds oneself.
    let way = Stream::connect(three.clerk.path()).unwrap();
    assert_over(three.import(OwnedFd::from(way)));
    assert_eq!(three.clerk.binding_count(), 1);
}

#[test]
fn whatever_else_comes_over_an_introduction_ends_it_and_nothing_more() {
    let three = three();
    let given = three.given();
    let (pipe, other_end) = rustix::pipe::pipe().unwrap();
    let present = hand::packet(&Message::Present);
    let import = hand::packet(&hand::import_message());
    let number = hand::packet(&Message::Introduce { number: 0 });
    let pipes = [pipe, other_end];
    let forged: [(&str, &[u8], &[OwnedFd]); 6] = [
        ("no message", b"xy", &[]),
        ("a pipe", &present, &pipes[..1]),
        ("nothing", &present, &[]),
        ("too many", &present, &pipes),
        ("an import", &import, &pipes),
        ("a giver's message", &number, &[]),
    ];
    for (what, packet, descriptors) in forged {
        let introduction = given.introduce().unwrap();
        let stream = Stream::from_descriptor(introduction.try_clone().unwrap()).unwrap();
        hand::send(&stream, packet, descriptors).unwrap();
        assert!(hand::await_hang_up(&stream, GONE).is_some(), "{what}");
        assert_over(three.import(introduction));
        assert_eq!(said_over(&given), own_pid(), "{what}");
    }
    assert_eq!(three.clerk.binding_count(), 1);
}

/// As a hostile server would whose client that is: the import was meant for it.
#[test]
fn an_import_by_a_name_is_not_passed_on() {
    let three = three();
    let given = three.given();
    let introduction = Stream::from_descriptor(given.introduce().unwrap()).unwrap();
    let hostile = hand::listen(three.directory.path(), "hostile").unwrap();
    let options = import_options(three.directory.path());
    let imported = std::thread::scope(|threads| {
        let import = || Binding::import_with(&three.receiver, "hostile", &HOST, options);
        let importing = threads.spawn(import);
        let mut accepted = None;
        await_that(|| {
            accepted = hostile.accept().unwrap();
            accepted.is_some()
        });
        let accepted = OwnedFd::from(accepted.expect("it has connected"));
        hand::send(&introduction, &hand::packet(&Message::Present), &[accepted]).unwrap();
        importing.join().unwrap()
    });
    let error = imported.unwrap_err();
    let BindError::Peer { reason, .. } = &error else { panic!("{error}") };
    assert_eq!(reason, "import that is passed on");
    assert_eq!(three.clerk.binding_count(), 1);
}

#[test]
fn a_giver_is_charged_for_a_socket_over_which_nothing_comes() {
    let mut options = DomainOptions::default();
    options.handshakes_max = 2;
    let three = three_with(options, Policy::default());
    let given = three.given();
    let introduction = Stream::from_descriptor(given.introduce().unwrap()).unwrap();
    let (silent, presented) = Stream::pair().unwrap();
    let present = hand::packet(&Message::Present);
    hand::send(&introduction, &present, &[presented.into()]).unwrap();
    assert!(hand::await_hang_up(&introduction, GONE).is_some());
    let error = given.introduce().unwrap_err();
    assert!(matches!(error, BindError::Overloaded { .. }), "{error}");
    // A bind takes a second at most.
    assert!(hand::await_hang_up(&silent, GONE).is_some());
    drop(introduce_in_the_end(&given));
}

#[test]
fn a_binding_that_was_introduced_has_no_name_to_rebind_by() {
    let Three { directory, server, clerk, giver, receiver } = three();
    let options = import_options(directory.path());
    let given = Binding::import_with(&giver, "host", &HOST, options).unwrap();
    let introduction = given.introduce().unwrap();
    let binding = Binding::import_introduced(&receiver, introduction, &HOST).unwrap();
    assert_eq!(binding.name(), "introducing::Host");
    // While it holds there is nothing to do.
    binding.rebind().unwrap();
    drop(clerk);
    server.shut_down();
    await_that(|| binding.is_revoked());
    let _next = introducing::export(&giver, directory.path(), "host", Policy::default()).unwrap();
    let error = binding.rebind().unwrap_err();
    assert!(matches!(error, BindError::Introduced { .. }), "{error}");
    let again = "the binding to introducing::Host was introduced: no name to rebind by";
    assert_eq!(error.to_string(), again);
    given.rebind().unwrap();
}

#[test]
fn records_say_who_has_introduced_whom() {
    let records = Records::default();
    tracing::subscriber::set_global_default(records.clone()).expect("the only one");
    let directory = tempfile::tempdir().unwrap();
    let server = Domain::new().unwrap();
    let policy = Policy::default();
    let _clerk = introducing::export(&server, directory.path(), "noted", policy).unwrap();
    let domain = Domain::new().unwrap();
    let options = import_options(directory.path());
    let given = Binding::import_with(&domain, "noted", &HOST, options).unwrap();
    let introduction = given.introduce().unwrap();
    drop(Binding::import_introduced(&domain, introduction, &HOST).unwrap());
    let mine = |what: &str| {
        let all = records.all();
        all.into_iter().filter(|text| text.contains("\"noted\"") && text.contains(what)).count()
    };
    assert_eq!((mine("event=\"bound\""), mine("rule=\"introduced\"")), (2, 1));
    assert_eq!(mine(&format!("giver_pid={} rule=", own_pid())), 1, "{:?}", records.all());
    await_that(|| mine(&format!("giver_pid={} reason=", own_pid())) == 1);
}
