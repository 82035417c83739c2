//! Messages of a .proto file that get fields, an enum a value and a oneof a field: clients and
//! servers of both versions, in Rust, C and C++. Fields have moved besides, and the new ones are
//! written before others. Who has the new version reads zero, empty or absent where nothing came;
//! who has the old one leaves out what it does not know, and reads 0 for a value that it does not
//! know, and a oneof that is not set for a field of it.

use std::path::Path;

use nearcall::{BindError, Clerk, Domain, ExportError};
use stubs_c_tests::{grown, planted, pruned};

use crate::support::{
    RustServer, Server, Workshop, expect_success, serve_here, test_of, this_program, ways,
};

/// A server of any version.
struct Keeper;

/// What all versions have: a server that returns `answer` of what came, once and as a stream, and
/// a client that sends `plant` and has `judge` look at what it gets.
macro_rules! version {
    ($version:ident, $answer:path) => {
        impl $version::garden::GardenServer for Keeper {
            fn keep(
                &self,
                request: &$version::garden::Plant,
            ) -> Result<$version::garden::Plant, $version::garden::GardenKeepException> {
                Ok($answer(request))
            }

            fn watch(
                &self,
                request: &$version::garden::Plant,
            ) -> Result<
                nearcall::Items<
                    Result<$version::garden::Plant, $version::garden::GardenWatchException>,
                >,
                $version::garden::GardenWatchException,
            > {
                let answers = [Ok($answer(request)), Ok($answer(request))];
                Ok(Box::new(answers.into_iter()))
            }
        }
    };
    ($version:ident, $answer:path, $plant:path, $judge:path) => {
        version!($version, $answer);

        pub fn call(garden: &$version::garden::GardenClient, is_grown_there: bool) {
            let plant = $plant();
            $judge(garden.keep(&plant).expect("it returns"), is_grown_there);
            let feed = garden.watch(&plant).expect("it returns");
            let items: Vec<_> = feed.map(|item| item.expect("it comes")).collect();
            assert_eq!(items.len(), 2);
            items.into_iter().for_each(|item| $judge(item, is_grown_there));
        }
    };
}

/// The first version.
mod first {
    use super::{Keeper, planted};
    use planted::garden::plant::{Home, Place};
    use planted::garden::{Kind, Leaf, Plant};

    version!(planted, answer, plant, judge);

    fn told(plant: &Plant) -> String {
        let Plant { name, kind, largest, leaves, labelled, place, home } = plant;
        let largest = largest.as_ref().expect("it came").length;
        let leaves: Vec<String> = leaves.iter().map(|leaf| leaf.length.to_string()).collect();
        let labelled: String =
            labelled.iter().map(|(label, leaf)| format!("{label}={}", leaf.length)).collect();
        let Place::Bed(bed) = place else { panic!("{place:?}") };
        let home = match home {
            Home::Town(town) => town,
            Home::Other(number) => ["-"][*number as usize],
        };
        format!("{name} {} {largest} {} {labelled} {bed} {home}", *kind as i32, leaves.join(","))
    }

    fn answer(plant: &Plant) -> Plant {
        Plant {
            name: told(plant),
            kind: Kind::Tree,
            largest: Some(Leaf { length: 9 }),
            leaves: vec![Leaf { length: 8 }],
            labelled: [("z".to_owned(), Leaf { length: 6 })].into(),
            place: Place::Pot(Leaf { length: 7 }),
            home: Home::Town("Hull".to_owned()),
        }
    }

    fn plant() -> Plant {
        Plant {
            name: "fern".to_owned(),
            kind: Kind::Tree,
            largest: Some(Leaf { length: 5 }),
            leaves: vec![Leaf { length: 1 }, Leaf { length: 2 }],
            labelled: [("a".to_owned(), Leaf { length: 3 })].into(),
            place: Place::Bed("east".to_owned()),
            home: Home::Town("York".to_owned()),
        }
    }

    fn judge(came: Plant, is_grown_there: bool) {
        let answer = answer(&plant());
        let (rest, kind, home) = match is_grown_there {
            true => (" || 0 - -", Kind::KindUnspecified, Home::Other(0)),
            false => ("", Kind::Tree, answer.home.clone()),
        };
        let name = format!("fern 4 5 1,2 a=3 east York{rest}");
        assert_eq!(came, Plant { name, kind, home, ..answer });
    }
}

/// The second.
mod second {
    use super::{Keeper, grown};
    use grown::garden::plant::{Home, Place, Served};
    use grown::garden::{Kind, Leaf, Plant};

    version!(grown, answer, plant, judge);

    fn leaf(length: i32, colour: &str) -> Leaf {
        Leaf { length, colour: colour.to_owned() }
    }

    fn told(plant: &Plant) -> String {
        let Plant { name, kind, largest, leaves, labelled, place, .. } = plant;
        let largest = largest.as_ref().expect("it came");
        let [first, second] = &leaves[..] else { panic!("{leaves:?}") };
        let labelled = &labelled["a"];
        let Place::Bed(bed) = place else { panic!("{place:?}") };
        let lengths = format!("{} {},{}", largest.length, first.length, second.length);
        let colours = format!("{}|{}|{}", largest.colour, second.colour, labelled.colour);
        let age = plant.age.map_or("-".to_owned(), |age| age.to_string());
        let dish = match &plant.served {
            Served::Dish(dish) => dish,
            _ => "-",
        };
        let home = match &plant.home {
            Home::Town(town) => town,
            Home::Forest(_) => "forest",
            Home::Other(number) => ["-"][*number as usize],
        };
        assert_eq!(plant.parent, None);
        format!(
            "{name} {} {lengths} a={} {bed} {home} {colours} {} {age} {dish}",
            *kind as i32,
            labelled.length,
            plant.kinds.len()
        )
    }

    fn answer(plant: &Plant) -> Plant {
        Plant {
            name: told(plant),
            kind: Kind::Shrub,
            largest: Some(leaf(9, "blue")),
            leaves: vec![leaf(8, "blue")],
            labelled: [("z".to_owned(), leaf(6, "blue"))].into(),
            place: Place::Pot(leaf(7, "blue")),
            kinds: vec![Kind::Herb],
            parent: None,
            age: Some(1),
            served: Served::Shade(true),
            home: Home::Forest(leaf(4, "blue")),
        }
    }

    fn plant() -> Plant {
        Plant {
            name: "fern".to_owned(),
            kind: Kind::Shrub,
            largest: Some(leaf(5, "red")),
            leaves: vec![leaf(1, "red"), leaf(2, "red")],
            labelled: [("a".to_owned(), leaf(3, "red"))].into(),
            place: Place::Bed("east".to_owned()),
            kinds: vec![Kind::Tree],
            parent: None,
            age: Some(7),
            served: Served::Dish("soup".to_owned()),
            home: Home::Forest(leaf(4, "red")),
        }
    }

    fn judge(came: Plant, is_grown_there: bool) {
        let want = match is_grown_there {
            true => answer(&plant()),
            false => Plant {
                name: "fern 0 5 1,2 a=3 east -".to_owned(),
                kind: Kind::Tree,
                largest: Some(leaf(9, "")),
                leaves: vec![leaf(8, "")],
                labelled: [("z".to_owned(), leaf(6, ""))].into(),
                place: Place::Pot(leaf(7, "")),
                home: Home::Town("Hull".to_owned()),
                ..Plant::default()
            },
        };
        assert_eq!(came, want);
        if is_grown_there {
            assert_eq!(came.name, "fern 2 5 1,2 a=3 east forest red|red|red 1 7 soup");
        }
    }
}

/// Neither.
mod third {
    use super::{Keeper, pruned};

    version!(pruned, Clone::clone);
}

fn export(domain: &Domain, name: &str) -> Result<Clerk, ExportError> {
    match name {
        "planted" => Clerk::export(domain, name, planted::garden::GardenEntries::new(Keeper)),
        "grown" => Clerk::export(domain, name, grown::garden::GardenEntries::new(Keeper)),
        _ => Clerk::export(domain, name, pruned::garden::GardenEntries::new(Keeper)),
    }
}

#[track_caller]
fn check_refusal<T: std::fmt::Debug>(import: Result<T, BindError>) {
    let error = import.expect_err("a field is gone");
    let want = "the server has another version of garden::Garden: procedure 0, `Keep`, has \
                `garden::Leaf`, whose member 1 differs there: `nearcall diff` of both files tells \
                more";
    assert_eq!(error.to_string(), want);
}

/// Exports a server in Rust until standard input ends: this test program as another process.
#[test]
fn serve() {
    serve_here(export);
}

/// Clients of both versions in Rust: this test program as another process.
#[test]
fn call() {
    let Ok(version) = std::env::var("GARDEN_VERSION") else {
        return;
    };
    let domain = Domain::new().expect("a domain");
    let planted = planted::garden::GardenClient::import(&domain, &version);
    let grown = grown::garden::GardenClient::import(&domain, &version);
    if version == "pruned" {
        check_refusal(planted);
        check_refusal(grown);
    } else {
        first::call(&planted.expect("fields at the end"), version == "grown");
        second::call(&grown.expect("fields at the end"), version == "grown");
    }
    domain.shut_down();
}

/// Clients of both versions in Rust, at a server of this one.
fn call_in_rust(version: &str, runtime: &Path) {
    let output = this_program(runtime)
        .args([&*test_of(module_path!(), "call"), "--exact"])
        .env("GARDEN_VERSION", version)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{version}: {}\n{said}", output.status);
    assert!(said.contains("1 passed"), "{version}: {said}");
}

#[test]
fn versions_of_a_proto_file_in_rust_call_each_other() {
    let runtime = tempfile::TempDir::new().expect("a directory");
    for version in ["planted", "grown", "pruned"] {
        let served = RustServer::start(module_path!(), version, runtime.path());
        call_in_rust(version, runtime.path());
        drop(served);
    }
}

#[test]
fn versions_of_a_proto_file_in_c_call_each_other_and_those_in_rust() {
    call_each_other("c");
}

#[test]
fn versions_of_a_proto_file_in_cpp_call_each_other_and_those_in_rust() {
    call_each_other("cpp");
}

fn call_each_other(language: &'static str) {
    let (ways, mut pairs) = (ways(), 0);
    for (compiler, flags) in &ways {
        let build = |name, version| {
            Workshop::of_version(compiler, (name, language), &format!("{version}.proto"), flags)
        };
        let clients = ["planted", "grown"].map(|version| build("plants_client", version));
        for version in ["planted", "grown"] {
            let (workshop, server) = build("plants_server", version);
            let runtime = workshop.path();
            let served = Server::start(&server, version, runtime);
            call_in_rust(version, runtime);
            for (_, client) in &clients {
                expect_success(client, &[version, version], runtime);
                pairs += 1;
            }
            served.end();
        }
        let runtime = clients[0].0.path();
        for version in ["planted", "grown", "pruned"] {
            let served = RustServer::start(module_path!(), version, runtime);
            for (_, client) in &clients {
                expect_success(client, &[version, version], runtime);
                pairs += 1;
            }
            drop(served);
        }
    }
    println!("{pairs} pairs");
    assert!(pairs == 10 * ways.len(), "{pairs} pairs");
}
