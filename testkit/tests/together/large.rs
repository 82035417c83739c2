//! Large arguments and results in each world: copied by both sides at once, and lent in place.

use std::time::Duration;

use nearcall::raw::{Call, Client};
use nearcall::{CallError, NotExecuted, Ran, UsageError};
use testkit::faults::faults::{FAULTS, FaultsClient};
use testkit::world::{World, each_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

const PAGE: usize = 4096;
const PIECE: usize = 64 << 10;
const MIB: usize = 1 << 20;

const LENGTHS: &[usize] = &[
    0,
    PAGE,
    PIECE - 1,
    PIECE,
    PIECE + 1,
    2 * PIECE - 1,
    2 * PIECE,
    2 * PIECE + 1,
    MIB,
    MIB + 9,
    64 * MIB,
];

fn check(test: impl Fn(&World)) {
    each_world(SERVER, test);
}

fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|at| ((at + seed) * 31 % 251) as u8).collect()
}

fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add((*byte).into()))
}

#[test]
fn arguments_and_results_of_every_length_arrive() {
    check(|world| {
        let server = world.serve("large");
        let client = world.import(&server);
        // The first call of an A-stack does not know yet where its server runs.
        client.null().unwrap();
        for (seed, length) in LENGTHS.iter().enumerate() {
            let data = pattern(*length, seed);
            assert!(client.echo(&data).unwrap() == data, "{length} bytes");
        }
    });
}

#[test]
fn opaque_arguments_and_results_of_every_length_arrive() {
    check(|world| {
        let server = world.serve("large");
        let client = world.import(&server);
        let mut data = Vec::new();
        for length in LENGTHS {
            client.fill(*length as u32, 3, &mut data).unwrap();
            assert!(data == vec![3; *length], "{length} bytes");
            assert_eq!(client.sum(&data).unwrap(), 3u32.wrapping_mul(*length as u32));
        }
    });
}

#[test]
fn a_large_payload_between_others_arrives() {
    check(|world| {
        let server = world.serve("large");
        let client = world.import(&server);
        let (few, many) = (pattern(5, 1), pattern(3 * MIB + 5, 2));
        for _ in 0..3 {
            let joined = client.join(&few, &many, &many[..2 * MIB], "tail").unwrap();
            assert!(joined == [&few[..], &many, &many[..2 * MIB], b"tail"].concat());
        }
    });
}

#[test]
fn lent_bytes_are_read_where_they_were_built() {
    check(|world| {
        let server = world.serve("large");
        let client = world.import(&server);
        for (seed, length) in LENGTHS.iter().enumerate() {
            let mut lent = client.binding().lend(*length).unwrap();
            assert!(lent.iter().all(|byte| *byte == 0));
            let data = pattern(*length, seed);
            lent.copy_from_slice(&data);
            assert_eq!(client.sum(&lent).unwrap(), sum(&data), "{length} bytes");
            let half = length / 2;
            lent[half..].fill(1);
            assert_eq!(client.sum(&lent).unwrap(), sum(&lent), "{length} bytes, changed");
            assert_eq!(client.sum(lent.first(half)).unwrap(), sum(&data[..half]));
        }
    });
}

#[test]
fn many_threads_pass_one_lent_buffer() {
    check(|world| {
        let server = world.serve("large");
        let client = world.import(&server);
        let mut lent = client.binding().lend(MIB).unwrap();
        lent.fill(2);
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..8 {
                        assert_eq!(client.sum(&lent).unwrap(), 2 << 20);
                    }
                });
            }
        });
    });
}

#[test]
fn what_is_lent_over_another_binding_is_refused_before_the_post() {
    check(|world| {
        let server = world.serve("large");
        let (client, other) = (world.import(&server), world.import(&server));
        let lent = other.binding().lend(PAGE).unwrap();
        let refused = client.sum(&lent).unwrap_err();
        assert!(matches!(refused, CallError::Usage(UsageError::LentElsewhere)), "{refused}");
        assert_eq!(refused.ran(), Ran::No);
        assert_eq!(other.sum(&lent).unwrap(), 0);
    });
}

#[test]
fn more_than_the_limit_are_not_lent_and_one_given_back_makes_room() {
    check(|world| {
        let server = world.serve("large");
        let client = world.import(&server);
        let mut all: Vec<_> = (0..64).map(|_| client.binding().lend(1).unwrap()).collect();
        let refused = client.binding().lend(1).unwrap_err();
        assert!(matches!(refused, CallError::Usage(UsageError::NoMemory { .. })), "{refused}");
        all.truncate(63);
        all.push(client.binding().lend(PAGE).unwrap());
        assert_eq!(client.sum(&all[63]).unwrap(), 0);
        let refused = client.binding().lend(MIB * 1024 + 1).unwrap_err();
        assert!(matches!(refused, CallError::Usage(UsageError::OverBound(_))), "{refused}");
    });
}

/// The index of `sum` among the procedures, and where its parts lie: as the compiler lays it out.
const SUM: u32 = 5;
const SUM_CLASS: usize = 5;
const LENT: u32 = 1 << 31;

fn post(call: Call<'_, '_>) -> Result<(), CallError> {
    call.post(4).map(drop).map_err(CallError::from)
}

fn refuses_lent(client: &FaultsClient, length_word: u32, number: u64) {
    let raw = Client::new(client.binding().clone(), &FAULTS);
    let procedure = &FAULTS.procedures[SUM as usize];
    assert_eq!((procedure.name, usize::from(procedure.class)), ("sum", SUM_CLASS));
    let mut call = raw.claim::<SUM_CLASS>(SUM).unwrap();
    call.put_u32::<0>(length_word);
    let number = number.to_le_bytes();
    call.variable::<48>(8).unwrap().put(&number);
    let error = post(call).unwrap_err();
    let refused = NotExecuted::ArgumentsRefused;
    let expected = matches!(error, CallError::NotExecuted { reason, .. } if reason == refused);
    assert!(expected, "{error}");
}

#[test]
fn a_forged_lent_argument_is_refused_and_the_next_call_returns() {
    check(|world| {
        let server = world.serve("large");
        let client = world.import(&server);
        let lent = client.binding().lend(PAGE).unwrap();
        assert_eq!(client.sum(&lent).unwrap(), 0);
        // The first is number 1.
        refuses_lent(&client, LENT | (PAGE as u32 + 1), 1);
        refuses_lent(&client, LENT | (LENT - 1), 1);
        refuses_lent(&client, LENT | 1, 0);
        refuses_lent(&client, LENT | 1, 2);
        refuses_lent(&client, LENT | 1, 1 << 32 | 1);
        drop(lent);
        // The server has answered this, so that it has heard of the drop before it.
        let _next = client.binding().lend(1).unwrap();
        refuses_lent(&client, LENT | 1, 1);
        assert_eq!(client.sum(&[1, 2, 3]).unwrap(), 6);
        assert!(!client.with_deadline(Duration::from_secs(9)).binding().is_revoked());
    });
}
