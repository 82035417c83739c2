//! An honest server: gives back what it was given, changed so that it shows.
//!
//! `shapes-server NAME` exports until its standard input ends.

#![forbid(unsafe_code)]

use std::io::Read;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use nearcall::{Char, Clerk, Domain, Opaque, OpaqueOut};
use python_tests::shapes::{self, ShapesServer};

#[derive(Default)]
struct Server {
    level: AtomicI32,
    posted: AtomicI32,
}

impl ShapesServer for Server {
    fn null(&self) {}

    fn add(&self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    fn level(&self) -> i32 {
        // Relaxed: one number, and nothing that depends on it.
        self.level.load(Ordering::Relaxed)
    }

    fn set_level(&self, value: i32) {
        // Relaxed: as above.
        self.level.store(value, Ordering::Relaxed);
    }

    fn words(
        &self,
        a: &mut bool,
        b: &mut u8,
        _c: &mut Char,
        _d: &mut char,
        e: &mut i8,
        f: &mut u16,
        g: &mut i64,
        h: &mut u64,
        i: &mut f32,
        j: &mut f64,
        k: &mut shapes::Level,
        l: &mut shapes::Rights,
        m: &mut shapes::Packed,
    ) {
        *a = !*a;
        *b = !*b;
        *e = e.wrapping_neg();
        *f = !*f;
        *g = g.wrapping_neg();
        *h = !*h;
        *i *= 2.0;
        *j *= 2.0;
        *k = shapes::Level::Middle;
        *l |= shapes::Rights::OWN;
        m.set_sum(-m.sum());
    }

    fn text(&self, narrow: &str, wide: &str) -> String {
        format!("{narrow}{wide}")
    }

    fn bytes(&self, given: &[u8]) -> Vec<u8> {
        given.iter().rev().copied().collect()
    }

    fn swap(
        &self,
        given: Opaque<'_>,
        mut back: OpaqueOut<'_>,
    ) -> Result<Vec<u8>, shapes::ShapesSwapException> {
        let given = given.to_vec();
        match given.first() {
            None => Err(shapes::ShapesSwapException::Gone(shapes::Gone {})),
            Some(0) => Err(shapes::ShapesSwapException::Refused(shapes::Refused {
                why: String::from("it begins with 0"),
                code: given.len() as i32,
                place: shapes::Point { x: 1.0, y: -1.0 },
            })),
            Some(_) => {
                let (first, second) = given.split_at(given.len() / 2);
                back.put(second).expect("half of what was given fits");
                Ok(first.to_vec())
            }
        }
    }

    fn scale(&self, given: &[f64], factor: f64) -> Vec<f64> {
        given.iter().map(|value| value * factor).collect()
    }

    fn narrow(&self, _given: &[f32]) {}

    fn turn(&self, one: &shapes::Matrix, all: &[shapes::Matrix]) -> Vec<shapes::Matrix> {
        all.iter().copied().chain([*one]).collect()
    }

    fn meet(
        &self,
        given: &shapes::Person,
        maybe: &mut shapes::Maybe,
    ) -> (shapes::Person, shapes::Point) {
        *maybe = match maybe {
            shapes::Maybe::Value(value) => shapes::Maybe::Value(-*value),
            shapes::Maybe::Other(other) => shapes::Maybe::Other(*other),
        };
        (given.clone(), given.place)
    }

    fn grow(&self, given: &shapes::Tree) -> shapes::Tree {
        shapes::Tree { value: given.value + 1, below: vec![given.clone()] }
    }

    fn choose(&self, given: &shapes::Choice) -> shapes::Choice {
        given.clone()
    }

    fn letters(&self, given: &[Char], levels: &[shapes::Level]) -> Vec<Char> {
        given.iter().copied().chain([Char(b'0' + levels.len() as u8)]).collect()
    }

    fn percent(&self, given: i32, all: &[i32]) -> i32 {
        given + all.iter().sum::<i32>()
    }

    fn wait(&self, milliseconds: u32) {
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
    }

    fn fail(&self) {
        std::panic::resume_unwind(Box::new("asked to"));
    }

    fn post(&self, value: i32) {
        // Relaxed: as above.
        self.posted.fetch_add(value, Ordering::Relaxed);
    }

    fn posted(&self) -> i32 {
        // Relaxed: as above.
        self.posted.load(Ordering::Relaxed)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).ok_or("usage: shapes-server NAME")?;
    let domain = Domain::new()?;
    let _clerk = Clerk::export(&domain, &name, shapes::ShapesEntries::new(Server::default()))?;
    println!("ready");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
