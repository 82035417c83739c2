//! Calls between two domains, in each world: what arrives, and what is refused.

// Relaxed: a counter and a flag that order nothing.
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

use nearcall::{CallError, Error, Ran, UsageError, WhenExhausted};
use testkit::faults::faults::{FaultsRefuseException, Point, Refused, Shape};
use testkit::longer::{is_late, is_so_beside};
use testkit::world::{Kind, World, each_world, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

fn check(test: impl Fn(&World)) {
    each_world(SERVER, test);
}

#[test]
fn scalars_arrive() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        client.null().unwrap();
        assert_eq!(client.add(i32::MAX, 1).unwrap(), i32::MIN);
        client.set_level(-7).unwrap();
        assert_eq!(client.level().unwrap(), -7);
    });
}

#[test]
fn bytes_of_every_length_arrive() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        let around = [0, 1, 39, 40, 41, 48, 200, 2040, 2041, 4096, 65_536, 65_537, 1 << 20];
        for length in around.into_iter().chain([5, 3 << 20, 1 << 20]) {
            let data: Vec<u8> = (0..length).map(|at| (at * 31 % 251) as u8).collect();
            assert!(client.echo(&data).unwrap() == data, "{length} bytes");
        }
    });
}

#[test]
fn text_arrives() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        assert_eq!(client.greet("").unwrap(), "hello, ");
        assert_eq!(client.greet("Zoë €").unwrap(), "hello, Zoë €");
    });
}

#[test]
fn nested_values_arrive() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        let shape = |name: &str, points: &[(i32, f64)]| Shape {
            name: name.to_owned(),
            points: points.iter().map(|&(x, y)| Point { x, y }).collect(),
        };
        let given = [shape("é", &[(1, 0.5), (2, -0.25)]), shape("", &[])];
        let want = [shape("", &[]), shape("é", &[(-1, -0.5), (-2, 0.25)])];
        assert_eq!(client.mirror(&given).unwrap(), want);
    });
}

#[test]
fn lent_bytes_arrive_in_place_and_out_of_line() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        let mut data = Vec::new();
        for length in [0u32, 1, 2000, 2048, 2049, 9_000, 300_000, 10] {
            client.fill(length, 3, &mut data).unwrap();
            assert!(data == vec![3; length as usize], "{length} bytes");
            assert_eq!(client.sum(&data).unwrap(), 3 * length);
        }
    });
}

#[test]
fn an_exception_is_raised_and_the_next_call_returns() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        let raised = client.refuse(9).unwrap_err();
        assert_eq!(raised.ran(), Ran::Yes);
        let Error::Exception(FaultsRefuseException::Refused(Refused { code, reason })) = raised
        else {
            panic!("{raised}");
        };
        assert_eq!((code, reason.as_str()), (9, "code 9"));
        assert_eq!(client.refuse(0).unwrap(), 0);
    });
}

#[test]
fn an_argument_over_its_bound_is_refused_before_the_post() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        let refused = client.greet(&"x".repeat(65)).unwrap_err();
        assert_eq!(refused.ran(), Ran::No);
        assert!(matches!(refused, CallError::Usage(UsageError::OverBound(_))));
        assert_eq!(refused.to_string(), "name has 65 bytes or elements, its limit is 64");
        assert_eq!(client.greet(&"x".repeat(64)).unwrap().len(), 71);
    });
}

#[test]
fn a_procedure_that_panics_ran_and_the_server_lives() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        for _ in 0..3 {
            let error = client.panic("planned").unwrap_err();
            assert_eq!(error.ran(), Ran::Yes);
            assert!(
                matches!(error, CallError::Panicked { procedure }
                    if procedure.operation() == "panic"),
                "{error}"
            );
        }
        assert_eq!(client.runs().unwrap(), 3);
    });
}

#[test]
fn a_deadline_aborts_and_its_astack_comes_back() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        let hasty = client.with_deadline(Duration::from_millis(20));
        // It may be given up before it is taken, and may have returned before we look.
        let is_served_meanwhile = |milliseconds| {
            let before = client.runs().unwrap();
            let aborted = hasty.doze(milliseconds);
            let is_captured = || client.binding().captured_count() == 1;
            let was_captured = is_captured();
            // Served by another processor meanwhile, and the late result goes nowhere.
            let after = client.runs().unwrap();
            let is_meanwhile = was_captured && is_captured() && after == before + 1;
            while client.binding().captured_count() > 0 {
                std::thread::yield_now();
            }
            let runs = client.runs().unwrap();
            assert_eq!(client.doze(1).unwrap(), runs + 1);
            let Err(error) = aborted else { return false };
            let CallError::CallAborted { procedure, .. } = error else {
                assert!(is_late(&error), "{error}");
                return false;
            };
            assert_eq!((procedure.operation(), error.ran()), ("doze", Ran::Maybe));
            is_meanwhile
        };
        assert!(is_so_beside(200, is_served_meanwhile));
    });
}

#[test]
fn a_fast_call_does_not_wait_behind_a_slow_one() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        std::thread::scope(|threads| {
            let slow = threads.spawn(|| client.doze(2_000));
            while client.runs().unwrap() == 0 {}
            // Every one of these returns while the slow call is still running.
            for _ in 0..100 {
                client.null().unwrap();
            }
            assert!(!slow.is_finished(), "100 calls took longer than one slow procedure");
            assert_eq!(slow.join().unwrap().unwrap(), 1);
        });
    });
}

#[test]
fn many_threads_call_through_one_binding() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        std::thread::scope(|threads| {
            for thread in 0..12i32 {
                let client = &client;
                threads.spawn(move || {
                    for call in 0..300 {
                        assert_eq!(client.add(thread, call).unwrap(), thread + call);
                    }
                });
            }
        });
    });
}

#[test]
fn a_binding_grows_when_told_to() {
    check(|world| {
        let server = world.serve("calls");
        let mut options = world.import_options();
        options.when_exhausted = WhenExhausted::Grow;
        let client = world.import_with(&server, options);
        let before = client.binding().astack_count();
        // All that there are, until they are collected.
        let held = [(); 5].map(|()| client.posting().doze(1).unwrap());
        std::thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| client.doze(100).unwrap());
            }
        });
        assert_eq!(client.binding().astack_count(), before + 5);
        held.into_iter().for_each(|held| assert!(held.collect().is_ok()));
        assert_eq!(client.runs().unwrap(), 8);
    });
}

#[test]
fn without_growth_a_deadline_bounds_the_wait_for_an_astack() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        // All that there are, until they are collected.
        let held = [(); 5].map(|()| client.posting().doze(1).unwrap());
        std::thread::scope(|threads| {
            let waits_in_vain = |milliseconds: u32| {
                let hasty = client.with_deadline(Duration::from_millis(milliseconds.into()));
                let error = threads.spawn(move || hasty.null()).join().unwrap().unwrap_err();
                assert!(is_late(&error) && error.ran() == Ran::No, "{error}");
                matches!(error, CallError::NoAStack { procedure }
                    if procedure.operation() == "null")
            };
            assert!(is_so_beside(10, waits_in_vain));
        });
        held.into_iter().for_each(|held| assert!(held.collect().is_ok()));
        client.null().unwrap();
    });
}

#[test]
fn many_bindings_share_one_server() {
    check(|world| {
        let server = world.serve("calls");
        let clients: Vec<_> = (0..100).map(|_| world.import(&server)).collect();
        for round in 0..3 {
            for (number, client) in (0..).zip(&clients) {
                assert_eq!(client.add(number, round).unwrap(), number + round);
            }
        }
    });
}

#[test]
fn a_oneway_call_runs() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        for _ in 0..20 {
            client.note().unwrap();
        }
        while client.runs().unwrap() < 20 {
            std::thread::yield_now();
        }
        assert_eq!(client.runs().unwrap(), 20);
    });
}

#[test]
fn a_procedure_knows_its_caller() {
    check(|world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        let uid = std::fs::metadata(world.directory()).map(|own| {
            use std::os::unix::fs::MetadataExt;
            own.uid()
        });
        assert_eq!(client.caller().unwrap(), uid.unwrap());
        assert!(nearcall::current_call().is_none());
    });
}

#[test]
fn domains_that_are_client_and_server_call_each_other_in_turn() {
    check(|world| {
        let first = world.serve("first");
        let _second = world.serve("second");
        let client = world.import(&first);
        // first -> second -> first -> … over bindings that the servers make themselves.
        assert_eq!(client.nest("second", "first", 6).unwrap(), 6);
    });
}

#[test]
fn a_gibibyte_arrives_and_a_byte_more_is_refused() {
    in_world(Kind::Processes, SERVER, |world| {
        let server = world.serve("calls");
        let client = world.import(&server);
        let mut data = vec![1u8; 1 << 30];
        assert_eq!(client.sum(&data).unwrap(), 1 << 30);
        data.push(1);
        let refused = client.sum(&data).unwrap_err();
        assert_eq!(refused.ran(), Ran::No);
        // Payloads are padded to 8.
        let want = "arguments has 1073741832 bytes or elements, its limit is 1073741824";
        assert_eq!(refused.to_string(), want);
        client.null().unwrap();
    });
}

#[test]
fn a_new_binding_is_served_while_another_client_never_pauses() {
    check(|world| {
        let server = world.serve("calls");
        let busy = world.import(&server);
        let (calls, is_over) = (AtomicU32::new(0), AtomicBool::new(false));
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !is_over.load(Relaxed) {
                    busy.null().unwrap();
                    calls.fetch_add(1, Relaxed);
                }
            });
            while calls.load(Relaxed) == 0 {}
            for number in 0..20 {
                assert_eq!(world.import(&server).add(number, 1).unwrap(), number + 1);
            }
            is_over.store(true, Relaxed);
        });
    });
}
