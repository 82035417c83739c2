//! What calls allocate, on both sides together, for what procedures are lent: nothing, once memory
//! has been had for calls of the same length. And that it comes.

#![forbid(unsafe_code)]

mod support;

use std::alloc::System;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nearcall::{CallError, Error};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use stubs_tests::lent_lists::lent::*;
use stubs_tests::library::acme::library::v1::{
    Book, DESK, DeskClient, DeskEntries, DeskLendException, DeskReturnException, DeskServer, book,
};
use stubs_tests::library::acme::people::Person;
use stubs_tests::library::google::protobuf::Timestamp;
use support::{KINDS, Kind, bind};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Calls of a window.
const CALLS: usize = 8;

/// Most windows until one asks as often as it should: who waits long sleeps, which allocates, and
/// what the other side does falls into the next window now and then.
const WINDOWS: usize = 100_000;

/// Sums what it is lent, so that a test can tell that it came.
#[derive(Debug)]
struct Reader;

fn sum<'p>(points: impl IntoIterator<Item = &'p Point>) -> f64 {
    points.into_iter().map(|point| point.x + f64::from(point.y) + f64::from(point.z)).sum()
}

fn in_lines(lines: &[Line]) -> i32 {
    lines.iter().map(|line| line.name.len() as i32 + line.number).sum()
}

impl LentServer for Reader {
    fn points(&self, points: &[Point]) -> f64 {
        sum(points)
    }

    fn few(&self, points: &[Point]) -> f64 {
        sum(points)
    }

    fn corners(&self, corners: &Corners) -> f64 {
        sum(corners)
    }

    fn flags(&self, flags: &Flags) -> i32 {
        flags.iter().filter(|flag| flag.up).map(|flag| flag.height).sum()
    }

    fn line(&self, line: &Line) -> i32 {
        in_lines(std::slice::from_ref(line))
    }

    fn names(&self, names: &[String]) -> i32 {
        names.iter().map(|name| name.len() as i32).sum()
    }

    fn lines(&self, lines: &[Line]) -> i32 {
        in_lines(lines)
    }

    fn page(&self, page: &Page) -> i32 {
        let mark = match &page.mark {
            Mark::Text(text) => text.len() as i32,
            Mark::Number(_, number) => *number,
        };
        let note = page.note.as_ref().map_or(0, String::len) as i32;
        let points = sum(&page.points) as i32;
        page.title.len() as i32 + in_lines(&page.lines) + points + note + mark
    }

    fn moved(
        &self,
        points: &mut Vec<Point>,
        corners: &mut Corners,
    ) -> Result<(Vec<Point>, Corners), LentMovedException> {
        if points.len() == CROOKED {
            let points = std::mem::take(points);
            return Err(Crooked { points, corners: *corners }.into());
        }
        let before = (points.clone(), *corners);
        points.push(corners[7]);
        corners.reverse();
        Ok(before)
    }

    fn shifted(&self, mesh: &mut Mesh) {
        mesh.corners[0].z += 1;
        mesh.weights[3] += 0.5;
    }
}

/// So many points are not moved.
const CROOKED: usize = 2;

fn point(seed: i32) -> Point {
    Point { x: f64::from(seed) + 0.5, y: 2.0, z: -seed }
}

fn points(count: i32) -> Vec<Point> {
    (0..count).map(point).collect()
}

fn corners() -> Corners {
    std::array::from_fn(|index| point(index as i32))
}

fn line(seed: usize) -> Line {
    Line { name: "n".repeat(10 + seed % 7), number: seed as i32 }
}

fn page() -> Page {
    Page {
        title: "title".to_owned(),
        lines: (0..20).map(line).collect(),
        points: points(10),
        note: Some("note".to_owned()),
        mark: Mark::Text("mark".to_owned()),
    }
}

/// How often memory is asked for in `CALLS` calls: as often as is wanted, or else at the least.
fn allocations(want: usize, call: impl Fn()) -> usize {
    let count = || ALLOCATOR.stats().allocations + ALLOCATOR.stats().reallocations;
    let window = |_| {
        let before = count();
        (0..CALLS).for_each(|_| call());
        count() - before
    };
    let mut fewest = usize::MAX;
    for found in (0..WINDOWS).map(window) {
        fewest = fewest.min(found);
        if found == want {
            return want;
        }
    }
    fewest
}

/// One test after the other: what is counted is the whole process's.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Over each kind of binding.
fn each_binding(test: impl Fn(&LentClient, Kind)) {
    let _alone = alone();
    for kind in KINDS {
        let bound = bind(kind, LentEntries::new(Reader), &LENT);
        test(&LentClient::new(bound.binding.clone()), kind);
    }
}

/// A window of such calls asks for memory so often.
fn check(want: usize, call: impl Fn(&LentClient)) {
    each_binding(|client, kind| {
        assert_eq!(allocations(want, || call(client)), want, "in {CALLS} calls, {kind:?}");
    });
}

#[test]
fn a_list_of_plain_structs_is_lent_without_allocating() {
    for count in [0, 1, 3, 60, 500] {
        let points = points(count);
        check(0, |client| assert_eq!(client.points(&points).unwrap(), sum(&points)));
    }
}

#[test]
fn a_list_of_plain_structs_that_is_copied_after_the_post_comes_whole() {
    each_binding(|client, _| {
        let points = points(20_000);
        for _ in 0..20 {
            assert_eq!(client.points(&points).unwrap(), sum(&points));
        }
    });
}

#[test]
fn an_array_of_plain_structs_is_lent_without_allocating() {
    let corners = corners();
    check(0, |client| assert_eq!(client.corners(&corners).unwrap(), sum(&corners)));
}

#[test]
fn what_holds_memory_is_lent_without_allocating() {
    let names: Vec<String> = (0..100).map(|seed| line(seed).name).collect();
    let lines: Vec<Line> = (0..100).map(line).collect();
    let one = line(3);
    let page = page();
    check(0, |client| assert_eq!(client.line(&one).unwrap(), Reader.line(&one)));
    check(0, |client| assert_eq!(client.names(&names).unwrap(), Reader.names(&names)));
    check(0, |client| assert_eq!(client.lines(&lines).unwrap(), Reader.lines(&lines)));
    check(0, |client| assert_eq!(client.page(&page).unwrap(), Reader.page(&page)));
}

/// A server of a .proto file, which sums what of a book holds memory.
#[derive(Debug)]
struct Desk;

fn held(book: &Book) -> i64 {
    let authors: usize = book.authors.iter().map(|author| author.name.len()).sum();
    let remark = match &book.price {
        book::Price::Remark(remark) => remark.len(),
        _ => 0,
    };
    (book.isbn.len() + authors + book.cover.len() + book.votes.len() + remark) as i64
}

impl DeskServer for Desk {
    fn lend(&self, request: &Book) -> Result<Timestamp, DeskLendException> {
        Ok(Timestamp { seconds: held(request), nanos: 0 })
    }

    fn r#return(&self, _: &Book) -> Result<(), DeskReturnException> {
        Ok(())
    }
}

/// Messages are appendable structs, and have such structs in them.
#[test]
fn a_message_is_lent_without_allocating() {
    let author = |seed: usize| Person { name: "a".repeat(5 + seed), born: None };
    let book = Book {
        isbn: "9780140449495".to_owned(),
        subtitle: Some("a subtitle".to_owned()),
        authors: (0..20).map(author).collect(),
        cover: vec![7; 300],
        votes: vec![true, false],
        price: book::Price::Remark("dear".to_owned()),
        ..Book::default()
    };
    let _alone = alone();
    for kind in KINDS {
        let bound = bind(kind, DeskEntries::new(Desk), &DESK);
        let desk = DeskClient::new(bound.binding.clone());
        let lend = || assert_eq!(desk.lend(&book).unwrap().seconds, held(&book));
        assert_eq!(allocations(0, lend), 0, "in {CALLS} calls, {kind:?}");
    }
}

#[test]
fn of_what_is_lent_another_case_and_more_than_before_allocate() {
    let (text, number) = (page(), Page { mark: Mark::Number(false, 7), ..page() });
    check(CALLS, |client| {
        for page in [&text, &number] {
            assert_eq!(client.page(page).unwrap(), Reader.page(page));
        }
    });
    let (few, more) = (vec![line(0); 2], vec![line(0); 3]);
    // Two of three lines serve again; the third one's text is new each time.
    check(CALLS, |client| {
        assert_eq!(client.lines(&few).unwrap(), Reader.lines(&few));
        assert_eq!(client.lines(&more).unwrap(), Reader.lines(&more));
    });
}

#[test]
fn what_is_marshalled_in_place_allocates_at_the_server_alone() {
    let flags = [Flag { up: true, height: 2 }; 4];
    check(2 * CALLS, |client| assert_eq!(client.flags(&flags).unwrap(), 8));
}

#[test]
fn of_what_was_lent_before_nothing_is_left() {
    each_binding(|client, _| {
        let whole = page();
        let empty = Page {
            title: String::new(),
            lines: Vec::new(),
            points: Vec::new(),
            note: None,
            mark: Mark::Number(false, 0),
        };
        let short = Page { lines: vec![line(1)], title: "t".to_owned(), ..empty.clone() };
        for page in [&whole, &empty, &whole, &short, &whole] {
            assert_eq!(client.page(page).unwrap(), Reader.page(page));
        }
    });
}

#[test]
fn what_allocates_is_counted() {
    each_binding(|client, _| {
        let points = points(5);
        let allocating = || assert_eq!(client.points(&points.clone()).unwrap(), sum(&points));
        assert_eq!(allocations(CALLS, allocating), CALLS);
    });
}

#[test]
fn plain_structs_go_there_and_back() {
    each_binding(|client, _| {
        let (mut moved, mut turned) = (points(7), corners());
        let mut mesh = Mesh { corners: corners(), weights: [0.25; 4], closed: false };
        let results = client.moved(&mut moved, &mut turned).unwrap();
        client.shifted(&mut mesh).unwrap();
        assert_eq!(results, (points(7), corners()));
        assert_eq!(moved, points(8));
        turned.reverse();
        assert_eq!(turned, corners());
        let (mut corners, mut weights) = (corners(), [0.25; 4]);
        (corners[0].z, weights[3]) = (1, 0.75);
        assert_eq!(mesh, Mesh { corners, weights, closed: false });
    });
}

#[test]
fn plain_structs_are_raised() {
    each_binding(|client, _| {
        let (mut given, mut turned) = (points(CROOKED as i32), corners());
        let refused = client.moved(&mut given, &mut turned).unwrap_err();
        let Error::Exception(LentMovedException::Crooked(raised)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(raised, Crooked { points: points(2), corners: corners() });
        assert_eq!((given, turned), (points(2), corners()));
    });
}

#[test]
fn a_list_of_plain_structs_keeps_its_bound_both_ways() {
    each_binding(|client, _| {
        assert_eq!(client.few(&points(3)).unwrap(), sum(&points(3)));
        let over = client.few(&points(4)).unwrap_err().to_string();
        assert!(over.contains("points has 4 bytes or elements, its limit is 3"), "{over}");
        let (mut given, mut turned) = (points(8), corners());
        let refused = client.moved(&mut given, &mut turned).unwrap_err();
        let Error::Call(CallError::ResultsRefused { procedure }) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(procedure.to_string(), "moved");
    });
}
