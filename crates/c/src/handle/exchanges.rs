//! Exchanges of procedures in C (docs/design/0020-streams.md): the two ends that threads of the
//! application have, and what entry stubs call that carry batches.
//!
//! All exchanges in C have items of the same types here. The kind in a description tells those of
//! an interface apart, so that each has items of its own types only.

use std::ffi::c_void;

use nearcall::raw::{Arguments, Ends, Finish, Keeping, Outcome as Replied, exchange};
use nearcall::{Inlet, NotPut, Outlet, Ran};

use super::records::{BatchRecord, Environment, ExchangeRecord, Outcome};
use super::server::Served;
use super::telling::Told;
use super::values::{Raised, Value};

/// What a call that opens an exchange keeps until its procedure has returned.
pub type ForeignEnds = Ends<Value, Value, Raised>;

/// Items that a client sends. `nearcall_inlet` in C.
pub struct ForeignInlet {
    exchange: &'static ExchangeRecord,
    inlet: Inlet<Value>,
}

/// Items for a client. `nearcall_outlet` in C.
pub struct ForeignOutlet {
    exchange: &'static ExchangeRecord,
    outlet: Outlet<Value, Raised>,
}

/// Replies with a batch, or with what was raised instead: both are the function's.
pub type FinishNext =
    unsafe extern "C" fn(*mut Served<'_>, *const BatchRecord, bool, *mut Environment);

/// Replies that a batch was taken.
pub type FinishPut = unsafe extern "C" fn(*mut Served<'_>);

/// Makes the four ends of an exchange: two for the procedure, two for [`nearcall_open_exchange`].
///
/// # Safety
///
/// - H1 live: all of them. H4 static: `described`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_make_exchange(
    served: *mut Served<'_>,
    described: *const ExchangeRecord,
    inlet: *mut *mut ForeignInlet,
    outlet: *mut *mut ForeignOutlet,
) {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    // SAFETY: H4.
    let described: &'static ExchangeRecord = unsafe { &*described };
    let (ends, items, target) =
        exchange::<Value, Value, Raised>(described.kind, described.batch_count, Keeping::AsItIs);
    served.ends = Some(ends);
    let own = ForeignInlet { exchange: described, inlet: items };
    // SAFETY: H1.
    unsafe { *inlet = Box::into_raw(Box::new(own)) };
    let own = ForeignOutlet { exchange: described, outlet: target };
    // SAFETY: H1.
    unsafe { *outlet = Box::into_raw(Box::new(own)) };
}

/// Opens the exchange that was made, once its procedure has returned. False if there are too many.
///
/// # Safety
///
/// - H1 live: all of them.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_open_exchange(
    served: *mut Served<'_>,
    feed: *mut u64,
    sink: *mut u64,
) -> bool {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    let ends = served.ends.take().expect("its entry stub has made them");
    match served.arguments.open_exchange(ends) {
        Ok((came, sent)) => {
            // SAFETY: H1.
            unsafe { *feed = came };
            // SAFETY: H1.
            unsafe { *sink = sent };
            true
        }
        Err(refusal) => served.refuse(*refusal),
    }
}

/// Has `finish` reply with batch `number` of what comes to the client, once there is one; refuses
/// it if it is not due.
///
/// # Safety
///
/// - H1 live: `served`. H4 static: `described`; `finish` is generated for it.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_exchange_next(
    served: *mut Served<'_>,
    described: *const ExchangeRecord,
    feed: u64,
    number: u32,
    finish: FinishNext,
) {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    // SAFETY: H4.
    let ExchangeRecord { kind, given_bytes, .. } = *unsafe { &*described };
    let told = served.told;
    let awaited = served.arguments.next_of_exchange::<Value, Raised>(kind, feed, number);
    served.conclude_later(move |arguments| {
        let awaited = awaited?;
        arguments.run_awaited(async move {
            let came = awaited.await;
            let finish: Finish = Box::new(move |arguments| {
                let mut environment = Environment::nothing();
                let (batch, is_last) = match came? {
                    Ok((items, is_last)) => {
                        (BatchRecord::of(items.into_items().into_iter(), given_bytes)?, is_last)
                    }
                    Err(raised) => {
                        raised.move_to(&mut environment);
                        (BatchRecord::nothing(), false)
                    }
                };
                finished((arguments, told), |served| {
                    // SAFETY: generated for items of this exchange, as H4 says; batch and
                    // environment are its own from here on.
                    unsafe { finish(served, &batch, is_last, &mut environment) };
                })
            });
            finish
        })
    });
}

/// Has `finish` reply once whoever takes what the client sends has room for batch `number`; refuses
/// it if it is not due. What the items hold is taken, whatever happens.
///
/// # Safety
///
/// - H1 live: `served`. H2 bytes: `count` items at `items`. H4 static: `described`; `finish` is
///   generated for it.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_exchange_put(
    served: *mut Served<'_>,
    described: *const ExchangeRecord,
    sink: u64,
    number: u32,
    items: *const c_void,
    count: u32,
    finish: FinishPut,
) {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    // SAFETY: H4.
    let ExchangeRecord { kind, taken_bytes, free_taken, .. } = *unsafe { &*described };
    let item = |index: u32| {
        // SAFETY: H2: below `count`.
        let at = unsafe { items.byte_add(index as usize * taken_bytes as usize) };
        // SAFETY: H2; whoever calls leaves what it holds to us.
        unsafe { Value::moved_from(at, taken_bytes, free_taken) }
    };
    let items: Vec<Value> = (0..count).map(item).collect();
    let told = served.told;
    let awaited = served.arguments.put_to_exchange::<Value>(kind, sink, number, items);
    served.conclude_later(move |arguments| {
        let awaited = awaited?;
        arguments.run_awaited(async move {
            let taken = awaited.await;
            let finish: Finish = Box::new(move |arguments| {
                taken?;
                finished((arguments, told), |served| {
                    // SAFETY: generated for this procedure, as H4 says.
                    unsafe { finish(served) };
                })
            });
            finish
        })
    });
}

/// Runs the second half of an entry stub.
fn finished(
    (arguments, told): (Arguments<'_>, Told),
    finish: impl FnOnce(&mut Served<'_>),
) -> Replied {
    let mut served = Served::new(arguments, told);
    finish(&mut served);
    served.ended()
}

/// The client sends no more. False if there is no such exchange.
///
/// # Safety
///
/// - H1 live: `served`. H4 static: `described`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_exchange_end(
    served: *mut Served<'_>,
    described: *const ExchangeRecord,
    sink: u64,
) -> bool {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    // SAFETY: H4.
    let kind = unsafe { &*described }.kind;
    match served.arguments.end_of_exchange::<Value>(kind, sink) {
        Ok(()) => true,
        Err(refusal) => served.refuse(*refusal),
    }
}

/// Waits for the next item. False if there are no more, which the environment tells if the client
/// has given them up.
///
/// # Safety
///
/// - H1 live: all of them, and nobody else uses `inlet`; `item` for a value of the inlet's.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_inlet_take(
    inlet: *mut ForeignInlet,
    item: *mut c_void,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    let ForeignInlet { exchange, inlet } = unsafe { &mut *inlet };
    match inlet.next() {
        None => false,
        Some(Ok(value)) => {
            // SAFETY: H1; items of this kind are of as many bytes.
            unsafe { value.move_to(item, exchange.taken_bytes) };
            true
        }
        // SAFETY: H1.
        Some(Err(given_up)) => unsafe { failed(&given_up.into(), environment) },
    }
}

/// Gives the client an item, which is ours, whatever happens. Waits while a whole batch is there
/// that it has not asked for. False if it has given this side up.
///
/// # Safety
///
/// - H1 live: all of them, and nobody else uses `outlet`; `item` for a value of the outlet's.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_outlet_give(
    outlet: *mut ForeignOutlet,
    item: *const c_void,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    let ForeignOutlet { exchange, outlet } = unsafe { &mut *outlet };
    let ExchangeRecord { given_bytes, free_given, .. } = **exchange;
    // SAFETY: H1; whoever calls leaves what it holds to us.
    let value = unsafe { Value::moved_from(item, given_bytes, free_given) };
    match outlet.put(value) {
        Ok(()) => true,
        // SAFETY: H1.
        Err(not_put) => unsafe { failed(&not_put, environment) },
    }
}

/// # Safety
///
/// - H1 live: `environment`.
unsafe fn failed(why: &NotPut, environment: *mut Environment) -> bool {
    // SAFETY: H1.
    let environment = unsafe { Environment::at(environment) };
    match why {
        NotPut::GivenUp => environment.fail(Outcome::GivenUp, Ran::Yes, why),
        NotPut::Refused(_) => environment.fail(Outcome::Usage, Ran::No, why),
    }
    false
}

/// Takes no more items; null is nothing.
///
/// # Safety
///
/// - H1 live: `inlet`, or null; this is its last use.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_inlet_release(inlet: *mut ForeignInlet) {
    if !inlet.is_null() {
        // SAFETY: H1, from `nearcall_make_exchange`.
        drop(unsafe { Box::from_raw(inlet) });
    }
}

/// Gives the client no more items: these were all if the environment is null, or has no error. What
/// it has raised comes behind them and is taken from it; behind any other error, such as an item's
/// that was refused, the client's call fails. A null outlet is nothing.
///
/// # Safety
///
/// - H1 live: `outlet`, or null; this is its last use. `environment`, or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_outlet_release(
    outlet: *mut ForeignOutlet,
    environment: *mut Environment,
) {
    if outlet.is_null() {
        return;
    }
    // SAFETY: H1, from `nearcall_make_exchange`.
    let outlet = unsafe { Box::from_raw(outlet) }.outlet;
    if environment.is_null() {
        return outlet.end();
    }
    // SAFETY: H1.
    let environment = unsafe { Environment::at(environment) };
    // It may be the one that an end was used with: that error is not the client's, but what it has
    // is not all.
    let of_an_end = [Outcome::GivenUp, Outcome::Usage, Outcome::NoMemory];
    match environment.outcome {
        Outcome::RETURNED => outlet.end(),
        outcome if of_an_end.iter().any(|&of_it| outcome == of_it as u32) => drop(outlet),
        _ => outlet.raise(Raised::taken_from(environment)),
    }
}
