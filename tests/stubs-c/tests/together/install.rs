//! Programs in C and C++ that know of libnearcall what is installed: found by pkg-config and by
//! CMake, compiled, linked, and called through.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::{Server, has, model, printed, run_client};

const PROJECT: &str = "cmake_minimum_required(VERSION 3.13)
project(installed C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(nearcall SERIES CONFIG REQUIRED)
add_library(stubs STATIC cross.c cross_server.c)
target_link_libraries(stubs PUBLIC nearcall::nearcall)
add_executable(server server.c)
target_link_libraries(server stubs)
add_executable(server_cpp server.cpp)
target_link_libraries(server_cpp stubs)
add_executable(client client.c cross.c cross_server.c)
target_link_libraries(client nearcall::static)
add_executable(client_cpp client.cpp)
target_link_libraries(client_cpp stubs)
";

/// Sources of the programs, and libnearcall where it was installed.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(TempDir::new().expect("a temporary directory"));
        let test = std::env::current_exe().expect("this is a program");
        let built = test.parent().expect("in a directory");
        let installed = xtask::install::install(&xtask::step::root(), built, &place.prefix());
        println!("{} files installed", installed.unwrap_or_else(|failed| panic!("{failed}")));
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let sources = [
            "check.h",
            "refused.hpp",
            "serve.h",
            "client.c",
            "client.cpp",
            "server.c",
            "server.cpp",
        ];
        for source in sources {
            fs::copy(own.join("c").join(source), place.0.path().join(source)).expect("a copy");
        }
        // C++ has the files of C, and one more.
        for file in printed("cpp", &model(&own.join("cross.idl")), "cross") {
            let path = place.0.path().join(format!("cross{}", file.suffix));
            fs::write(path, file.text).expect("it can be written");
        }
        place
    }

    fn prefix(&self) -> PathBuf {
        self.0.path().join("prefix")
    }

    fn library_path(&self) -> PathBuf {
        self.prefix().join("lib")
    }
}

/// What it prints; fails if it fails.
fn told(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (told, errors) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "{command:?} ended with {}:\n{told}{errors}", output.status);
    told
}

/// Each client calls each server.
fn call_each(place: &Path, servers: &[PathBuf], clients: &[PathBuf]) {
    let mut pairs = 0;
    for (server, number) in servers.iter().zip(0..) {
        let name = format!("installed-{number}");
        let served = Server::start(server, &name, place);
        for client in clients {
            print!("{} calls {}: ", client.display(), server.display());
            print!("{}", run_client(client, &name, place));
            pairs += 1;
        }
        served.end();
    }
    println!("{pairs} pairs");
    assert_eq!(pairs, 4);
}

#[test]
fn pkg_config_finds_all_that_a_program_needs() {
    if !["pkg-config", "gcc", "g++"].into_iter().all(has) {
        return;
    }
    let place = Place::new();
    let asked = |arguments: &[&str]| {
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", place.library_path().join("pkgconfig"));
        told(command.args(arguments).arg("nearcall"))
    };
    let version = asked(&["--modversion"]);
    assert_eq!(version.trim(), env!("CARGO_PKG_VERSION"));
    assert!(asked(&["--static", "--libs"]).contains("-lpthread"));
    let flags = asked(&["--cflags", "--libs"]);
    let mut command = Command::new("gcc");
    command.args(["-std=c11", "-c", "cross.c", "cross_server.c", "-I", "."]);
    told(command.args(flags.split_whitespace()).current_dir(&place.0));
    let program = |compiler: &str, standard: &str, source: &str| {
        let program = place.0.path().join(format!("{source}.program"));
        let mut command = Command::new(compiler);
        command.args([standard, "-c", source, "-o", "main.o", "-I", "."]);
        told(command.args(flags.split_whitespace()).current_dir(&place.0));
        let mut command = Command::new(compiler);
        command.args(["main.o", "cross.o", "cross_server.o", "-o"]).arg(&program);
        command.args(flags.split_whitespace()).current_dir(&place.0);
        told(command.arg(format!("-Wl,-rpath,{}", place.library_path().display())));
        program
    };
    let c = |source| program("gcc", "-std=c11", source);
    let cpp = |source| program("g++", "-std=c++17", source);
    let servers = [c("server.c"), cpp("server.cpp")];
    call_each(place.0.path(), &servers, &[c("client.c"), cpp("client.cpp")]);
}

#[test]
fn pkg_config_says_what_a_program_without_shared_libraries_needs() {
    if !["pkg-config", "gcc", "g++"].into_iter().all(has) {
        return;
    }
    let place = Place::new();
    let mut asked = Command::new("pkg-config");
    asked.env("PKG_CONFIG_PATH", place.library_path().join("pkgconfig"));
    let flags = told(asked.args(["--static", "--cflags", "--libs", "nearcall"]));
    let program = |compiler: &str, standard: &str, source: &str, stubs: &[&str]| {
        let program = place.0.path().join(format!("{source}.static"));
        let mut command = Command::new(compiler);
        command.args([standard, "-static", source]).args(stubs).arg("-o").arg(&program);
        told(command.args(flags.split_whitespace()).args(["-I", "."]).current_dir(&place.0));
        program
    };
    let stubs = ["cross.c", "cross_server.c"];
    let objects = ["cross.o", "cross_server.o"];
    let mut command = Command::new("gcc");
    command.args(["-std=c11", "-c"]).args(stubs).args(flags.split_whitespace());
    told(command.args(["-I", "."]).current_dir(&place.0));
    let c = |source| program("gcc", "-std=c11", source, &stubs);
    let cpp = |source| program("g++", "-std=c++17", source, &objects);
    let servers = [c("server.c"), cpp("server.cpp")];
    call_each(place.0.path(), &servers, &[c("client.c"), cpp("client.cpp")]);
}

#[test]
fn cmake_finds_all_that_a_program_needs() {
    if !["cmake", "gcc", "g++"].into_iter().all(has) {
        return;
    }
    let place = Place::new();
    let configure = |series: &str| {
        let project = PROJECT.replace("SERIES", series);
        fs::write(place.0.path().join("CMakeLists.txt"), project).expect("it can be written");
        let mut command = Command::new("cmake");
        command.args(["-S", ".", "-B", "build"]).current_dir(&place.0);
        command.arg(format!("-DCMAKE_PREFIX_PATH={}", place.prefix().display()));
        command.args(["-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++"]);
        command
    };
    let series = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
    for other in ["99.0", concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".99")] {
        let refused = configure(other).output().expect("it runs");
        assert!(!refused.status.success(), "a library of {series} is found for {other}");
    }
    told(&mut configure(series));
    told(Command::new("cmake").args(["--build", "build", "-j2"]).current_dir(&place.0));
    let built = |names: [&str; 2]| names.map(|name| place.0.path().join("build").join(name));
    let (servers, clients) = (built(["server", "server_cpp"]), built(["client", "client_cpp"]));
    call_each(place.0.path(), &servers, &clients);
}
