//! The client of a self-test of `talk`, seed 1: `talk_selftest_client NAME`, the same name
//! on both sides. To build: a package that depends on `nearcall` and has this file
//! as the path of a `[[bin]]`, with those that it names beside it.
#[path = "talk.rs"]
mod talk;
#[allow(dead_code)]
#[path = "talk_selftest.rs"]
mod talk_selftest;
use talk_selftest::*;
/// Calls everything, and ends the program: well only if all is as it should be.
pub fn main() {
    let name = std::env::args().next_back().unwrap_or_default();
    let domain = nearcall::Domain::new().expect("this is a domain");
    let check = Check::new("client", 2);
    let client = talk::talk::TalksClient::import(&domain, &format!("{name}-0"))
        .unwrap_or_else(|error| panic!("{error}"));
    call_0(&client, &check);
    call_1(&client, &check);
    check.end(12);
}
/// `talk::Talks::lines`
fn call_0(client: &talk::talk::TalksClient, check: &Check) {
    const PLACE: &str = "talk::Talks::lines";
    {
        let a_room: String = String::from("?");
        check.round(0, 7);
        let mut items: Vec<talk::talk::Line> = Vec::new();
        let sent: Vec<String> = vec![String::from("Z\\"), String::from("\\a"), String::from("a%")];
        let called = client.lines(&a_room).and_then(|(sink, feed)| {
            let (mut sink, feed) = (sink.begin(), feed.begin());
            for item in sent {
                sink.put(item)?;
            }
            sink.end()?;
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same(
            (PLACE, 0, "items"),
            &items,
            "[{text: \"\", number: 0}, {text: \"\", number: 35258}, {text: \"\\22%\", number: 65535}]",
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
        let a_room: String = String::new();
        check.round(0, 7);
        let mut items: Vec<talk::talk::Line> = Vec::new();
        let sent: Vec<String> = vec![];
        let called = client.lines(&a_room).and_then(|(sink, feed)| {
            let (mut sink, feed) = (sink.begin(), feed.begin());
            for item in sent {
                sink.put(item)?;
            }
            sink.end()?;
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
        let a_room: String = "😀€Z\néé\"".repeat(10);
        check.round(0, 7);
        let mut items: Vec<talk::talk::Line> = Vec::new();
        let sent: Vec<String> = repeated(&[String::from("\""), String::new(), String::new()], 31);
        let called = client.lines(&a_room).and_then(|(sink, feed)| {
            let (mut sink, feed) = (sink.begin(), feed.begin());
            for item in sent {
                sink.put(item)?;
            }
            sink.end()?;
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same(
            (PLACE, 2, "items"),
            &items,
            "[{text: \"\\0aZ\", number: 34478}, {text: \"%\", number: 15983}, {text: \"\", number: 0}, {text: \"\\0aZ\", nu... 851 bytes, hash 041cf51ea77871e4",
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
        let a_room: String = "Z\n\\\n😀\\?".repeat(300);
        check.round(0, 7);
        let mut items: Vec<talk::talk::Line> = Vec::new();
        let sent: Vec<String> =
            repeated(&[String::from("?\n"), String::from("\\"), String::from("\\")], 63);
        let called = client.lines(&a_room).and_then(|(sink, feed)| {
            let (mut sink, feed) = (sink.begin(), feed.begin());
            for item in sent {
                sink.put(item)?;
            }
            sink.end()?;
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same(
            (PLACE, 3, "items"),
            &items,
            "[{text: \" a\", number: 0}, {text: \"\", number: 20918}, {text: \"\", number: 0}, {text: \" a\", number: 0},... 1575 bytes, hash 4a7a1bc4fe007f3e",
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
        let a_room: String = String::from("\n");
        check.round(0, 7);
        let mut items: Vec<talk::talk::Line> = Vec::new();
        let sent: Vec<String> =
            repeated(&[String::new(), String::from("a?"), String::from("?Z")], 32);
        let called = client.lines(&a_room).and_then(|(sink, feed)| {
            let (mut sink, feed) = (sink.begin(), feed.begin());
            for item in sent {
                sink.put(item)?;
            }
            sink.end()?;
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same(
            (PLACE, 4, "items"),
            &items,
            "[{text: \"\", number: 65535}, {text: \"\", number: 0}, {text: \"\", number: 2988}, {text: \"\", number: 6553... 810 bytes, hash f3939f26f3b7b3b5",
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
        let a_room: String = String::new();
        check.round(0, 7);
        let mut items: Vec<talk::talk::Line> = Vec::new();
        let sent: Vec<String> = vec![];
        let called = client.lines(&a_room).and_then(|(sink, feed)| {
            let (mut sink, feed) = (sink.begin(), feed.begin());
            for item in sent {
                sink.put(item)?;
            }
            sink.end()?;
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same((PLACE, 5, "items"), &items, "[]");
        match called {
            Ok(_) => check.differs(
                (PLACE, 5, "outcome"),
                "returned",
                "raised talk::Refused {code: -2147483648}",
            ),
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 5, "outcome"),
                &raised,
                "raised talk::Refused {code: -2147483648}",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 5, "outcome"),
                error,
                "raised talk::Refused {code: -2147483648}",
            ),
        }
    }
    {
        let a_room: String = String::from("%\\");
        check.round(0, 7);
        let mut items: Vec<talk::talk::Line> = Vec::new();
        let sent: Vec<String> =
            repeated(&[String::from("?"), String::from(" "), String::from("\"Z")], 32);
        let called = client.lines(&a_room).and_then(|(sink, feed)| {
            let (mut sink, feed) = (sink.begin(), feed.begin());
            for item in sent {
                sink.put(item)?;
            }
            sink.end()?;
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same(
            (PLACE, 6, "items"),
            &items,
            "[{text: \"\\0a%\", number: 0}, {text: \"a\", number: 0}, {text: \"a{\", number: 0}, {text: \"\\0a%\", number: ... 811 bytes, hash c2d86aeea49df38c",
        );
        match called {
            Ok(_) => check.differs(
                (PLACE, 6, "outcome"),
                "returned",
                "raised talk::Refused {code: -2147483648}",
            ),
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 6, "outcome"),
                &raised,
                "raised talk::Refused {code: -2147483648}",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 6, "outcome"),
                error,
                "raised talk::Refused {code: -2147483648}",
            ),
        }
    }
}
/// `talk::Talks::octets`
fn call_1(client: &talk::talk::TalksClient, check: &Check) {
    const PLACE: &str = "talk::Talks::octets";
    {
        check.round(1, 5);
        let mut items: Vec<u8> = Vec::new();
        let sent: Vec<bool> = vec![true, true, false];
        let called = client.octets().and_then(|(sink, feed)| {
            let (mut sink, feed) = (sink.begin(), feed.begin());
            for item in sent {
                sink.put(item)?;
            }
            sink.end()?;
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same((PLACE, 0, "items"), &items, "[255, 0, 0]");
        match called {
            Ok(()) => {}
            Err(error) => check.differs((PLACE, 0, "outcome"), error, "returned"),
        }
    }
    {
        check.round(1, 5);
        let mut items: Vec<u8> = Vec::new();
        let sent: Vec<bool> = vec![];
        let called = client.octets().and_then(|(sink, feed)| {
            let (mut sink, feed) = (sink.begin(), feed.begin());
            for item in sent {
                sink.put(item)?;
            }
            sink.end()?;
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same((PLACE, 1, "items"), &items, "[]");
        match called {
            Ok(()) => {}
            Err(error) => check.differs((PLACE, 1, "outcome"), error, "returned"),
        }
    }
    {
        check.round(1, 5);
        let mut items: Vec<u8> = Vec::new();
        let sent: Vec<bool> = repeated(&[true, true, true, true, true, false, false], 1024);
        let called = client.octets().and_then(|(sink, feed)| {
            let (mut sink, feed) = (sink.begin(), feed.begin());
            for item in sent {
                sink.put(item)?;
            }
            sink.end()?;
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same(
            (PLACE, 2, "items"),
            &items,
            "[0, 21, 255, 255, 193, 103, 0, 0, 21, 255, 255, 193, 103, 0, 0, 21, 255, 255, 193, 103, 0, 0, 21, 25... 4387 bytes, hash b9dd45e2b84058ea",
        );
        match called {
            Ok(()) => {}
            Err(error) => check.differs((PLACE, 2, "outcome"), error, "returned"),
        }
    }
    {
        check.round(1, 5);
        let mut items: Vec<u8> = Vec::new();
        let sent: Vec<bool> = repeated(&[false, false, true, true, true, true, false], 2049);
        let called = client.octets().and_then(|(sink, feed)| {
            let (mut sink, feed) = (sink.begin(), feed.begin());
            for item in sent {
                sink.put(item)?;
            }
            sink.end()?;
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same(
            (PLACE, 3, "items"),
            &items,
            "[0, 0, 72, 4, 0, 65, 0, 0, 0, 72, 4, 0, 65, 0, 0, 0, 72, 4, 0, 65, 0, 0, 0, 72, 4, 0, 65, 0, 0, 0, 7... 6732 bytes, hash 429bd6ce15987032",
        );
        match called {
            Ok(()) => {}
            Err(error) => check.differs((PLACE, 3, "outcome"), error, "returned"),
        }
    }
    {
        check.round(1, 5);
        let mut items: Vec<u8> = Vec::new();
        let sent: Vec<bool> = repeated(&[true, false, false, true, true, true, false], 1025);
        let called = client.octets().and_then(|(sink, feed)| {
            let (mut sink, feed) = (sink.begin(), feed.begin());
            for item in sent {
                sink.put(item)?;
            }
            sink.end()?;
            for item in feed {
                items.push(item?);
            }
            Ok(())
        });
        check.same(
            (PLACE, 4, "items"),
            &items,
            "[219, 246, 0, 19, 3, 0, 0, 219, 246, 0, 19, 3, 0, 0, 219, 246, 0, 19, 3, 0, 0, 219, 246, 0, 19, 3, 0... 3809 bytes, hash 12418a1f3cd76b8d",
        );
        match called {
            Ok(()) => {}
            Err(error) => check.differs((PLACE, 4, "outcome"), error, "returned"),
        }
    }
}
