//! The server and the client of `docs/grpc.md`, as they stand there: compiled, and run.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::SystemTime;

use nearcall::{
    Answer, Clerk, Domain, Error, ExportOptions, GivenUp, Inlet, NotPut, Outlet, Surroundings,
};
use testkit::orders::acme::orders::order_event::What;
use testkit::orders::acme::orders::{
    GetOrderRequest, Line, LoadSummary, Order, OrderEvent, OrdersAsyncEntries, OrdersAsyncServer,
    OrdersClient, OrdersGetOrderException, OrdersLoadOrdersException, OrdersTalkException,
    OrdersWatchOrdersException, WatchRequest,
};
use testkit::orders::grpc::{RpcCode, RpcStatus};
use testkit::times::acme::spans::Span;
use tokio::sync::mpsc;

include!(concat!(env!("OUT_DIR"), "/grpc_md.rs"));

/// Says that this process is the one whose names are its own.
const APART: &str = "NEARCALL_TEST_DOCUMENTED";

/// What the document leaves to its reader.
struct Shop {
    orders: Orders,
}

#[derive(Clone)]
struct Orders;

impl Orders {
    /// How many it is, which is one if it has a name.
    fn insert(&self, order: Order) -> u32 {
        u32::from(!order.name.is_empty())
    }

    async fn find(&self, name: &str) -> Option<Order> {
        tokio::task::yield_now().await;
        (name == "orders/1").then(|| Order { name: name.to_owned() })
    }
}

impl Shop {
    fn events(&self, request: &WatchRequest) -> mpsc::Receiver<OrderEvent> {
        let (sender, receiver) = mpsc::channel(1);
        let parent = request.parent.clone();
        tokio::spawn(async move {
            let placed = What::Placed(Order { name: format!("{parent}/2") });
            for what in [placed, What::Closed(parent)] {
                let _ = sender.send(OrderEvent { what }).await;
            }
        });
        receiver
    }
}

/// How many orders the client was shown, and how many it will ask for later.
static SHOWN: AtomicU32 = AtomicU32::new(0);
static LATER: AtomicU32 = AtomicU32::new(0);

fn show(order: &Order) {
    assert_eq!(order.name, "orders/1");
    SHOWN.fetch_add(1, SeqCst);
}

fn later() {
    LATER.fetch_add(1, SeqCst);
}

async fn play() {
    let domain = Domain::new().unwrap();
    let clerk = serve(domain.clone(), Shop { orders: Orders }).await.unwrap();
    let own = Domain::new().unwrap();
    let client = tokio::task::spawn_blocking(move || OrdersClient::import(&own, "orders"));
    let client = client.await.unwrap().unwrap();
    ask(&client, "orders/1".to_owned()).await.unwrap();
    ask(&client, "orders/7".to_owned()).await.unwrap();
    assert_eq!(SHOWN.load(SeqCst), 1);
    let request = WatchRequest { parent: "shop".to_owned() };
    let mut feed = client.awaiting().watch_orders(&request).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = feed.next().await {
        events.push(event.unwrap().what);
    }
    let placed = What::Placed(Order { name: "shop/2".to_owned() });
    assert_eq!(events, [placed, What::Closed("shop".to_owned())]);
    let mut sink = client.awaiting().load_orders().await.unwrap();
    for name in ["orders/2", "", "orders/3"] {
        sink.put(Order { name: name.to_owned() }).await.unwrap();
    }
    assert_eq!(sink.end().await.unwrap(), LoadSummary { count: 2 });
    talk(&client, ["hear", "me"].map(|text| Line { text: text.to_owned() }).to_vec())
        .await
        .unwrap();
    drop(clerk);
    domain.shut_down();
    ask(&client, "orders/1".to_owned()).await.unwrap();
    assert_eq!(LATER.load(SeqCst), 1, "the server has ended, and may come back");
}

#[test]
fn what_the_document_shows_serves_and_asks() {
    if std::env::var_os(APART).is_some() {
        return tokio::runtime::Runtime::new().unwrap().block_on(play());
    }
    // It exports a name where names of this user's are.
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new("/proc/self/exe");
    command.args(["--exact", "--nocapture"]);
    command.arg("documented::what_the_document_shows_serves_and_asks");
    let said = command.env(APART, "").env("XDG_RUNTIME_DIR", directory.path()).output().unwrap();
    let words = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success() && words.contains("1 passed"), "{words}");
    assert!(words.contains("HEAR\nME\n"), "{words}");
}

#[test]
fn what_the_document_shows_of_times_is_so() {
    times().expect("it is now in the years that there are");
}
