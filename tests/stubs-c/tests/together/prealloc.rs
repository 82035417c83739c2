//! Results that come to memory of the client's: how often its stubs have had memory of an
//! allocator's, and what becomes of results that are longer than that memory.

use nearcall::name::Scope;
use nearcall::raw::{Arguments, Entries, Outcome};
use nearcall::{Clerk, Domain, ExportOptions, InterfaceDescriptor};
use stubs_c_tests::filled::ready::SHELF;

use crate::support::{Counted, Workshop, counted, having, lacking, run_client, ways};

/// Where the client has memory for the results, its stub has had none for a hundred calls.
fn check(found: &[Counted]) {
    for found in found {
        assert_eq!((found.len(), having(found)), (11, vec!["made"]), "{found:?}");
    }
    println!("{} programs, 11 procedures each", found.len());
}

#[test]
fn results_come_to_memory_of_a_client_in_c() {
    let found = counted(("c", "ready.idl"), "ready", "prealloc_server", "prealloc_client");
    if found.is_empty() {
        return lacking("a compiler of C");
    }
    check(&found);
}

#[test]
fn results_come_to_memory_of_a_client_in_cpp() {
    let found = counted(("cpp", "ready.idl"), "ready", "prealloc_server", "prealloc_client_cpp");
    if found.is_empty() {
        return lacking("a compiler of C++");
    }
    check(&found);
}

/// A book as it is marshalled, with what may be none of it.
fn book(is_lent: u8, kind: u8, shelf: u8, mark: u32) -> Vec<u8> {
    [&[is_lent, kind, shelf][..], &2.5f64.to_le_bytes(), &mark.to_le_bytes()].concat()
}

/// So many books, it says, and these.
fn books(count: u32, books: &[Vec<u8>]) -> Vec<u8> {
    [count.to_le_bytes().to_vec(), books.concat()].concat()
}

/// What of its replies is too many for another procedure.
const FEW: u32 = 9;

/// A server that replies with books, truly if it is asked for none.
struct Liar;

impl Liar {
    /// What it has for books, and what a client says of that.
    fn lie(asked: u32) -> (Vec<u8>, &'static str) {
        let good = || book(1, 0, 1, 0x61);
        let two = |second| books(2, &[good(), second]);
        match asked {
            0 => (two(book(1, 2, 99, 0x7a)), ""),
            1 => (two(book(1, 3, 1, 0x61)), "3 is no value of its type"),
            2 => (two(book(2, 0, 1, 0x61)), "2 is no value of its type"),
            3 => (two(book(0, 0, 100, 0x61)), "100 is no value of its type"),
            4 => (two(book(0, 0, 1, 0xd800)), "55296 is no value of its type"),
            5 => (books(3, &[good(), good()]), "length 45 is over 30"),
            6 => (books(1, &[good(), good()]), "15 bytes are left over"),
            7 => (vec![2, 0, 0], "length 4 is over 3"),
            8 => (books(u32::MAX, &[good(), good()]), "length 64424509425 is over 30"),
            _ => (books(4, &[good(), good(), good(), good()]), "length 4 is over 3"),
        }
    }
}

impl Entries for Liar {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &SHELF
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let (lie, _) = Liar::lie(arguments.get_u32::<0>());
        // No numbers come before the books.
        let has_numbers = SHELF.procedures[procedure].name == "few";
        let bytes = lie.len() as u32;
        let mut results = arguments.results();
        results.put_u32::<0>(if has_numbers { 0 } else { bytes });
        if has_numbers {
            results.put_u32::<4>(bytes);
        }
        results.variable_at(8, bytes.into())?.put(&lie);
        results.reply(if has_numbers { 8 } else { 4 })
    }
}

#[test]
fn structs_that_are_none_do_not_come_to_memory_of_a_client() {
    let ways = ways();
    for (compiler, flags) in &ways {
        let workshop = Workshop::of("c", "ready.idl");
        let program = workshop.program(compiler, "prealloc_lied", flags);
        let domain = Domain::new().expect("a domain");
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(workshop.path().join("nearcall")));
        let clerk = Clerk::export_with(&domain, "liar", Liar, options).expect("it is free");
        let said = run_client(&program, "liar", workshop.path());
        let wanted = (0..10).map(|asked| match Liar::lie(asked) {
            (_, "") => format!("{asked}\n"),
            (_, why) => {
                let procedure = if asked == FEW { "few" } else { "books" };
                format!("{asked} the server broke the protocol at {procedure}: {why}\n")
            }
        });
        assert_eq!(said, wanted.collect::<String>());
        drop(clerk);
    }
    println!("{} programs, 10 replies each", ways.len());
}
