//! What tests of feeds share: calls that open feeds, or carry items, and are made by hand, and
//! counts of a server's that are waited for.

use std::time::{Duration, Instant};

use nearcall::raw::Client;
use nearcall::{CallError, InterfaceDescriptor, NotExecuted, Pending, Ran, UsageError};

/// Longest until a server has noticed what nobody wants.
pub const NOTICED: Duration = Duration::from_secs(60);

/// Waits until a count of the server's is this.
pub fn expect(want: u32, count: impl Fn() -> Result<u32, CallError>) {
    let begin = Instant::now();
    while count().unwrap() != want {
        assert!(begin.elapsed() < NOTICED, "{}, not {want}", count().unwrap());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A feed is over, and nobody's error.
pub fn is_over(error: &CallError) -> bool {
    matches!(error, CallError::NotExecuted { reason: NotExecuted::FeedOver, .. })
}

/// What is said of one more feed, or exchange, that is opened by hand: past the client's own count.
pub fn opened_by_hand(
    (client, interface): (&Client, &InterfaceDescriptor),
    procedure: &str,
    argument: u32,
) -> Result<(), CallError> {
    let index = interface.procedures.iter().position(|one| one.name == procedure).unwrap();
    let class = usize::from(interface.procedures[index].class);
    let mut call = client.claim_of_class(class, index as u32)?;
    call.put_u32::<0>(argument);
    call.put_u32::<4>(0);
    call.post(8).map(drop).map_err(|error| *error)
}

/// This one is refused by the client itself, which has so many feeds open.
#[track_caller]
pub fn expect_no_room(refused: &CallError, procedure: &str, count: u32) {
    let words = format!(
        "no room for what {procedure} opens: this client has {count} feeds open over its binding, \
         of 64 that it may have (an exchange is two): it reads or ends one first, or gives one up"
    );
    assert!(
        matches!(refused, CallError::Usage(UsageError::TooManyFeeds { open, limit: 64, .. })
            if *open == count),
        "{refused}"
    );
    assert_eq!(refused.to_string(), words);
    assert_eq!(refused.ran(), Ran::No);
}

/// Posts a call of a procedure that carries items; one that puts has what stands before its items,
/// and those.
pub fn posted<'b>(
    (client, interface): (&'b Client, &InterfaceDescriptor),
    procedure: &str,
    (feed, number): (u64, u32),
    (length, items): (u32, [u8; 4]),
) -> Pending<'b, ()> {
    let index = interface.procedures.iter().position(|one| one.name == procedure).unwrap();
    let class = usize::from(interface.procedures[index].class);
    let mut call = client.claim_of_class(class, index as u32).unwrap();
    call.put_u64::<0>(feed);
    call.put_u32::<8>(number);
    let fixed_bytes = match procedure.starts_with("_put") {
        true => {
            call.put_u32::<12>(length);
            let mut variable = call.variable::<16>(8).unwrap();
            variable.put(&items);
            16
        }
        false => 12,
    };
    call.post_pending(fixed_bytes, |_| Ok(())).unwrap()
}

/// Of two calls for one batch the one that waits. The other is refused, whichever the server has
/// looked at first.
pub fn waiting_of_two<'b>([first, second]: [Pending<'b, ()>; 2]) -> Pending<'b, ()> {
    while !first.is_replied() && !second.is_replied() {
        std::thread::yield_now();
    }
    let (refused, waiting) = if first.is_replied() { (first, second) } else { (second, first) };
    expect_refused(refused);
    waiting
}

/// The call is not executed, because of its arguments.
#[track_caller]
pub fn expect_refused(call: Pending<'_, ()>) {
    let said = call.collect().unwrap_err();
    assert!(
        matches!(said, CallError::NotExecuted { reason, .. }
            if reason == NotExecuted::ArgumentsRefused),
        "{said}"
    );
}
