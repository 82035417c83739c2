//! Feeds of procedures in C (docs/design/0020-streams.md): what they return, as the runtime asks it
//! for items or gives it some, and what entry stubs call that carry batches.
//!
//! All feeds in C are of the same types here. So every item says which description its feed was
//! opened with, and a batch that is asked for as another one's is refused.

use std::ffi::{c_char, c_void};

use nearcall::raw::{Batches, Keeping, Malformed, Refusal, Writer};
use nearcall::{Intake, UsageError};

use super::breach::{BreachRecord, breach};
use super::records::{BatchRecord, Environment, IntakeRecord, SourceRecord};
use super::server::Served;
use super::telling::say_refused;
use super::text;
use super::values::{Free, Raised, Value, said, words};

/// What a procedure has returned: a copy of its record, which is released at last.
struct Made {
    record: Box<[u64]>,
    own: *mut c_void,
    release: Option<Free>,
}

// SAFETY: the header asks that its functions may run on any thread, one at a time.
unsafe impl Send for Made {}

impl Made {
    /// # Safety
    ///
    /// - H2 bytes: `made`. H1 live: `own`, until it is released.
    unsafe fn new(
        made: *const c_void,
        byte_count: usize,
        own: *mut c_void,
        release: Option<Free>,
    ) -> Made {
        let mut record = words(byte_count);
        let target = record.as_mut_ptr().cast::<u8>();
        // SAFETY: H2; the words were made just now, for as many bytes.
        unsafe { target.copy_from_nonoverlapping(made.cast(), byte_count) };
        Made { record, own, release }
    }

    fn at(&self) -> *const c_void {
        self.record.as_ptr().cast()
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: H1, and this is the last use.
            unsafe { release(self.own) };
        }
    }
}

/// The items of a procedure in C.
struct ForeignItems {
    source: &'static SourceRecord,
    made: Made,
}

/// An item, whose, and why it is refused.
struct SourceItem {
    source: &'static SourceRecord,
    value: Value,
    refused: Option<Box<UsageError>>,
}

/// What a stub that makes an item is given as an environment: behind it stands why the item is
/// refused.
#[repr(C)]
struct Making {
    environment: Environment,
    refused: Option<Box<UsageError>>,
}

/// Why there is no item, and whose.
struct SourceRaised {
    source: &'static SourceRecord,
    raised: Raised,
}

impl Iterator for ForeignItems {
    type Item = Result<SourceItem, SourceRaised>;

    fn next(&mut self) -> Option<Self::Item> {
        let source = self.source;
        let mut value = Value::new(source.item_bytes, source.free);
        let mut making = Making { environment: Environment::nothing(), refused: None };
        let environment = (&raw mut making).cast();
        // SAFETY: generated for this record, item and all; one thread at a time is here.
        let is_item = unsafe { (source.next)(self.made.at(), value.at(), environment) };
        let Making { environment, refused } = making;
        match said(environment) {
            Err(raised) => Some(Err(SourceRaised { source, raised })),
            Ok(()) if is_item || refused.is_some() => {
                Some(Ok(SourceItem { source, value, refused }))
            }
            Ok(()) => None,
        }
    }
}

/// What its stub has found is the runtime's to tell.
fn judge(item: &SourceItem, writer: &mut Writer) {
    if let Some(refused) = &item.refused {
        writer.breach(UsageError::clone(refused));
    }
}

/// What takes items in C.
struct ForeignTaker {
    intake: &'static IntakeRecord,
    made: Made,
}

/// An item while its batch is taken, and of which feed its sender says it is.
struct IntakeItem {
    intake: &'static IntakeRecord,
    at: *const c_void,
}

/// What a taker makes of its items, and whose.
struct IntakeResult {
    intake: &'static IntakeRecord,
    value: Value,
}

/// Why a taker's feed is over before its end.
enum IntakeOver {
    Raised(Raised),
    /// The item is one of another feed.
    AnotherFeed,
}

impl Intake for ForeignTaker {
    type Item = IntakeItem;
    type Output = IntakeResult;
    type Error = IntakeOver;

    fn take(&mut self, item: IntakeItem) -> Result<(), IntakeOver> {
        if !std::ptr::eq(item.intake, self.intake) {
            return Err(IntakeOver::AnotherFeed);
        }
        let mut environment = Environment::nothing();
        // SAFETY: generated for this record and for items of this feed, which this one is.
        unsafe { (self.intake.take)(self.made.at(), item.at, &mut environment) };
        said(environment).map_err(IntakeOver::Raised)
    }

    fn end(self: Box<Self>) -> Result<IntakeResult, IntakeOver> {
        let intake = self.intake;
        let mut value = Value::new(intake.result_bytes, intake.free);
        let mut environment = Environment::nothing();
        // SAFETY: generated for this record, result and all.
        unsafe { (intake.end)(self.made.at(), value.at(), &mut environment) };
        said(environment).map_err(IntakeOver::Raised)?;
        Ok(IntakeResult { intake, value })
    }
}

/// Opens a feed of what a procedure has made. False if there are too many.
///
/// # Safety
///
/// - H1 live: all of them, and `own` until it is released. H2 bytes: `made`. H4 static: `source`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_open_source(
    served: *mut Served<'_>,
    source: *const SourceRecord,
    made: *const c_void,
    made_bytes: usize,
    own: *mut c_void,
    release: Option<Free>,
    feed: *mut u64,
) -> bool {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    // SAFETY: H4.
    let source = unsafe { &*source };
    // SAFETY: H2, H1.
    let made = unsafe { Made::new(made, made_bytes, own, release) };
    let opened = served.arguments.open_source(Box::new(ForeignItems { source, made }));
    // SAFETY: passed on.
    unsafe { opened_as(served, opened, feed) }
}

/// Opens a feed into what a procedure has made. False if there are too many.
///
/// # Safety
///
/// - H1 live: all of them, and `own` until it is released. H2 bytes: `made`. H4 static: `intake`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_open_intake(
    served: *mut Served<'_>,
    intake: *const IntakeRecord,
    made: *const c_void,
    made_bytes: usize,
    own: *mut c_void,
    release: Option<Free>,
    feed: *mut u64,
) -> bool {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    // SAFETY: H4.
    let intake = unsafe { &*intake };
    // SAFETY: H2, H1.
    let made = unsafe { Made::new(made, made_bytes, own, release) };
    let opened = served.arguments.open_taker(Box::new(ForeignTaker { intake, made }));
    // SAFETY: passed on.
    unsafe { opened_as(served, opened, feed) }
}

/// # Safety
///
/// - H1 live: `feed`.
unsafe fn opened_as(
    served: &mut Served<'_>,
    opened: Result<u64, Box<Refusal>>,
    feed: *mut u64,
) -> bool {
    match opened {
        Ok(number) => {
            // SAFETY: H1.
            unsafe { *feed = number };
            true
        }
        Err(refusal) => served.refuse(*refusal),
    }
}

/// Batch `number` of a feed, whose items are the stub's. False if it is not due.
///
/// # Safety
///
/// - H1 live: all of them. H4 static: `source`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_feed_next(
    served: *mut Served<'_>,
    source: *const SourceRecord,
    feed: u64,
    number: u32,
    batch: *mut BatchRecord,
    is_last: *mut bool,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    // SAFETY: H1.
    let batch = unsafe { &mut *batch };
    *batch = BatchRecord::nothing();
    // SAFETY: H4.
    let SourceRecord { item_bytes, batch_count: count, .. } = *unsafe { &*source };
    let batches = Batches { procedure: served.procedure(), count };
    let keeping = Keeping::Judged(judge);
    let next = served.arguments.next_judged::<_, SourceRaised>(feed, number, batches, keeping);
    let (items, last) = match next {
        Err(refusal) => return served.refuse(*refusal),
        Ok(Err(over)) if std::ptr::eq(over.source, source) => {
            // SAFETY: H1.
            over.raised.move_to(unsafe { Environment::at(environment) });
            return true;
        }
        Ok(Err(_)) => return served.refuse(Refusal::Arguments(Malformed::Feed { feed })),
        Ok(Ok((batch, last))) => (batch.into_items(), last),
    };
    if items.iter().any(|item| !std::ptr::eq(item.source, source)) {
        return served.refuse(Refusal::Arguments(Malformed::Feed { feed }));
    }
    // SAFETY: H1.
    unsafe { *is_last = last };
    match BatchRecord::of(items.into_iter().map(|item| item.value), item_bytes) {
        Ok(made) => *batch = made,
        Err(refusal) => return served.refuse(refusal),
    }
    true
}

/// An item that a procedure has made is beyond a limit of the interface: its feed is over, behind
/// the items before it. The runtime tells the server's author, as of other results. False, always.
///
/// # Safety
///
/// - H1 live: `environment`, as [`SourceRecord::next`] was given it. H3 text: `procedure`.
/// - H4 static: what is refused, and what it may be.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_refuse_item(
    environment: *mut Environment,
    procedure: *const c_char,
    refused: BreachRecord,
) -> bool {
    // SAFETY: H4.
    let refused = unsafe { breach(refused) };
    let refusal = Refusal::Results(refused.clone());
    // SAFETY: H3.
    say_refused(&format_args!("{}: {refusal}", unsafe { text(procedure) }));
    // SAFETY: H1: it is the first part of one, and was made of a pointer to all of it.
    let making = unsafe { &mut *environment.cast::<Making>() };
    making.refused = Some(Box::new(refused));
    false
}

/// Gives batch `number` of a feed to its taker; the items stay the stub's. False if it is not due.
///
/// # Safety
///
/// - H1 live: all of them. H2 bytes: `count` items at `items`. H4 static: `intake`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_feed_put(
    served: *mut Served<'_>,
    intake: *const IntakeRecord,
    feed: u64,
    number: u32,
    items: *const c_void,
    count: u32,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    // SAFETY: H4.
    let intake = unsafe { &*intake };
    let item = |index: u32| {
        // SAFETY: H2: below `count`.
        let at = unsafe { items.byte_add(index as usize * intake.item_bytes as usize) };
        IntakeItem { intake, at }
    };
    let items = (0..count).map(item).collect();
    let put =
        served.arguments.put_to_feed::<IntakeItem, IntakeResult, IntakeOver>(feed, number, items);
    match put {
        Ok(Ok(())) => true,
        Ok(Err(IntakeOver::Raised(raised))) => {
            // SAFETY: H1.
            raised.move_to(unsafe { Environment::at(environment) });
            true
        }
        Ok(Err(IntakeOver::AnotherFeed)) => {
            served.refuse(Refusal::Arguments(Malformed::Feed { feed }))
        }
        Err(malformed) => served.refuse(Refusal::Arguments(malformed)),
    }
}

/// Tells a taker that there are no more items; what it makes of them is the stub's. False if there
/// is no such feed.
///
/// # Safety
///
/// - H1 live: all of them; `result` for as many bytes as the description says. H4 static: `intake`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_feed_finish(
    served: *mut Served<'_>,
    intake: *const IntakeRecord,
    feed: u64,
    result: *mut c_void,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    let ended = served.arguments.end_of_feed::<IntakeItem, IntakeResult, IntakeOver>(feed);
    match ended {
        Ok(Ok(made)) if std::ptr::eq(made.intake, intake) => {
            if made.intake.result_bytes > 0 {
                // SAFETY: H1.
                unsafe { made.value.move_to(result, made.intake.result_bytes) };
            }
            true
        }
        Ok(Err(IntakeOver::Raised(raised))) => {
            // SAFETY: H1.
            raised.move_to(unsafe { Environment::at(environment) });
            true
        }
        Ok(Ok(_) | Err(IntakeOver::AnotherFeed)) => {
            served.refuse(Refusal::Arguments(Malformed::Feed { feed }))
        }
        Err(malformed) => served.refuse(Refusal::Arguments(malformed)),
    }
}
