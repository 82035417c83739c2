//! `Forms`: a server that gives back what it is given, and a client that asks for each form.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::{
    Char, Clerk, Domain, ExportError, ExportOptions, Inlet, Intake, Items, LongDouble, Opaque,
    OpaqueOut, Outlet, Taker,
};

use crate::forms::forms::*;

/// Most words that a feed has.
const FED_MAX: u32 = 200;

/// Exports `Forms`.
pub fn export(domain: &Domain, directory: &Path, name: &str) -> Result<Clerk, ExportError> {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    Clerk::export_with(domain, name, FormsEntries::new(Mirror::default()), options)
}

/// Gives back what it is given, and raises what it is asked to, or now and then what nobody asks.
#[derive(Default)]
struct Mirror {
    asked: AtomicU32,
}

impl Mirror {
    /// True for each fourth that asks.
    fn raises(&self) -> bool {
        // Relaxed: a number for each, which orders nothing.
        self.asked.fetch_add(1, Ordering::Relaxed) % 4 == 3
    }
}

/// Counts.
struct Counter(u32);

const PLAIN: Plain = Plain { code: Small::Hundred };

fn wrong() -> Wrong {
    let why = "asked for".to_owned();
    Wrong { what: Choice::Points(vec![point(); 2]), trees: vec![tree()], why }
}

impl FormsServer for Mirror {
    fn null(&self) {}

    fn scalars(
        &self,
        a: bool,
        b: Char,
        _: char,
        _: &mut Color,
        _: &mut Small,
        _: &mut Rights,
        _: &mut Packed,
        _: &mut Percent,
        _: &mut u8,
    ) -> Result<(bool, LongDouble), FormsScalarsException> {
        let much = LongDouble([b.0; 16]);
        if a { Ok((a, much)) } else { Err(PLAIN.into()) }
    }

    fn texts(&self, a: &str, _: &mut Name, c: &str) -> Result<String, FormsTextsException> {
        match a {
            "plain" => Err(PLAIN.into()),
            "wrong" => Err(wrong().into()),
            _ => Ok(c.to_owned()),
        }
    }

    fn bytes(&self, a: &[u8], _: &mut Vec<u8>) -> Vec<u8> {
        a.to_vec()
    }

    fn numbers(&self, a: &[i32], _: &mut Vec<f64>, _: &mut Key) -> Vec<i32> {
        a.to_vec()
    }

    fn images(&self, a: &Flags, _: &mut Words, _: &mut Point) -> Flags {
        *a
    }

    fn lists(&self, a: &[Name], _: &mut Vec<Percent>, _: &mut Vec<Small>) -> Vec<Name> {
        a.to_vec()
    }

    fn points(&self, a: &[Point], _: &mut Vec<Words>) -> Vec<Point> {
        a.to_vec()
    }

    fn choices(
        &self,
        a: &Choice,
        _: &mut Maybe,
        _: &mut Letter,
    ) -> Result<Choice, FormsChoicesException> {
        match a {
            Choice::Name(name) if name == "wrong" => Err(wrong().into()),
            _ => Ok(a.clone()),
        }
    }

    fn trees(&self, a: &Tree, _: &mut Trees) -> Tree {
        a.clone()
    }

    fn grown(&self, a: &Grown, _: &mut Vec<Grown>) -> Grown {
        a.clone()
    }

    fn books(&self, a: &Book) -> Book {
        a.clone()
    }

    fn back(&self, given: OwnedFd) -> Result<OwnedFd, FormsBackException> {
        if self.raises() { Err(PLAIN.into()) } else { Ok(given) }
    }

    fn sum(&self, data: Opaque<'_>) -> u32 {
        data.to_vec().iter().fold(0, |sum: u32, byte| sum.wrapping_add((*byte).into()))
    }

    fn fill(&self, count: u32, mut data: OpaqueOut<'_>) -> Result<(), FormsFillException> {
        let filled = vec![7; count.min(100_000) as usize];
        if count == 1 || data.put(&filled).is_err() { Err(PLAIN.into()) } else { Ok(()) }
    }

    fn tell(&self, _: &str) {}

    fn level(&self) -> Grown {
        grown()
    }

    fn set_level(&self, _: &Grown) {}

    fn alone(&self, a: &str) -> Name {
        a.to_owned()
    }

    fn source(
        &self,
        count: u32,
    ) -> Result<Items<Result<String, FormsSourceException>>, FormsSourceException> {
        if count == 0 {
            return Err(PLAIN.into());
        }
        let words = (0..count.min(FED_MAX)).map(|number| Ok("x".repeat(number as usize)));
        let last = (count % 2 == 1).then_some(Err(PLAIN.into()));
        Ok(Box::new(words.chain(last)))
    }

    fn taker(&self) -> Result<Taker<Choice, u32, FormsTakerException>, FormsTakerException> {
        if self.raises() { Err(PLAIN.into()) } else { Ok(Box::new(Counter(0))) }
    }

    fn both(
        &self,
        inlet: Inlet<Words>,
        mut outlet: Outlet<Words, FormsBothException>,
    ) -> Result<(), FormsBothException> {
        if self.raises() {
            return Err(PLAIN.into());
        }
        std::thread::spawn(move || {
            for word in inlet {
                match word {
                    Ok(word) if word.color == Color::Blue => return outlet.raise(PLAIN.into()),
                    Ok(word) if outlet.put(word).is_ok() => {}
                    _ => return,
                }
            }
            outlet.end();
        });
        Ok(())
    }
}

impl Intake for Counter {
    type Item = Choice;
    type Output = u32;
    type Error = FormsTakerException;

    fn take(&mut self, item: Choice) -> Result<(), FormsTakerException> {
        self.0 += 1;
        match item {
            Choice::Name(name) if name == "plain" => Err(PLAIN.into()),
            _ => Ok(()),
        }
    }

    fn end(self: Box<Self>) -> Result<u32, FormsTakerException> {
        if self.0 == 0 { Err(PLAIN.into()) } else { Ok(self.0) }
    }
}

/// A point.
pub fn point() -> Point {
    Point { x: 1.5, y: -2.5, tag: 7 }
}

/// One of each word.
pub fn words(color: Color) -> Words {
    let mut packed = Packed::default();
    packed.set_low(5);
    let (letter, sign) = (Char(b'q'), '\u{20ac}');
    let rights = Rights::OWN;
    Words { yes: true, letter, sign, color, rights, packed, part: 99, ..Words::default() }
}

fn tree() -> Tree {
    let leaf = Tree { value: 3, below: vec![], at: Some(point()) };
    Tree {
        value: 1,
        below: vec![leaf.clone(), Tree { below: vec![leaf], ..Tree::default() }],
        at: None,
    }
}

fn grown() -> Grown {
    Grown { first: 1, second: 2, third: "third".to_owned(), more: Some(words(Color::Red)) }
}

fn choices() -> [Choice; 4] {
    let words = Choice::Words(Color::Blue, words(Color::Red));
    let names = ["", "wrong"].map(|name| Choice::Name(name.to_owned()));
    let [first, second] = names;
    [first, Choice::Points(vec![point(); 3]), words, second]
}

/// Calls of a client, whatever comes of them.
pub type Ask = fn(&FormsClient);

/// One or a few of each procedure. What is in them decides which answer comes back.
pub const ASKS: &[Ask] = &[
    |client| drop(client.null()),
    |client| {
        for yes in [true, false] {
            let mut part = 50;
            let (mut color, mut small) = (Color::Blue, Small::Hundred);
            let (mut rights, mut packed, mut digit) = (Rights::OWN, Packed::default(), 5);
            let (rights, packed, digit) = (&mut rights, &mut packed, &mut digit);
            let (letter, sign) = (Char(b'b'), '\u{20ac}');
            let (color, small, part) = (&mut color, &mut small, &mut part);
            let _ = client.scalars(yes, letter, sign, color, small, rights, packed, part, digit);
        }
    },
    |client| {
        for text in ["", "some", "plain", "wrong"] {
            let _ = client.texts(text, &mut "name".to_owned(), "wide \u{20ac}");
        }
    },
    |client| drop(client.bytes(&[9; 100], &mut vec![8; 100])),
    |client| drop(client.numbers(&[-1, 2, 3], &mut vec![0.5; 20], &mut [3; 16])),
    |client| {
        let _ = client.images(&[true, false, true], &mut words(Color::Green), &mut point());
    },
    |client| {
        let names = ["a", "", "eight ch"].map(str::to_owned);
        let _ = client.lists(&names, &mut vec![0, 100], &mut vec![Small::One, Small::Hundred]);
    },
    |client| drop(client.points(&[point(); 5], &mut vec![words(Color::Red); 2])),
    |client| {
        for (number, choice) in (0..).zip(choices()) {
            let mut maybe = if number == 0 { Maybe::Value(1) } else { Maybe::Other(false) };
            let mut letter = match number {
                0 => Letter::First(1),
                1 => Letter::Last(Choice::Name("last".to_owned())),
                _ => Letter::Other(Char(b'o')),
            };
            let _ = client.choices(&choice, &mut maybe, &mut letter);
        }
    },
    |client| drop(client.trees(&tree(), &mut vec![tree(), Tree::default()])),
    |client| drop(client.grown(&grown(), &mut vec![grown(), Grown::default()])),
    |client| {
        let book = BTreeMap::from([("all".to_owned(), choices()[..3].to_vec())]);
        let _ = client.books(&book);
    },
    |client| {
        let file = super::script::file().expect("a file");
        let _ = client.back(file.as_fd());
    },
    |client| drop(client.sum(&[1; 100])),
    |client| {
        for count in [0, 1, 900, 70_000, 80_000] {
            let _ = client.fill(count, &mut Vec::new());
        }
    },
    |client| drop(client.tell("told")),
    |client| drop(client.level()),
    |client| drop(client.set_level(&grown())),
    |client| drop(client.alone("alone")),
    |client| {
        for count in [0, 3, 64] {
            let Ok(feed) = client.source(count) else {
                continue;
            };
            // One that is given up as soon as it is begun has no batch under way.
            feed.take(FED_MAX as usize).take_while(Result::is_ok).for_each(drop);
        }
    },
    |client| {
        for count in [0, 2, 4] {
            let Ok(mut sink) = client.taker() else {
                continue;
            };
            for item in choices().into_iter().take(count) {
                let _ = sink.put(item);
            }
            let _ = sink.end();
        }
    },
    |client| {
        let Ok((sink, feed)) = client.both() else {
            return;
        };
        let (mut sink, mut feed) = (sink.begin(), feed.begin());
        for color in [Color::Red, Color::Blue] {
            let _ = sink.put(words(color));
            let _ = sink.flush();
            let _ = feed.next();
        }
        let _ = sink.end();
    },
    // Arguments that lie out of line, of a kind that is copied by both sides at once, too.
    |client| drop(client.bytes(&vec![9; 5_000], &mut Vec::new())),
    |client| drop(client.sum(&vec![1; 300_000])),
    // Room that the server has to make.
    |client| {
        let posting = client.posting();
        let _pending = [(); 3].map(|()| posting.alone("more"));
    },
    |client| {
        if let Ok(lent) = client.binding().lend(5_000) {
            let _ = client.sum(&lent);
        }
    },
    |client| drop(client.binding().introduce()),
    |client| drop(client.awaiting().null()),
    // What is copied by both sides at once, to each of the places that a server copies it to.
    |client| drop(client.bytes(&vec![9; 300_000], &mut Vec::new())),
    |client| drop(client.numbers(&vec![-1; 80_000], &mut Vec::new(), &mut [3; 16])),
    |client| {
        let _ = client.texts(&"x".repeat(100_000), &mut String::new(), &"\u{20ac}".repeat(50_000));
    },
    |client| drop(client.points(&vec![point(); 10_000], &mut Vec::new())),
    |client| {
        let named = |name: String| BTreeMap::from([(name, vec![Choice::Points(vec![point()])])]);
        let _ = client.books(&(0..4_000).flat_map(|n| named(n.to_string())).collect());
    },
];

/// The first of those that wait for packets of the server.
pub const FIRST_ANSWERED: usize = 22;

/// Longest that a call, and whatever it waits for, may take while answers are made up.
pub const DEADLINE: Duration = Duration::from_millis(20);
