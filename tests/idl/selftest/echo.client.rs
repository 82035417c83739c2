//! The client of a self-test of `echo`, seed 1: `echo_selftest_client NAME`, the same name
//! on both sides. To build: a package that depends on `nearcall` and has this file
//! as the path of a `[[bin]]`, with those that it names beside it.
#[path = "echo.rs"]
mod echo;
#[allow(dead_code)]
#[path = "echo_selftest.rs"]
mod echo_selftest;
use echo_selftest::*;
/// Calls everything, and ends the program: well only if all is as it should be.
pub fn main() {
    let name = std::env::args().next_back().unwrap_or_default();
    let domain = nearcall::Domain::new().expect("this is a domain");
    let check = Check::new("client", 2);
    let client = echo::echo::EchoClient::import(&domain, &format!("{name}-0"))
        .unwrap_or_else(|error| panic!("{error}"));
    call_0(&client, &check);
    call_1(&client, &check);
    check.end(11);
}
/// `echo::Echo::twice`
fn call_0(client: &echo::echo::EchoClient, check: &Check) {
    const PLACE: &str = "echo::Echo::twice";
    {
        let a_a: i32 = 2147483647;
        check.round(0, 6);
        match client.twice(a_a) {
            Ok(returned) => {
                check.same((PLACE, 0, "returned"), &returned, "-2147483648");
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
        let a_a: i32 = 1359066553;
        check.round(0, 6);
        match client.twice(a_a) {
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
        let a_a: i32 = -1842903691;
        check.round(0, 6);
        match client.twice(a_a) {
            Ok(returned) => {
                check.same((PLACE, 2, "returned"), &returned, "-2147483648");
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
        let a_a: i32 = -2125050015;
        check.round(0, 6);
        match client.twice(a_a) {
            Ok(returned) => {
                check.same((PLACE, 3, "returned"), &returned, "-878027328");
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
        let a_a: i32 = -280209496;
        check.round(0, 6);
        match client.twice(a_a) {
            Ok(returned) => {
                check.same((PLACE, 4, "returned"), &returned, "939330403");
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
        let a_a: i32 = -1330673170;
        check.round(0, 6);
        match client.twice(a_a) {
            Ok(_) => check.differs(
                (PLACE, 5, "outcome"),
                "returned",
                "raised echo::Unknown {who: \"a\"}",
            ),
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 5, "outcome"),
                &raised,
                "raised echo::Unknown {who: \"a\"}",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 5, "outcome"),
                error,
                "raised echo::Unknown {who: \"a\"}",
            ),
        }
    }
}
/// `echo::Echo::greet`
fn call_1(client: &echo::echo::EchoClient, check: &Check) {
    const PLACE: &str = "echo::Echo::greet";
    {
        let a_guest: echo::echo::Guest =
            echo::echo::Guest { name: String::new(), age: Some(2147483647) };
        let mut a_numbers: Vec<i16> = vec![32767, 25191];
        let mut a_raw: Vec<u8> = Vec::new();
        check.round(1, 5);
        match client.greet(&a_guest, &mut a_numbers, &mut a_raw) {
            Ok(returned) => {
                check.same((PLACE, 0, "returned"), &returned, "0");
                check.same((PLACE, 0, "numbers"), &a_numbers, "[-1987]");
                check.same((PLACE, 0, "raw"), &a_raw, "[46]");
            }
            Err(error) => check.differs((PLACE, 0, "outcome"), error, "returned"),
        }
    }
    {
        let a_guest: echo::echo::Guest = echo::echo::Guest { name: String::new(), age: None };
        let mut a_numbers: Vec<i16> = vec![];
        let mut a_raw: Vec<u8> = Vec::new();
        check.round(1, 5);
        match client.greet(&a_guest, &mut a_numbers, &mut a_raw) {
            Ok(returned) => {
                check.same((PLACE, 1, "returned"), &returned, "1");
                check.same((PLACE, 1, "numbers"), &a_numbers, "[]");
                check.same((PLACE, 1, "raw"), &a_raw, "[]");
            }
            Err(error) => check.differs((PLACE, 1, "outcome"), error, "returned"),
        }
    }
    {
        let a_guest: echo::echo::Guest =
            echo::echo::Guest { name: String::from("\"é😀\""), age: Some(0) };
        let mut a_numbers: Vec<i16> = vec![32767, -29181, 0];
        let mut a_raw: Vec<u8> = Vec::new();
        check.round(1, 5);
        match client.greet(&a_guest, &mut a_numbers, &mut a_raw) {
            Ok(returned) => {
                check.same((PLACE, 2, "returned"), &returned, "0");
                check.same((PLACE, 2, "numbers"), &a_numbers, "[-32768, -32768, -27451]");
                check.same(
                    (PLACE, 2, "raw"),
                    &a_raw,
                    "[188, 0, 129, 0, 21, 255, 0, 188, 0, 129, 0, 21, 255, 0, 188, 0, 129, 0, 21, 255, 0, 188, 0, 129, 0,... 601 bytes, hash 9cf1af5686a0c974",
                );
            }
            Err(error) => check.differs((PLACE, 2, "outcome"), error, "returned"),
        }
    }
    {
        let a_guest: echo::echo::Guest =
            echo::echo::Guest { name: String::from("\"?a%?{"), age: Some(41519233) };
        let mut a_numbers: Vec<i16> = vec![22369, 12405, -4681];
        let mut a_raw: Vec<u8> = Vec::new();
        check.round(1, 5);
        match client.greet(&a_guest, &mut a_numbers, &mut a_raw) {
            Ok(returned) => {
                check.same((PLACE, 3, "returned"), &returned, "1");
                check.same((PLACE, 3, "numbers"), &a_numbers, "[-27801, 18964, 0]");
                check.same(
                    (PLACE, 3, "raw"),
                    &a_raw,
                    "[0, 166, 46, 208, 0, 0, 44, 0, 166, 46, 208, 0, 0, 44, 0, 166, 46, 208, 0, 0, 44, 0, 166, 46, 208, 0... 11573 bytes, hash 967d0858fa0c7a4e",
                );
            }
            Err(error) => check.differs((PLACE, 3, "outcome"), error, "returned"),
        }
    }
    {
        let a_guest: echo::echo::Guest =
            echo::echo::Guest { name: "x".repeat(8), age: Some(-2147483648) };
        let mut a_numbers: Vec<i16> = vec![27558, 32767, 8526];
        let mut a_raw: Vec<u8> = Vec::new();
        check.round(1, 5);
        match client.greet(&a_guest, &mut a_numbers, &mut a_raw) {
            Ok(returned) => {
                check.same((PLACE, 4, "returned"), &returned, "1");
                check.same((PLACE, 4, "numbers"), &a_numbers, "[-32768, -6380, -32768]");
                check.same((PLACE, 4, "raw"), &a_raw, "[0, 233, 184]");
            }
            Err(error) => check.differs((PLACE, 4, "outcome"), error, "returned"),
        }
    }
}
