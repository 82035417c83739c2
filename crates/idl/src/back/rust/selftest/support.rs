//! What the two programs of a self-test share: values as text, and what is counted.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A longer text is compared by its beginning, its length and its hash.
const SHOWN_BYTES_MAX: usize = 300;
/// How much of a longer text there is to see.
const BEGINNING_BYTES: usize = 100;
/// How long the server waits for calls that were posted and not awaited.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was called, and what differed.
#[derive(Debug)]
pub struct Check {
    side: &'static str,
    calls: Vec<AtomicUsize>,
    values: AtomicUsize,
    differences: AtomicUsize,
}

impl Check {
    /// For one side of so many operations.
    pub fn new(side: &'static str, operation_count: usize) -> Check {
        let calls = std::iter::repeat_with(AtomicUsize::default).take(operation_count).collect();
        Check { side, calls, values: AtomicUsize::new(0), differences: AtomicUsize::new(0) }
    }

    /// Counts a call of an operation; which of its rounds it is.
    pub fn round(&self, operation: usize, rounds: usize) -> usize {
        self.calls[operation].fetch_add(1, Ordering::SeqCst) % rounds
    }

    /// Compares a value with the text that it should have.
    pub fn same<T: Shown + ?Sized>(&self, at: (&str, usize, &str), got: &T, wanted: &str) {
        self.values.fetch_add(1, Ordering::SeqCst);
        let got = shortened(&got.shown());
        if got != wanted {
            self.differs(at, &got, wanted);
        }
    }

    /// Says what is not as it should be.
    pub fn differs(&self, at: (&str, usize, &str), got: impl Display, wanted: &str) {
        let (place, round, what) = at;
        self.differences.fetch_add(1, Ordering::SeqCst);
        eprintln!(
            "{} of {place}, round {round}: {what} is\n  {got}\nand should be\n  {wanted}",
            self.side
        );
    }

    /// Waits until so many calls were taken, or for so long that they will not be.
    pub fn wait(&self, wanted: usize) {
        let begun = Instant::now();
        while self.call_count() < wanted && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Says what was counted, and ends the program: well only if there were as many calls as there
    /// should be, and no difference. A client stays until its standard input ends: a call that is
    /// not awaited goes with its client.
    pub fn end(&self, wanted: usize) -> ! {
        let (calls, values) = (self.call_count(), self.values.load(Ordering::SeqCst));
        let differences = self.differences.load(Ordering::SeqCst);
        println!("{}: {calls} of {wanted} calls, {values} values, {differences} differ", self.side);
        rest();
        let is_well = calls == wanted && calls > 0 && differences == 0;
        std::process::exit(i32::from(!is_well))
    }

    fn call_count(&self) -> usize {
        self.calls.iter().map(|one| one.load(Ordering::SeqCst)).sum()
    }
}

/// Waits until whoever started it closes its standard input.
pub fn rest() {
    // There is nothing to read; that it cannot be read is an end, too.
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}

/// The items of `part` over and over, until there are `count`.
pub fn repeated<T: Clone>(part: &[T], count: usize) -> Vec<T> {
    part.iter().cycle().take(count).cloned().collect()
}

/// The same as an array.
pub fn repeated_array<T: Clone, const PART: usize, const COUNT: usize>(
    part: [T; PART],
) -> [T; COUNT] {
    std::array::from_fn(|index| part[index % PART].clone())
}

/// Keeps all items of a feed for what is done at its end.
pub struct Collected<T, F> {
    items: Vec<T>,
    end: F,
}

impl<T, F> Collected<T, F> {
    /// Calls `end` with the items.
    pub fn new(end: F) -> Collected<T, F> {
        Collected { items: Vec::new(), end }
    }
}

impl<T, R, E, F> nearcall::Intake for Collected<T, F>
where
    T: Send,
    F: FnOnce(Vec<T>) -> Result<R, E> + Send,
{
    type Item = T;
    type Output = R;
    type Error = E;

    fn take(&mut self, item: T) -> Result<(), E> {
        self.items.push(item);
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<R, E> {
        (self.end)(self.items)
    }
}

fn shortened(text: &str) -> String {
    if text.len() <= SHOWN_BYTES_MAX {
        return text.to_owned();
    }
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{}... {} bytes, hash {hash:016x}", &text[..BEGINNING_BYTES], text.len())
}

/// A value as text, the same in every language.
pub trait Shown {
    /// Appends it.
    fn show(&self, text: &mut String);

    /// The text.
    fn shown(&self) -> String {
        let mut text = String::new();
        self.show(&mut text);
        text
    }
}

macro_rules! shown_as_decimal {
    ($($declared:ty)*) => {
        $(impl Shown for $declared {
            fn show(&self, text: &mut String) {
                *text += &self.to_string();
            }
        })*
    };
}

shown_as_decimal!(bool u8 i8 u16 i16 u32 i32 u64 i64);

impl Shown for nearcall::Char {
    fn show(&self, text: &mut String) {
        self.0.show(text);
    }
}

impl Shown for char {
    fn show(&self, text: &mut String) {
        u32::from(*self).show(text);
    }
}

impl Shown for f32 {
    fn show(&self, text: &mut String) {
        *text += &format!("0x{:08x}", self.to_bits());
    }
}

impl Shown for f64 {
    fn show(&self, text: &mut String) {
        *text += &format!("0x{:016x}", self.to_bits());
    }
}

impl Shown for nearcall::LongDouble {
    fn show(&self, text: &mut String) {
        *text += "0x";
        self.0.iter().for_each(|byte| *text += &format!("{byte:02x}"));
    }
}

impl Shown for str {
    fn show(&self, text: &mut String) {
        text.push('"');
        for byte in self.bytes() {
            match byte {
                b' '..=b'~' if byte != b'"' && byte != b'\\' => text.push(byte.into()),
                // Writing to a string does not fail.
                _ => drop(write!(text, "\\{byte:02x}")),
            }
        }
        text.push('"');
    }
}

impl Shown for String {
    fn show(&self, text: &mut String) {
        self.as_str().show(text);
    }
}

impl<T: Shown> Shown for [T] {
    fn show(&self, text: &mut String) {
        let all: Vec<String> = self.iter().map(Shown::shown).collect();
        *text += &format!("[{}]", all.join(", "));
    }
}

impl<T: Shown> Shown for Vec<T> {
    fn show(&self, text: &mut String) {
        self.as_slice().show(text);
    }
}

impl<T: Shown, const COUNT: usize> Shown for [T; COUNT] {
    fn show(&self, text: &mut String) {
        self.as_slice().show(text);
    }
}

impl<K: Shown, V: Shown> Shown for BTreeMap<K, V> {
    fn show(&self, text: &mut String) {
        let all = self.iter().map(|(key, value)| format!("{}: {}", key.shown(), value.shown()));
        let mut all: Vec<String> = all.collect();
        // Maps have other orders in other languages.
        all.sort();
        *text += &format!("{{{}}}", all.join(", "));
    }
}

impl<T: Shown> Shown for Option<T> {
    fn show(&self, text: &mut String) {
        match self {
            Some(value) => value.show(text),
            None => *text += "none",
        }
    }
}

impl<T: Shown> Shown for Box<T> {
    fn show(&self, text: &mut String) {
        self.as_ref().show(text);
    }
}
