//! Compiles the interfaces of the two-domain tests and of the campaign, and puts what a document
//! shows where a test finds it.

use std::path::Path;

/// Whose blocks in Rust are compiled and run by `tests/together/documented.rs`.
const DOCUMENT: &str = "../docs/grpc.md";

fn main() {
    nearcall_idl::build("orders.proto");
    nearcall_idl::build("../tests/idl/rust/times.proto");
    put_blocks();
    nearcall_idl::build("faults.idl");
    nearcall_idl::build("contract.idl");
    nearcall_idl::build("effects.idl");
    nearcall_idl::build("awaited.idl");
    nearcall_idl::build("turns.idl");
    nearcall_idl::build("stays.idl");
    nearcall_idl::build("exchanges.idl");
    nearcall_idl::build("judging.idl");
    nearcall_idl::build("estacks.idl");
    nearcall_idl::build("introducing.idl");
    nearcall_idl::build("forms.idl");
    nearcall_idl::build("pieces.proto");
    nearcall_idl::build("flowing.idl");
    nearcall_idl::build("surrounded.idl");
}

/// The document's server, of which it shows some procedures apart, and what exports it and its
/// clients, each of those as a function's body, as what makes times is.
fn put_blocks() {
    println!("cargo::rerun-if-changed={DOCUMENT}");
    let document = std::fs::read_to_string(DOCUMENT).expect("the document is there");
    let shown = |begin: &str| {
        let mut blocks = document
            .split("\n```rust\n")
            .skip(1)
            .map(|rest| rest.split_once("\n```\n").expect("a block has an end").0);
        blocks.find(|block| block.starts_with(begin)).expect("the document shows it").to_owned()
    };
    let fallible = "Result<Clerk, Box<dyn std::error::Error>>";
    let server = shown("impl OrdersAsyncServer for Shop {");
    let (server, exported) = server.split_once("\n}\n\n").expect("the server is exported");
    let apart = ["load_orders", "talk"].map(|name| shown(&format!("    async fn {name}(")));
    let client = shown("let orders = client.awaiting();");
    let talking = shown("let (mut sink, mut feed) = client.awaiting().talk()");
    let times = shown("let length = std::time::Duration::from_millis(1_500);");
    let nothing = fallible.replace("Clerk", "()");
    let client_of = |name: &str, given: &str, body: &str| {
        let parameters = format!("client: &OrdersClient, {given}");
        format!("async fn {name}({parameters}) -> {nothing} {{\n{body}\nOk(())\n}}\n")
    };
    let text = [
        &format!("{server}\n{}\n}}\n", apart.concat()),
        &format!("async fn serve(domain: Domain, shop: Shop) -> {fallible} {{\n{exported}"),
        "\nOk(clerk)\n}\n",
        &client_of("ask", "name: String", &client),
        &client_of("talk", "lines: Vec<Line>", &talking),
        &format!("fn times() -> {nothing} {{\n{times}\nOk(())\n}}\n"),
    ];
    let text = text.concat();
    let folder = std::env::var_os("OUT_DIR").expect("cargo sets it");
    std::fs::write(Path::new(&folder).join("grpc_md.rs"), text).expect("it can be written");
}
