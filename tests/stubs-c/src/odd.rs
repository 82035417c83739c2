//! Oneofs in bytes that no stub writes, and what each is read as, in every language: a table of
//! them, each sent at every place that a oneof may have, with something behind it.

use lies::{Attacker, Message, Verdict};
use nearcall::{Domain, ImportOptions};

use crate::heaped::pieces::piece::What;
use crate::heaped::pieces::{Heap, JUDGE, Piece};

/// What a oneof's bytes are read as in words; `None` if they are refused.
type Row = (&'static str, Vec<u8>, Option<&'static str>);

/// Of a case that no version has.
const UNKNOWN: u32 = 77;

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Behind its length.
fn sized(bytes: &[u8]) -> Vec<u8> {
    [&words(&[bytes.len() as u32]), bytes].concat()
}

fn text(text: &str) -> Vec<u8> {
    sized(text.as_bytes())
}

fn table() -> Vec<Row> {
    let of = |discriminator: u32, value: &[u8]| sized(&[&words(&[discriminator]), value].concat());
    let five = words(&[5]);
    vec![
        ("not set", of(0, &[]), Some("-")),
        ("a number", of(1, &five), Some("5")),
        ("a text", of(2, &text("a")), Some("a")),
        ("no byte", sized(&[]), None),
        ("three bytes of a discriminator", sized(&[1, 0, 0]), None),
        ("a known case without its number", of(1, &[]), None),
        ("a known case without its text", of(2, &[]), None),
        ("half a number", of(1, &[5, 0]), None),
        ("a text that ends behind the oneof", of(2, &words(&[2])), None),
        ("longer than the message", words(&[u32::MAX, 1, 5]), None),
        ("longer than what it is in", words(&[13, 1, 5]), None),
        ("longer than what it is in, unknown", words(&[13, UNKNOWN, 5]), None),
        ("shorter than its number", words(&[7, 1, 5]), None),
        ("a byte behind 0", of(0, &[0]), None),
        ("a case behind 0", of(0, &words(&[1, 5])), None),
        ("a byte behind a number", of(1, &[&five[..], &[0]].concat()), None),
        ("a case behind a number", of(1, &words(&[5, 1, 5])), None),
        ("a byte behind a text", of(2, &[&text("a")[..], &[0]].concat()), None),
        ("unknown, of nothing", of(UNKNOWN, &[]), Some("-")),
        ("unknown, of a byte", of(UNKNOWN, &[9]), Some("-")),
        ("unknown, of what looks like a case", of(UNKNOWN, &words(&[8, 1, 5])), Some("-")),
        ("unknown, of many bytes", of(UNKNOWN, &[0xff; 5000]), Some("-")),
        ("the greatest discriminator", of(u32::MAX, &[1]), Some("-")),
        ("unknown and as long as can be", words(&[u32::MAX, UNKNOWN, 5]), None),
    ]
}

/// A piece with this oneof, and 6 behind it.
fn piece(what: &[u8]) -> Vec<u8> {
    sized(&[what, &words(&[6])].concat())
}

/// The same within another one.
fn inner(what: &[u8]) -> Vec<u8> {
    piece(&sized(&[&words(&[3]), &piece(what)[..]].concat()))
}

/// A heap of so many pieces in its list and in its map.
fn heap(want: &str, [listed, mapped]: [&[Vec<u8>]; 2]) -> Vec<u8> {
    let mut members = text(want);
    members.extend(words(&[listed.len() as u32]));
    members.extend(listed.concat());
    members.extend(words(&[mapped.len() as u32]));
    for (key, piece) in (0u32..).zip(mapped) {
        members.extend(words(&[key]));
        members.extend(piece);
    }
    sized(&members)
}

/// The row at every place, and what all of it is read as.
fn places(what: &[u8], seen: &str) -> Vec<Vec<u8>> {
    let known = piece(&sized(&words(&[1, 5])));
    let [own, nested] = [piece(what), inner(what)];
    let pair = [own.clone(), known.clone()];
    let nested_pair = [nested.clone(), known];
    vec![
        heap(&format!("{seen}/6,;"), [&[own], &[]]),
        heap(&format!("({seen}/6)/6,;"), [&[nested], &[]]),
        heap(&format!("{seen}/6,5/6,;"), [&pair, &[]]),
        heap(&format!("({seen}/6)/6,5/6,;"), [&nested_pair, &[]]),
        heap(&format!(";{seen}/6,5/6,"), [&[], &pair]),
        heap(&format!(";({seen}/6)/6,5/6,"), [&[], &nested_pair]),
    ]
}

/// Sends all of it to a judge in any language, whose procedure ends it if anything is read as it
/// should not be. How many were read, and how many refused.
///
/// # Panics: anything came out otherwise.
pub fn send_all(domain: &Domain, name: &str, options: ImportOptions) -> [usize; 2] {
    let attacker = Attacker::new(domain, name, &JUDGE, options);
    let mut counts = [0; 2];
    for (row, what, seen) in table() {
        let verdict = if seen.is_some() { Verdict::Accepted } else { Verdict::Refused };
        for (place, variable) in places(&what, seen.unwrap_or_default()).into_iter().enumerate() {
            let fixed = words(&[variable.len() as u32]);
            let message = Message { fixed, variable_at: Some(8), variable, ..Message::default() };
            assert_eq!(attacker.send(&message), verdict, "{name}: {row}, place {place}");
            counts[usize::from(seen.is_none())] += 1;
        }
    }
    counts
}

/// A heap in the words in which it is wanted.
pub fn told(heap: &Heap) -> String {
    let all = |pieces: &mut dyn Iterator<Item = &Piece>| -> String {
        pieces.map(|piece| piece_told(piece) + ",").collect()
    };
    all(&mut heap.listed.iter()) + ";" + &all(&mut heap.mapped.values())
}

fn piece_told(piece: &Piece) -> String {
    let what = match &piece.what {
        What::Number(number) => number.to_string(),
        What::Text(text) => text.clone(),
        What::Inner(inner) => format!("({})", piece_told(inner)),
        What::Other(number) => ["-"][*number as usize].to_owned(),
    };
    format!("{what}/{}", piece.after)
}
