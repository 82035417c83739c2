//! The server of a self-test of `talk`, seed 1: `talk_selftest_server NAME`, the same name
//! on both sides. To build: a package that depends on `nearcall` and has this file
//! as the path of a `[[bin]]`, with those that it names beside it.
#[path = "talk.rs"]
mod talk;
#[allow(dead_code)]
#[path = "talk_selftest.rs"]
mod talk_selftest;
use talk_selftest::*;
use std::sync::Arc;
/// Exports everything until standard input ends.
pub fn main() {
    let name = std::env::args().next_back().unwrap_or_default();
    let domain = nearcall::Domain::new().expect("this is a domain");
    let check = Arc::new(Check::new("server", 2));
    let clerks = [
        nearcall::Clerk::export(
            &domain,
            &format!("{name}-0"),
            talk::talk::TalksEntries::new(Server0(Arc::clone(&check))),
        )
            .unwrap_or_else(|error| panic!("{error}")),
    ];
    println!("ready");
    rest();
    check.wait(12);
    drop(clerks);
    domain.shut_down();
    check.end(12);
}
struct Server0(Arc<Check>);
impl talk::talk::TalksServer for Server0 {
    fn lines(
        &self,
        a_room: &str,
        inlet: nearcall::Inlet<String>,
        mut outlet: nearcall::Outlet<talk::talk::Line, talk::talk::TalksLinesException>,
    ) -> Result<(), talk::talk::TalksLinesException> {
        const PLACE: &str = "talk::Talks::lines";
        match self.0.round(0, 7) {
            0 => {
                self.0.same((PLACE, 0, "room"), a_room, "\"?\"");
                let check = Arc::clone(&self.0);
                let items: Vec<talk::talk::Line> = vec![talk::talk::Line {
                    text: String::new(),
                    number: 0,
                }, talk::talk::Line { text: String::new(), number: 35258 }, talk::talk::Line {
                    text: String::from("\"%"),
                    number: 65535,
                }];
                std::thread::spawn(move || {
                    let sent: Vec<String> = inlet.map_while(Result::ok).collect();
                    check.same((PLACE, 0, "sent"), &sent, "[\"Z\\5c\", \"\\5ca\", \"a%\"]");
                    for item in items {
                        if outlet.put(item).is_err() {
                            return;
                        }
                    }
                    outlet.end();
                });
                Ok(())
            }
            1 => {
                self.0.same((PLACE, 1, "room"), a_room, "\"\"");
                let check = Arc::clone(&self.0);
                let items: Vec<talk::talk::Line> = vec![];
                std::thread::spawn(move || {
                    let sent: Vec<String> = inlet.map_while(Result::ok).collect();
                    check.same((PLACE, 1, "sent"), &sent, "[]");
                    for item in items {
                        if outlet.put(item).is_err() {
                            return;
                        }
                    }
                    outlet.end();
                });
                Ok(())
            }
            2 => {
                self.0.same(
                    (PLACE, 2, "room"),
                    a_room,
                    "\"\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9\\c3\\a9\\22\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9\\c3\\a9\\22\\f0\\9f\\98\\80\\e2\\82\\... 402 bytes, hash 3a0fe491f54cd709",
                );
                let check = Arc::clone(&self.0);
                let items: Vec<talk::talk::Line> = repeated(
                    &[
                        talk::talk::Line { text: String::from("\nZ"), number: 34478 },
                        talk::talk::Line { text: String::from("%"), number: 15983 },
                        talk::talk::Line { text: String::new(), number: 0 },
                    ],
                    31,
                );
                std::thread::spawn(move || {
                    let sent: Vec<String> = inlet.map_while(Result::ok).collect();
                    check.same(
                        (PLACE, 2, "sent"),
                        &sent,
                        "[\"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\"]",
                    );
                    for item in items {
                        if outlet.put(item).is_err() {
                            return;
                        }
                    }
                    outlet.end();
                });
                Ok(())
            }
            3 => {
                self.0.same(
                    (PLACE, 3, "room"),
                    a_room,
                    "\"Z\\0a\\5c\\0a\\f0\\9f\\98\\80\\5c?Z\\0a\\5c\\0a\\f0\\9f\\98\\80\\5c?Z\\0a\\5c\\0a\\f0\\9f\\98\\80\\5c?Z\\0a\\5c\\0a\\f0\\9f\\98\\8... 7802 bytes, hash af544bdfede9581d",
                );
                let check = Arc::clone(&self.0);
                let items: Vec<talk::talk::Line> = repeated(
                    &[
                        talk::talk::Line { text: String::from(" a"), number: 0 },
                        talk::talk::Line { text: String::new(), number: 20918 },
                        talk::talk::Line { text: String::new(), number: 0 },
                    ],
                    63,
                );
                std::thread::spawn(move || {
                    let sent: Vec<String> = inlet.map_while(Result::ok).collect();
                    check.same(
                        (PLACE, 3, "sent"),
                        &sent,
                        "[\"?\\0a\", \"\\5c\", \"\\5c\", \"?\\0a\", \"\\5c\", \"\\5c\", \"?\\0a\", \"\\5c\", \"\\5c\", \"?\\0a\", \"\\5c\", \"\\5c\", \"?\\0a\", \"\\5... 462 bytes, hash f978f125d2c17e41",
                    );
                    for item in items {
                        if outlet.put(item).is_err() {
                            return;
                        }
                    }
                    outlet.end();
                });
                Ok(())
            }
            4 => {
                self.0.same((PLACE, 4, "room"), a_room, "\"\\0a\"");
                let check = Arc::clone(&self.0);
                let items: Vec<talk::talk::Line> = repeated(
                    &[
                        talk::talk::Line { text: String::new(), number: 65535 },
                        talk::talk::Line { text: String::new(), number: 0 },
                        talk::talk::Line { text: String::new(), number: 2988 },
                    ],
                    32,
                );
                std::thread::spawn(move || {
                    let sent: Vec<String> = inlet.map_while(Result::ok).collect();
                    check.same(
                        (PLACE, 4, "sent"),
                        &sent,
                        "[\"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\"]",
                    );
                    for item in items {
                        if outlet.put(item).is_err() {
                            return;
                        }
                    }
                    outlet.end();
                });
                Ok(())
            }
            5 => {
                self.0.same((PLACE, 5, "room"), a_room, "\"\"");
                Err(talk::talk::TalksLinesException::Refused(talk::talk::Refused {
                    code: -2147483648,
                }))
            }
            _ => {
                self.0.same((PLACE, 6, "room"), a_room, "\"%\\5c\"");
                let check = Arc::clone(&self.0);
                let items: Vec<talk::talk::Line> = repeated(
                    &[
                        talk::talk::Line { text: String::from("\n%"), number: 0 },
                        talk::talk::Line { text: String::from("a"), number: 0 },
                        talk::talk::Line { text: String::from("a{"), number: 0 },
                    ],
                    32,
                );
                std::thread::spawn(move || {
                    let sent: Vec<String> = inlet.map_while(Result::ok).collect();
                    check.same(
                        (PLACE, 6, "sent"),
                        &sent,
                        "[\"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \"]",
                    );
                    for item in items {
                        if outlet.put(item).is_err() {
                            return;
                        }
                    }
                    outlet.raise(talk::talk::TalksLinesException::Refused(talk::talk::Refused {
                        code: -2147483648,
                    }));
                });
                Ok(())
            }
        }
    }
    fn octets(&self, inlet: nearcall::Inlet<bool>, mut outlet: nearcall::Outlet<u8>) {
        const PLACE: &str = "talk::Talks::octets";
        match self.0.round(1, 5) {
            0 => {
                let check = Arc::clone(&self.0);
                let items: Vec<u8> = vec![255, 0, 0];
                std::thread::spawn(move || {
                    let sent: Vec<bool> = inlet.map_while(Result::ok).collect();
                    check.same((PLACE, 0, "sent"), &sent, "[true, true, false]");
                    for item in items {
                        if outlet.put(item).is_err() {
                            return;
                        }
                    }
                    outlet.end();
                });
            }
            1 => {
                let check = Arc::clone(&self.0);
                let items: Vec<u8> = vec![];
                std::thread::spawn(move || {
                    let sent: Vec<bool> = inlet.map_while(Result::ok).collect();
                    check.same((PLACE, 1, "sent"), &sent, "[]");
                    for item in items {
                        if outlet.put(item).is_err() {
                            return;
                        }
                    }
                    outlet.end();
                });
            }
            2 => {
                let check = Arc::clone(&self.0);
                let items: Vec<u8> = repeated(&[0, 21, 255, 255, 193, 103, 0], 1024);
                std::thread::spawn(move || {
                    let sent: Vec<bool> = inlet.map_while(Result::ok).collect();
                    check.same(
                        (PLACE, 2, "sent"),
                        &sent,
                        "[true, true, true, true, true, false, false, true, true, true, true, true, false, false, true, true,... 6436 bytes, hash cd6b76f04dbe0779",
                    );
                    for item in items {
                        if outlet.put(item).is_err() {
                            return;
                        }
                    }
                    outlet.end();
                });
            }
            3 => {
                let check = Arc::clone(&self.0);
                let items: Vec<u8> = repeated(&[0, 0, 72, 4, 0, 65, 0], 2049);
                std::thread::spawn(move || {
                    let sent: Vec<bool> = inlet.map_while(Result::ok).collect();
                    check.same(
                        (PLACE, 3, "sent"),
                        &sent,
                        "[false, false, true, true, true, true, false, false, false, true, true, true, true, false, false, fa... 13172 bytes, hash 67b74ba32aa4fab7",
                    );
                    for item in items {
                        if outlet.put(item).is_err() {
                            return;
                        }
                    }
                    outlet.end();
                });
            }
            _ => {
                let check = Arc::clone(&self.0);
                let items: Vec<u8> = repeated(&[219, 246, 0, 19, 3, 0, 0], 1025);
                std::thread::spawn(move || {
                    let sent: Vec<bool> = inlet.map_while(Result::ok).collect();
                    check.same(
                        (PLACE, 4, "sent"),
                        &sent,
                        "[true, false, false, true, true, true, false, true, false, false, true, true, true, false, true, fal... 6590 bytes, hash d174b30314a6c4c5",
                    );
                    for item in items {
                        if outlet.put(item).is_err() {
                            return;
                        }
                    }
                    outlet.end();
                });
            }
        }
    }
}
