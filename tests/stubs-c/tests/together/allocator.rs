//! Programs in C that bring an allocator of their own: all memory that calls have is from it, and
//! all of it is given back to it, on either side.

use crate::support::{Server, Workshop, lacking, run_client, ways};

#[test]
fn memory_is_from_the_allocator_that_is_set_and_goes_back_to_it() {
    let Some((compiler, flags)) = ways().first().copied() else {
        return lacking("a compiler of C");
    };
    let workshop = Workshop::new();
    let server = workshop.program(compiler, "allocator_server", flags);
    let client = workshop.program(compiler, "allocator_client", flags);
    // Both end badly if a piece was not given back, or was another allocator's.
    let server = Server::start(&server, "counted", workshop.path());
    run_client(&client, "counted", workshop.path());
    server.end();
}
