//! The client of a self-test of `drip`, seed 1: `drip_selftest_client NAME`, the same name
//! on both sides. To build: a package that depends on `nearcall` and has this file
//! as the path of a `[[bin]]`, with those that it names beside it.
#[path = "drip.rs"]
mod drip;
#[allow(dead_code)]
#[path = "drip_selftest.rs"]
mod drip_selftest;
use drip_selftest::*;
/// Calls everything, and ends the program: well only if all is as it should be.
pub fn main() {
    let name = std::env::args().next_back().unwrap_or_default();
    let domain = nearcall::Domain::new().expect("this is a domain");
    let check = Check::new("client", 2);
    let client = drip::drip::DripClient::import(&domain, &format!("{name}-0"))
        .unwrap_or_else(|error| panic!("{error}"));
    call_0(&client, &check);
    call_1(&client, &check);
    check.end(14);
}
/// `drip::Drip::out_of`
fn call_0(client: &drip::drip::DripClient, check: &Check) {
    const PLACE: &str = "drip::Drip::out_of";
    {
        let a_tap: String = String::from("?");
        check.round(0, 7);
        let mut items: Vec<drip::drip::Drop> = Vec::new();
        let called = client.out_of(&a_tap).and_then(|feed| {
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same(
            (PLACE, 0, "items"),
            &items,
            "[{size: 254, colour: \"\\5c\"}, {size: 172, colour: \"Z\"}, {size: 12, colour: \"\"}]",
        );
        match called {
            Ok(()) => {}
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 0, "outcome"),
                &raised,
                "returned",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 0, "outcome"),
                error,
                "returned",
            ),
        }
    }
    {
        let a_tap: String = String::new();
        check.round(0, 7);
        let mut items: Vec<drip::drip::Drop> = Vec::new();
        let called = client.out_of(&a_tap).and_then(|feed| {
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same((PLACE, 1, "items"), &items, "[]");
        match called {
            Ok(()) => {}
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 1, "outcome"),
                &raised,
                "returned",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 1, "outcome"),
                error,
                "returned",
            ),
        }
    }
    {
        let a_tap: String = "😀{\"%€ a".repeat(12);
        check.round(0, 7);
        let mut items: Vec<drip::drip::Drop> = Vec::new();
        let called = client.out_of(&a_tap).and_then(|feed| {
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same(
            (PLACE, 2, "items"),
            &items,
            "[{size: 0, colour: \"\"}, {size: 14, colour: \"Z\\0a\"}, {size: 121, colour: \"\"}, {size: 0, colour: \"\"}, ... 783 bytes, hash 6688d97ddc345194",
        );
        match called {
            Ok(()) => {}
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 2, "outcome"),
                &raised,
                "returned",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 2, "outcome"),
                error,
                "returned",
            ),
        }
    }
    {
        let a_tap: String = "%?\né{😀€".repeat(230);
        check.round(0, 7);
        let mut items: Vec<drip::drip::Drop> = Vec::new();
        let called = client.out_of(&a_tap).and_then(|feed| {
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same(
            (PLACE, 3, "items"),
            &items,
            "[{size: 111, colour: \"\"}, {size: 0, colour: \"\"}, {size: 255, colour: \" \"}, {size: 111, colour: \"\"}, ... 1554 bytes, hash 19499f2252115175",
        );
        match called {
            Ok(()) => {}
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 3, "outcome"),
                &raised,
                "returned",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 3, "outcome"),
                error,
                "returned",
            ),
        }
    }
    {
        let a_tap: String = String::new();
        check.round(0, 7);
        let mut items: Vec<drip::drip::Drop> = Vec::new();
        let called = client.out_of(&a_tap).and_then(|feed| {
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same(
            (PLACE, 4, "items"),
            &items,
            "[{size: 4, colour: \"\\0a\"}, {size: 0, colour: \"\"}, {size: 156, colour: \"?\"}, {size: 4, colour: \"\\0a\"}... 799 bytes, hash 70b7fd74c51b4ed6",
        );
        match called {
            Ok(()) => {}
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 4, "outcome"),
                &raised,
                "returned",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 4, "outcome"),
                error,
                "returned",
            ),
        }
    }
    {
        let a_tap: String = String::from("\n");
        check.round(0, 7);
        let mut items: Vec<drip::drip::Drop> = Vec::new();
        let called = client.out_of(&a_tap).and_then(|feed| {
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same((PLACE, 5, "items"), &items, "[]");
        match called {
            Ok(_) => check.differs((PLACE, 5, "outcome"), "returned", "raised drip::Dry {left: 0}"),
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 5, "outcome"),
                &raised,
                "raised drip::Dry {left: 0}",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 5, "outcome"),
                error,
                "raised drip::Dry {left: 0}",
            ),
        }
    }
    {
        let a_tap: String = String::from("\\%");
        check.round(0, 7);
        let mut items: Vec<drip::drip::Drop> = Vec::new();
        let called = client.out_of(&a_tap).and_then(|feed| {
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same(
            (PLACE, 6, "items"),
            &items,
            "[{size: 224, colour: \"{\\5c\"}, {size: 216, colour: \"Z\"}, {size: 255, colour: \"\\0a\"}, {size: 224, colo... 885 bytes, hash 979784e933d1efd9",
        );
        match called {
            Ok(_) => check.differs(
                (PLACE, 6, "outcome"),
                "returned",
                "raised drip::Dry {left: -2147483648}",
            ),
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 6, "outcome"),
                &raised,
                "raised drip::Dry {left: -2147483648}",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 6, "outcome"),
                error,
                "raised drip::Dry {left: -2147483648}",
            ),
        }
    }
}
/// `drip::Drip::into`
fn call_1(client: &drip::drip::DripClient, check: &Check) {
    const PLACE: &str = "drip::Drip::into";
    {
        let a_tap: String = String::from("?");
        check.round(1, 7);
        let items: Vec<drip::drip::Drop> = vec![drip::drip::Drop {
            size: 255,
            colour: String::from("Z"),
        }, drip::drip::Drop { size: 46, colour: String::new() }, drip::drip::Drop {
            size: 0,
            colour: String::new(),
        }];
        let called = client.into(&a_tap).and_then(|mut feed| {
            for item in items {
                feed.put(item)?;
            }
            feed.end()
        });
        match called {
            Ok(returned) => {
                check.same((PLACE, 0, "returned"), &returned, "3723484662");
            }
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 0, "outcome"),
                &raised,
                "returned",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 0, "outcome"),
                error,
                "returned",
            ),
        }
    }
    {
        let a_tap: String = String::new();
        check.round(1, 7);
        let items: Vec<drip::drip::Drop> = vec![];
        let called = client.into(&a_tap).and_then(|mut feed| {
            for item in items {
                feed.put(item)?;
            }
            feed.end()
        });
        match called {
            Ok(returned) => {
                check.same((PLACE, 1, "returned"), &returned, "0");
            }
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 1, "outcome"),
                &raised,
                "returned",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 1, "outcome"),
                error,
                "returned",
            ),
        }
    }
    {
        let a_tap: String = "\"\n😀€%%é".repeat(11);
        check.round(1, 7);
        let items: Vec<drip::drip::Drop> = repeated(
            &[
                drip::drip::Drop { size: 0, colour: String::new() },
                drip::drip::Drop { size: 0, colour: String::from("\n") },
                drip::drip::Drop { size: 183, colour: String::from("\n\"") },
            ],
            31,
        );
        let called = client.into(&a_tap).and_then(|mut feed| {
            for item in items {
                feed.put(item)?;
            }
            feed.end()
        });
        match called {
            Ok(returned) => {
                check.same((PLACE, 2, "returned"), &returned, "2026696102");
            }
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 2, "outcome"),
                &raised,
                "returned",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 2, "outcome"),
                error,
                "returned",
            ),
        }
    }
    {
        let a_tap: String = "€é%a%😀a".repeat(230);
        check.round(1, 7);
        let items: Vec<drip::drip::Drop> = repeated(
            &[
                drip::drip::Drop { size: 0, colour: String::from("{") },
                drip::drip::Drop { size: 255, colour: String::from("\"?") },
                drip::drip::Drop { size: 233, colour: String::new() },
            ],
            63,
        );
        let called = client.into(&a_tap).and_then(|mut feed| {
            for item in items {
                feed.put(item)?;
            }
            feed.end()
        });
        match called {
            Ok(returned) => {
                check.same((PLACE, 3, "returned"), &returned, "619051670");
            }
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 3, "outcome"),
                &raised,
                "returned",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 3, "outcome"),
                error,
                "returned",
            ),
        }
    }
    {
        let a_tap: String = String::from("{");
        check.round(1, 7);
        let items: Vec<drip::drip::Drop> = repeated(
            &[
                drip::drip::Drop { size: 255, colour: String::from("\"") },
                drip::drip::Drop { size: 0, colour: String::new() },
                drip::drip::Drop { size: 152, colour: String::from("?\\") },
            ],
            32,
        );
        let called = client.into(&a_tap).and_then(|mut feed| {
            for item in items {
                feed.put(item)?;
            }
            feed.end()
        });
        match called {
            Ok(returned) => {
                check.same((PLACE, 4, "returned"), &returned, "916027678");
            }
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 4, "outcome"),
                &raised,
                "returned",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 4, "outcome"),
                error,
                "returned",
            ),
        }
    }
    {
        let a_tap: String = String::from(" {");
        check.round(1, 7);
        let items: Vec<drip::drip::Drop> = vec![];
        let called = client.into(&a_tap).and_then(|mut feed| {
            for item in items {
                feed.put(item)?;
            }
            feed.end()
        });
        match called {
            Ok(_) => check.differs(
                (PLACE, 5, "outcome"),
                "returned",
                "raised drip::Dry {left: -2147483648}",
            ),
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 5, "outcome"),
                &raised,
                "raised drip::Dry {left: -2147483648}",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 5, "outcome"),
                error,
                "raised drip::Dry {left: -2147483648}",
            ),
        }
    }
    {
        let a_tap: String = String::from("{%");
        check.round(1, 7);
        let items: Vec<drip::drip::Drop> = repeated(
            &[
                drip::drip::Drop { size: 61, colour: String::from("a%") },
                drip::drip::Drop { size: 0, colour: String::from(" {") },
                drip::drip::Drop { size: 132, colour: String::new() },
            ],
            32,
        );
        let called = client.into(&a_tap).and_then(|mut feed| {
            for item in items {
                feed.put(item)?;
            }
            feed.end()
        });
        match called {
            Ok(_) => check.differs(
                (PLACE, 6, "outcome"),
                "returned",
                "raised drip::Dry {left: 718462058}",
            ),
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 6, "outcome"),
                &raised,
                "raised drip::Dry {left: 718462058}",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 6, "outcome"),
                error,
                "raised drip::Dry {left: 718462058}",
            ),
        }
    }
}
