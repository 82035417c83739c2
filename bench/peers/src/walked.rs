//! Calls that the benchmark program walks through instruction by instruction, to count them: its
//! table `instructions`.
//!
//! ```text
//! standard input:  calls CASE CALLS
//! standard output: SERVER SERVER_MARK CLIENT_MARK
//! ```
//!
//! A mark is the address of [`mark`], which the client visits before each call and the server in
//! each procedure.

use std::hint::black_box;

use crate::call::{Call, Client, Failure};
use crate::client::Server;

/// The arguments of `pfs_write`: where it writes, and four numbers.
pub const HANDLE: i32 = 3;
pub const POSITION: i32 = 100;
pub const NUMBERS: [i32; 4] = [1, 2, 3, 4];

/// What both sides visit once a call.
#[inline(never)]
pub fn mark() {
    black_box(0_u32);
}

/// Where that is in this process.
pub fn mark_address() -> usize {
    mark as fn() as usize
}

/// What the procedure does: the position moves on by as many as there are numbers.
pub fn moved(handle: i32, pos: i32, len: i32, numbers: usize) -> i32 {
    mark();
    black_box((handle, len));
    pos.wrapping_add(black_box(numbers) as i32)
}

/// Obeys an order, of which `words` are all but the first; what is said then.
pub async fn obey(
    client: &mut impl Client,
    server: &mut Server,
    words: &str,
) -> Result<String, Failure> {
    let (case, calls) = words.split_once(' ').ok_or("which case, how many calls?")?;
    let calls: u32 = calls.parse()?;
    client.begin(server)?;
    for _ in 0..calls {
        mark();
        match case {
            "null" => client.call(Call::Null, &[]).await?,
            "pfs_write" => {
                let pos = client.pfs_write(black_box(POSITION), black_box(&NUMBERS)).await?;
                crate::call::check(pos == POSITION + 4)?;
            }
            _ => return Err(format!("there is no case {case}").into()),
        }
    }
    client.end()?;
    Ok(format!("{} {} {}", server.id(), server.mark(), mark_address()))
}
