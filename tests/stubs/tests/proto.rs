//! What stubs of .proto files promise, one fact a test, over the real runtime in both ways to bind.

#![forbid(unsafe_code)]

mod support;

use std::sync::Mutex;
use std::time::{self, SystemTime, UNIX_EPOCH};

use nearcall::{CallError, Error, Ran};
use stubs_tests::library::acme::library::v1::*;
use stubs_tests::library::acme::people::Person;
use stubs_tests::library::google::protobuf::{Duration, FieldMask, Timestamp};
use stubs_tests::library::grpc::{RpcCode, RpcStatus};
use support::{KINDS, bind};

/// Books, kept by both services.
#[derive(Debug, Default)]
struct Shelves {
    books: Mutex<Vec<Book>>,
}

impl CatalogueServer for Shelves {
    fn find(&self, request: &FindRequest) -> Result<FindResponse, CatalogueFindException> {
        let all = request.fields.as_ref().is_some_and(|mask| mask.paths == ["*"]);
        let mut books = self.books.lock().unwrap().clone();
        books.retain(|book| all || book.isbn.contains(&request.text));
        Ok(FindResponse { books })
    }

    fn describe(&self, request: &Subject) -> Result<Subject, CatalogueDescribeException> {
        let Some(broader) = &request.broader else {
            return Ok(request.clone());
        };
        Ok(Subject { narrower: vec![request.clone()], ..(**broader).clone() })
    }

    fn count(&self) -> Result<u64, CatalogueCountException> {
        Ok(self.books.lock().unwrap().len() as u64)
    }
}

impl DeskServer for Shelves {
    fn lend(&self, request: &Book) -> Result<Timestamp, DeskLendException> {
        let lent_for = request.lent_for.as_ref().map_or(0, |duration| duration.seconds);
        self.books.lock().unwrap().push(request.clone());
        Ok(Timestamp { seconds: lent_for, nanos: 1 })
    }

    fn r#return(&self, request: &Book) -> Result<(), DeskReturnException> {
        let mut books = self.books.lock().unwrap();
        let lent = books.iter().position(|book| book.isbn == request.isbn);
        books.remove(lent.ok_or_else(|| not_lent(&request.isbn))?);
        Ok(())
    }
}

fn not_lent(isbn: &str) -> RpcStatus {
    let message = format!("{isbn} is not lent");
    RpcStatus { code: RpcCode::NotFound, message, details: isbn.into() }
}

fn with_catalogue(shelves: impl Fn() -> Shelves, run: impl Fn(&CatalogueClient)) {
    for kind in KINDS {
        let bound = bind(kind, CatalogueEntries::new(shelves()), &CATALOGUE);
        run(&CatalogueClient::new(bound.binding.clone()));
    }
}

fn with_desk(run: impl Fn(&DeskClient)) {
    for kind in KINDS {
        let bound = bind(kind, DeskEntries::new(Shelves::default()), &DESK);
        run(&DeskClient::new(bound.binding.clone()));
    }
}

fn person(name: &str) -> Person {
    Person { name: name.to_owned(), born: Some(-496) }
}

/// A book with something in every field.
fn full_book() -> Book {
    let place = book::Place { shelf: 7, side: book::place::Side::Right };
    Book {
        isbn: "9780140449495".to_owned(),
        subtitle: Some(String::new()),
        authors: vec![person("Sophocles")],
        copies: [("first".to_owned(), place)].into(),
        conditions: [(-3, Condition::ConditionLost), (2, CONDITION_FINE)].into(),
        cover: vec![0, 255, 7],
        usual_place: Some(place),
        published: Some(Timestamp { seconds: -1, nanos: 999 }),
        pages: Some(0),
        price: book::Price::Remark("none".to_owned()),
        r#type: u64::MAX,
        delta: -1,
        lent_for: Some(Duration { seconds: 14, nanos: 0 }),
        votes: vec![true, false],
    }
}

/// A book of which only what is always there is there.
fn empty_book() -> Book {
    Book {
        isbn: String::new(),
        subtitle: None,
        authors: Vec::new(),
        copies: Default::default(),
        conditions: Default::default(),
        cover: Vec::new(),
        usual_place: None,
        published: None,
        pages: None,
        price: book::Price::Other(0),
        r#type: 0,
        delta: 0,
        lent_for: None,
        votes: Vec::new(),
    }
}

/// As of any message of proto3: who builds one says only what is in it.
#[test]
fn a_message_by_default_is_the_empty_one() {
    assert_eq!(Book::default(), empty_book());
    assert_eq!(book::Price::default(), book::Price::Other(0));
}

#[test]
fn a_message_comes_back_as_it_was_sent() {
    let books = vec![full_book(), empty_book()];
    let shelves = || Shelves { books: Mutex::new(books.clone()) };
    with_catalogue(shelves, |catalogue| {
        let fields = Some(FieldMask { paths: vec!["*".to_owned()] });
        let request = FindRequest { text: String::new(), fields };
        assert_eq!(catalogue.find(&request).unwrap().books, books);
    });
}

/// Who has a field of that number would look for its value.
#[test]
fn a_oneof_is_given_no_number_but_those_of_the_file() {
    with_desk(|desk| {
        let book = Book { price: book::Price::Other(99), ..empty_book() };
        let refused = desk.lend(&book).unwrap_err();
        let Error::Call(error) = &refused else { panic!("{refused}") };
        assert_eq!(error.ran(), Ran::No);
        let said = error.to_string();
        assert!(said.contains("discriminator is 99, allowed is 0 or 10 to 12"), "{said}");
    });
}

#[test]
fn a_field_that_is_missing_is_not_one_that_is_empty() {
    let shelves = || Shelves { books: Mutex::new(vec![full_book(), empty_book()]) };
    with_catalogue(shelves, |catalogue| {
        let request = FindRequest { text: "978".to_owned(), fields: None };
        let books = catalogue.find(&request).unwrap().books;
        assert_eq!(books, [full_book()]);
        assert_eq!((&books[0].subtitle, books[0].pages), (&Some(String::new()), Some(0)));
    });
}

#[test]
fn a_message_that_holds_itself_comes_back() {
    let subject = |name: &str, broader| Subject {
        name: name.to_owned(),
        broader,
        narrower: Vec::new(),
        related: Default::default(),
        shelf: None,
    };
    let next = shelf::Next::Book(full_book());
    let inner = Shelf { subject: Some(subject("ode", None)), next };
    let outer = Shelf { subject: None, next: shelf::Next::Left(Box::new(inner)) };
    let broader = Subject { shelf: Some(Box::new(outer)), ..subject("verse", None) };
    let request = subject("tragedy", Some(Box::new(broader.clone())));
    with_catalogue(Shelves::default, |catalogue| {
        let answer = catalogue.describe(&request).unwrap();
        assert_eq!(answer, Subject { narrower: vec![request.clone()], ..broader.clone() });
    });
}

#[test]
fn what_is_empty_is_neither_passed_nor_returned() {
    with_desk(|desk| {
        assert_eq!(desk.lend(&full_book()).unwrap(), Timestamp { seconds: 14, nanos: 1 });
        let returned: () = desk.r#return(&full_book()).unwrap();
        assert_eq!(returned, ());
    });
    with_catalogue(Shelves::default, |catalogue| assert_eq!(catalogue.count().unwrap(), 0));
}

#[test]
fn a_procedure_fails_with_a_status() {
    with_desk(|desk| {
        let Err(Error::Exception(raised)) = desk.r#return(&full_book()) else {
            panic!("it was lent");
        };
        let DeskReturnException::RpcStatus(status) = &raised;
        assert_eq!(*status, not_lent("9780140449495"));
        let shown = "RpcStatus { code: NotFound, message: \"9780140449495 is not lent\", \
                     details: 13 elements }";
        assert_eq!(raised.to_string(), shown);
    });
}

/// What every procedure fails with, judged by one function.
fn code<E: Into<RpcStatus>>(error: Error<E>) -> Option<RpcCode> {
    match error {
        Error::Exception(raised) => Some(raised.into().code),
        Error::Call(_) => None,
    }
}

#[test]
fn one_function_reads_the_status_of_every_procedure() {
    with_desk(|desk| {
        assert_eq!(desk.r#return(&full_book()).map_err(code), Err(Some(RpcCode::NotFound)));
        let late = desk.with_deadline(std::time::Duration::ZERO).lend(&empty_book());
        assert_eq!(late.map_err(code), Err(None));
    });
}

/// A status is of any length, as a response is: none is lost for what it says.
#[test]
fn a_status_may_be_longer_than_its_a_stack() {
    let isbn = "9".repeat(100_000);
    with_desk(|desk| {
        let returned = desk.r#return(&Book { isbn: isbn.clone(), ..empty_book() });
        let Err(Error::Exception(DeskReturnException::RpcStatus(status))) = returned else {
            panic!("it was lent");
        };
        assert_eq!(status, not_lent(&isbn));
    });
}

#[test]
fn a_call_that_fails_otherwise_has_no_status() {
    with_desk(|desk| {
        let late = desk.with_deadline(std::time::Duration::ZERO).lend(&empty_book());
        let Err(Error::Call(error)) = late else { panic!("there was time: {late:?}") };
        assert!(matches!(error, CallError::NotExecuted { .. }), "{error}");
        assert_eq!(error.ran(), Ran::No);
    });
}

#[test]
fn a_number_that_selects_another_case_is_refused_before_it_is_sent() {
    with_desk(|desk| {
        let book = Book { price: book::Price::Other(10), ..empty_book() };
        let refused = desk.lend(&book);
        assert!(matches!(refused, Err(Error::Call(CallError::Usage(_)))), "{refused:?}");
    });
}

#[test]
fn a_procedure_without_side_effects_is_idempotent() {
    let flags = |interface: &nearcall::InterfaceDescriptor| -> Vec<bool> {
        interface.procedures.iter().map(|procedure| procedure.is_idempotent).collect()
    };
    assert_eq!(flags(&CATALOGUE), [true, false, false]);
    assert_eq!(flags(&DESK), [false, false]);
}

#[test]
fn times_are_those_of_the_standard_library_or_refused() {
    let (milli, nano) = (time::Duration::from_millis(1), time::Duration::from_nanos(1));
    let published = Timestamp::try_from(UNIX_EPOCH - milli).unwrap();
    assert_eq!(published, Timestamp { seconds: -1, nanos: 999_000_000 });
    assert_eq!(SystemTime::try_from(published).unwrap(), UNIX_EPOCH - milli);
    let late = Timestamp { seconds: 253_402_300_800, nanos: 0 };
    let error = SystemTime::try_from(late).unwrap_err();
    assert_eq!(error.parameter, "google.protobuf.Timestamp.seconds");
    assert_eq!(error.value, "253402300800");
    assert_eq!(error.allowed, "-62135596800 to 253402300799");
    let last = SystemTime::try_from(Timestamp { seconds: late.seconds - 1, nanos: 999_999_999 });
    assert_eq!(Timestamp::try_from(last.unwrap() + nano).unwrap_err(), error);
    let lent_for = Duration::try_from(1_500 * milli).unwrap();
    assert_eq!(lent_for, Duration { seconds: 1, nanos: 500_000_000 });
    assert_eq!(time::Duration::try_from(lent_for).unwrap(), 1_500 * milli);
    let back = time::Duration::try_from(Duration { seconds: 0, nanos: -1 }).unwrap_err();
    let said = "google.protobuf.Duration.nanos is -1, allowed is 0 to 999999999";
    assert_eq!(back.to_string(), said);
    assert_eq!(Duration::try_from(time::Duration::MAX).unwrap_err().value, u64::MAX.to_string());
}
