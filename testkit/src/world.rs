//! The two worlds that a two-domain test runs in, and what a test sees of the server in either.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nearcall::{Binding, Clerk, Domain, ImportOptions};

use crate::faults::faults::{FAULTS, FEEDING, FaultsClient, FeedingClient, PASSING, PassingClient};
use crate::{confined, feeding, passing, server};

/// Where the two domains of a test live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Two domains of this process, over a heap twin of the segments.
    Threads,
    /// This process and another one, over sealed segments.
    Processes,
}

/// A place for servers, and a client's domain.
#[derive(Debug)]
pub struct World {
    kind: Kind,
    directory: tempfile::TempDir,
    server_program: PathBuf,
    client: Domain,
}

/// A server that exports `Faults`.
#[derive(Debug)]
pub struct Server {
    name: String,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Here { clerk: Option<Clerk>, passing: Option<Clerk>, feeding: Option<Clerk> },
    There { child: Child },
}

/// Runs a test in each world. `server_program` is the program `testkit-server`.
pub fn each_world(server_program: &str, test: impl Fn(&World)) {
    for kind in [Kind::Threads, Kind::Processes] {
        in_world(kind, server_program, &test);
    }
}

/// Runs a test in one world: for what only makes sense there.
pub fn in_world(kind: Kind, server_program: &str, test: impl Fn(&World)) {
    let world = World {
        kind,
        directory: tempfile::tempdir().expect("a temporary directory"),
        server_program: server_program.into(),
        client: Domain::new().expect("a client's domain"),
    };
    test(&world);
}

impl World {
    /// Which world it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The directory that names are looked up in.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The client's domain.
    pub fn client_domain(&self) -> &Domain {
        &self.client
    }

    /// Starts a server that exports `Faults` under `name`.
    pub fn serve(&self, name: &str) -> Server {
        let place = match self.kind {
            Kind::Threads => {
                let domain = Domain::new().expect("a server's domain");
                let clerk = server::export(&domain, self.directory(), name);
                let passing = passing::export(&domain, self.directory(), name);
                let feeding = feeding::export(&domain, self.directory(), name);
                Place::Here {
                    clerk: Some(clerk.expect("the name is free")),
                    passing: Some(passing.expect("the name is free")),
                    feeding: Some(feeding.expect("the name is free")),
                }
            }
            Kind::Processes => Place::There { child: self.spawn(name, &[]) },
        };
        Server { name: name.to_owned(), place }
    }

    /// Starts a process that serves what `arguments` say, as the server's program has it.
    pub fn serve_as(&self, name: &str, arguments: &[&str]) -> Server {
        let child = self.spawn(name, arguments);
        Server { name: name.to_owned(), place: Place::There { child } }
    }

    /// A client bound to a server of this world.
    pub fn import(&self, server: &Server) -> FaultsClient {
        self.import_with(server, self.import_options())
    }

    /// Options that find the servers of this world.
    pub fn import_options(&self) -> ImportOptions {
        server::import_options(self.directory())
    }

    /// The same with knobs.
    pub fn import_with(&self, server: &Server, options: ImportOptions) -> FaultsClient {
        let binding = match &server.place {
            Place::Here { clerk, .. } => {
                let clerk = clerk.as_ref().expect("the server is exported");
                Binding::import_twin(&self.client, clerk, &FAULTS, options)
            }
            Place::There { .. } => {
                Binding::import_with(&self.client, &server.name, &FAULTS, options)
            }
        };
        FaultsClient::new(binding.expect("the server admits us"))
    }

    /// A client of its `Feeding`.
    pub fn import_feeding(&self, server: &Server) -> FeedingClient {
        let options = self.import_options();
        let binding = match &server.place {
            Place::Here { feeding, .. } => {
                let clerk = feeding.as_ref().expect("the server is exported");
                Binding::import_twin(&self.client, clerk, &FEEDING, options)
            }
            Place::There { .. } => {
                let name = feeding::name_of(&server.name);
                Binding::import_with(&self.client, &name, &FEEDING, options)
            }
        };
        FeedingClient::new(binding.expect("the server admits us"))
    }

    /// A client of its `Passing`.
    pub fn import_passing(&self, server: &Server) -> PassingClient {
        let options = self.import_options();
        let binding = match &server.place {
            Place::Here { passing, .. } => {
                let clerk = passing.as_ref().expect("the server is exported");
                Binding::import_twin(&self.client, clerk, &PASSING, options)
            }
            Place::There { .. } => {
                let name = passing::name_of(&server.name);
                Binding::import_with(&self.client, &name, &PASSING, options)
            }
        };
        PassingClient::new(binding.expect("the server admits us"))
    }

    fn spawn(&self, name: &str, arguments: &[&str]) -> Child {
        let mut child = Command::new(&self.server_program)
            .arg(self.directory())
            .arg(name)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server's program");
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("piped");
        BufReader::new(output).read_line(&mut line).expect("the server's first line");
        assert_eq!(line, "exported\n", "the server's first line");
        assert!(confined::is_confined(child.id()), "the server has not confined itself");
        child
    }
}

impl Server {
    /// The server's process, if it has one of its own.
    pub fn pid(&self) -> Option<u32> {
        match &self.place {
            Place::Here { .. } => None,
            Place::There { child } => Some(child.id()),
        }
    }

    /// Ends the server in an orderly way, and waits until it has ended.
    pub fn shut_down(&mut self) {
        match &mut self.place {
            Place::Here { clerk, passing, feeding } => {
                drop((clerk.take(), passing.take(), feeding.take()));
            }
            Place::There { child } => {
                let mut input = child.stdin.take().expect("piped");
                // A server that has ended already reads nothing.
                let _ = input.write_all(b"end\n");
                drop(input);
                let status = confined::wait(child);
                assert!(status.success(), "the server ended with {status}");
            }
        }
    }

    /// Kills the server's process. Only for [`Kind::Processes`].
    pub fn kill(&mut self) {
        match &mut self.place {
            Place::Here { .. } => panic!("threads cannot be killed"),
            Place::There { child } => {
                confined::kill(child);
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Place::There { child } = &mut self.place {
            confined::kill(child);
        }
    }
}
