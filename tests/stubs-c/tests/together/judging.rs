//! Items of feeds that their types refuse, between C and C++: each is refused where it is put, as
//! by a call, and those that were put before it and behind it arrive.

use crate::support::{Server, Workshop, run_client, ways};

#[test]
fn an_item_is_refused_where_it_is_put_and_no_other() {
    let ways = ways();
    let mut pairs = 0;
    for (compiler, flags) in &ways {
        println!("{compiler} {flags:?}");
        let (c, cpp) = (Workshop::of("c", "judging.idl"), Workshop::of("cpp", "judging.idl"));
        let runtime = c.path();
        let clients =
            [c.program(compiler, "judge", flags), cpp.program(compiler, "judge_cpp", flags)];
        let servers = [
            ("c", c.program(compiler, "judged", flags)),
            ("cpp", cpp.program(compiler, "judged_cpp", flags)),
        ];
        for (name, program) in &servers {
            let server = Server::start(program, name, runtime);
            for client in &clients {
                print!("{} calls {name}: {}", client.display(), run_client(client, name, runtime));
                pairs += 1;
            }
            server.end();
        }
    }
    println!("{pairs} pairs");
    assert!(pairs == 4 * ways.len(), "{pairs} pairs");
}
