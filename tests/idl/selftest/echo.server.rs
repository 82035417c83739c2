//! The server of a self-test of `echo`, seed 1: `echo_selftest_server NAME`, the same name
//! on both sides. To build: a package that depends on `nearcall` and has this file
//! as the path of a `[[bin]]`, with those that it names beside it.
#[path = "echo.rs"]
mod echo;
#[allow(dead_code)]
#[path = "echo_selftest.rs"]
mod echo_selftest;
use echo_selftest::*;
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
            echo::echo::EchoEntries::new(Server0(Arc::clone(&check))),
        )
            .unwrap_or_else(|error| panic!("{error}")),
    ];
    println!("ready");
    rest();
    check.wait(11);
    drop(clerks);
    domain.shut_down();
    check.end(11);
}
struct Server0(Arc<Check>);
impl echo::echo::EchoServer for Server0 {
    fn twice(&self, a_a: i32) -> Result<i32, echo::echo::EchoTwiceException> {
        const PLACE: &str = "echo::Echo::twice";
        match self.0.round(0, 6) {
            0 => {
                self.0.same((PLACE, 0, "a"), &a_a, "2147483647");
                Ok(-2147483648)
            }
            1 => {
                self.0.same((PLACE, 1, "a"), &a_a, "1359066553");
                Ok(0)
            }
            2 => {
                self.0.same((PLACE, 2, "a"), &a_a, "-1842903691");
                Ok(-2147483648)
            }
            3 => {
                self.0.same((PLACE, 3, "a"), &a_a, "-2125050015");
                Ok(-878027328)
            }
            4 => {
                self.0.same((PLACE, 4, "a"), &a_a, "-280209496");
                Ok(939330403)
            }
            _ => {
                self.0.same((PLACE, 5, "a"), &a_a, "-1330673170");
                Err(echo::echo::EchoTwiceException::Unknown(echo::echo::Unknown {
                    who: String::from("a"),
                }))
            }
        }
    }
    fn greet(
        &self,
        a_guest: &echo::echo::Guest,
        a_numbers: &mut Vec<i16>,
        mut room_raw: nearcall::OpaqueOut<'_>,
    ) -> echo::echo::Mood {
        const PLACE: &str = "echo::Echo::greet";
        match self.0.round(1, 5) {
            0 => {
                self.0.same((PLACE, 0, "guest"), a_guest, "{name: \"\", age: 2147483647}");
                self.0.same((PLACE, 0, "numbers"), a_numbers, "[32767, 25191]");
                *a_numbers = vec![-1987];
                let bytes: Vec<u8> = vec![46];
                room_raw.put(&bytes).expect("there is room");
                echo::echo::Mood::Glad
            }
            1 => {
                self.0.same((PLACE, 1, "guest"), a_guest, "{name: \"\", age: none}");
                self.0.same((PLACE, 1, "numbers"), a_numbers, "[]");
                *a_numbers = vec![];
                let bytes: Vec<u8> = vec![];
                room_raw.put(&bytes).expect("there is room");
                echo::echo::Mood::Sad
            }
            2 => {
                self.0.same(
                    (PLACE, 2, "guest"),
                    a_guest,
                    "{name: \"\\22\\c3\\a9\\f0\\9f\\98\\80\\22\", age: 0}",
                );
                self.0.same((PLACE, 2, "numbers"), a_numbers, "[32767, -29181, 0]");
                *a_numbers = vec![-32768, -32768, -27451];
                let bytes: Vec<u8> = repeated(&[188, 0, 129, 0, 21, 255, 0], 150);
                room_raw.put(&bytes).expect("there is room");
                echo::echo::Mood::Glad
            }
            3 => {
                self.0.same((PLACE, 3, "guest"), a_guest, "{name: \"\\22?a%?{\", age: 41519233}");
                self.0.same((PLACE, 3, "numbers"), a_numbers, "[22369, 12405, -4681]");
                *a_numbers = vec![-27801, 18964, 0];
                let bytes: Vec<u8> = repeated(&[0, 166, 46, 208, 0, 0, 44], 3000);
                room_raw.put(&bytes).expect("there is room");
                echo::echo::Mood::Sad
            }
            _ => {
                self.0.same((PLACE, 4, "guest"), a_guest, "{name: \"xxxxxxxx\", age: -2147483648}");
                self.0.same((PLACE, 4, "numbers"), a_numbers, "[27558, 32767, 8526]");
                *a_numbers = vec![-32768, -6380, -32768];
                let bytes: Vec<u8> = vec![0, 233, 184];
                room_raw.put(&bytes).expect("there is room");
                echo::echo::Mood::Sad
            }
        }
    }
}
