//! Procedures that wait for their server's end (design note 0015).

use nearcall::{Admission, Pending, Policy};
use testkit::awaited::awaited::AwaitedClient;

use super::{SOON, Scene};

/// How a server ends, and what was before that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    ClerkGoes,
    ShutDown,
    ShutDownBehindAnotherPolicy,
}

/// Calls that wait for the end, of these clients, four of each.
fn lasting<'c>(scene: &Scene, clients: &'c [AwaitedClient]) -> Vec<Pending<'c, bool>> {
    let last = |client| (0..4).map(move |_| AwaitedClient::posting(client).last().unwrap());
    let lasting = clients.iter().flat_map(last).collect();
    scene.wait_until_begun(4 * clients.len());
    lasting
}

fn all_return(lasting: Vec<Pending<'_, bool>>) {
    for call in lasting {
        assert!(call.collect().unwrap());
    }
}

#[test]
fn who_waits_for_its_servers_end_returns_then_and_its_results_arrive() {
    for end in [End::ClerkGoes, End::ShutDown, End::ShutDownBehindAnotherPolicy] {
        let scene = Scene::new(2, None);
        let clients = [scene.client(), scene.twin()].map(|client| client.with_deadline(SOON));
        let lasting = lasting(&scene, &clients);
        let Scene { clerk, domain, directory: _directory, client: _domain, .. } = scene;
        if end == End::ShutDownBehindAnotherPolicy {
            let policy = Policy::Ask(Box::new(|_| Admission::Refuse("on purpose".to_owned())));
            assert_eq!(clerk.set_policy(policy).unwrap(), 2);
        }
        if end != End::ClerkGoes {
            domain.shut_down();
        }
        drop(clerk);
        all_return(lasting);
    }
}

/// What was woken is gone on with by nobody before the watcher sees that it is to end.
#[test]
fn who_waits_for_its_servers_end_returns_although_the_watcher_was_elsewhere() {
    let scene = Scene::new(1, None);
    assert!(scene.own.set(scene.domain.clone()).is_ok());
    let clients = [scene.client().with_deadline(SOON)];
    let lasting = lasting(&scene, &clients);
    clients[0].keep().unwrap();
    scene.wait_until_begun(5);
    scene.domain.shut_down();
    all_return(lasting);
}

#[test]
fn who_waits_for_its_servers_end_returns_when_a_procedure_ends_its_own_domain() {
    let scene = Scene::new(1, None);
    assert!(scene.own.set(scene.domain.clone()).is_ok());
    let clients = [scene.client().with_deadline(SOON)];
    let lasting = lasting(&scene, &clients);
    clients[0].shut_down().unwrap();
    all_return(lasting);
}
