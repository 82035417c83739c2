//! The server of a self-test of `drip`, seed 1: `drip_selftest_server NAME`, the same name
//! on both sides. To build: a package that depends on `nearcall` and has this file
//! as the path of a `[[bin]]`, with those that it names beside it.
#[path = "drip.rs"]
mod drip;
#[allow(dead_code)]
#[path = "drip_selftest.rs"]
mod drip_selftest;
use drip_selftest::*;
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
            drip::drip::DripEntries::new(Server0(Arc::clone(&check))),
        )
            .unwrap_or_else(|error| panic!("{error}")),
    ];
    println!("ready");
    rest();
    check.wait(14);
    drop(clerks);
    domain.shut_down();
    check.end(14);
}
struct Server0(Arc<Check>);
impl drip::drip::DripServer for Server0 {
    fn out_of(
        &self,
        a_tap: &str,
    ) -> Result<
        nearcall::Items<Result<drip::drip::Drop, drip::drip::DripOutOfException>>,
        drip::drip::DripOutOfException,
    > {
        const PLACE: &str = "drip::Drip::out_of";
        match self.0.round(0, 7) {
            0 => {
                self.0.same((PLACE, 0, "tap"), a_tap, "\"?\"");
                let items: Vec<drip::drip::Drop> = vec![drip::drip::Drop {
                    size: 254,
                    colour: String::from("\\"),
                }, drip::drip::Drop { size: 172, colour: String::from("Z") }, drip::drip::Drop {
                    size: 12,
                    colour: String::new(),
                }];
                let made: nearcall::Items<
                    Result<drip::drip::Drop, drip::drip::DripOutOfException>,
                > = Box::new(items.into_iter().map(Ok));
                Ok(made)
            }
            1 => {
                self.0.same((PLACE, 1, "tap"), a_tap, "\"\"");
                let items: Vec<drip::drip::Drop> = vec![];
                let made: nearcall::Items<
                    Result<drip::drip::Drop, drip::drip::DripOutOfException>,
                > = Box::new(items.into_iter().map(Ok));
                Ok(made)
            }
            2 => {
                self.0.same(
                    (PLACE, 2, "tap"),
                    a_tap,
                    "\"\\f0\\9f\\98\\80{\\22%\\e2\\82\\ac a\\f0\\9f\\98\\80{\\22%\\e2\\82\\ac a\\f0\\9f\\98\\80{\\22%\\e2\\82\\ac a\\f0\\9f\\98\\80{\\2... 338 bytes, hash 6146c800f2968edd",
                );
                let items: Vec<drip::drip::Drop> = repeated(
                    &[
                        drip::drip::Drop { size: 0, colour: String::new() },
                        drip::drip::Drop { size: 14, colour: String::from("Z\n") },
                        drip::drip::Drop { size: 121, colour: String::new() },
                    ],
                    31,
                );
                let made: nearcall::Items<
                    Result<drip::drip::Drop, drip::drip::DripOutOfException>,
                > = Box::new(items.into_iter().map(Ok));
                Ok(made)
            }
            3 => {
                self.0.same(
                    (PLACE, 3, "tap"),
                    a_tap,
                    "\"%?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\ac%?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\ac%?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\ac... 7592 bytes, hash ab9d48ce18ece797",
                );
                let items: Vec<drip::drip::Drop> = repeated(
                    &[
                        drip::drip::Drop { size: 111, colour: String::new() },
                        drip::drip::Drop { size: 0, colour: String::new() },
                        drip::drip::Drop { size: 255, colour: String::from(" ") },
                    ],
                    63,
                );
                let made: nearcall::Items<
                    Result<drip::drip::Drop, drip::drip::DripOutOfException>,
                > = Box::new(items.into_iter().map(Ok));
                Ok(made)
            }
            4 => {
                self.0.same((PLACE, 4, "tap"), a_tap, "\"\"");
                let items: Vec<drip::drip::Drop> = repeated(
                    &[
                        drip::drip::Drop { size: 4, colour: String::from("\n") },
                        drip::drip::Drop { size: 0, colour: String::new() },
                        drip::drip::Drop { size: 156, colour: String::from("?") },
                    ],
                    32,
                );
                let made: nearcall::Items<
                    Result<drip::drip::Drop, drip::drip::DripOutOfException>,
                > = Box::new(items.into_iter().map(Ok));
                Ok(made)
            }
            5 => {
                self.0.same((PLACE, 5, "tap"), a_tap, "\"\\0a\"");
                Err(drip::drip::DripOutOfException::Dry(drip::drip::Dry { left: 0 }))
            }
            _ => {
                self.0.same((PLACE, 6, "tap"), a_tap, "\"\\5c%\"");
                let items: Vec<drip::drip::Drop> = repeated(
                    &[
                        drip::drip::Drop { size: 224, colour: String::from("{\\") },
                        drip::drip::Drop { size: 216, colour: String::from("Z") },
                        drip::drip::Drop { size: 255, colour: String::from("\n") },
                    ],
                    32,
                );
                let made: nearcall::Items<
                    Result<drip::drip::Drop, drip::drip::DripOutOfException>,
                > = Box::new(
                    items
                        .into_iter()
                        .map(Ok)
                        .chain(
                            [Err(drip::drip::DripOutOfException::Dry(drip::drip::Dry {
                                left: -2147483648,
                            }))],
                        ),
                );
                Ok(made)
            }
        }
    }
    fn into(
        &self,
        a_tap: &str,
    ) -> Result<
        nearcall::Taker<drip::drip::Drop, u32, drip::drip::DripIntoException>,
        drip::drip::DripIntoException,
    > {
        const PLACE: &str = "drip::Drip::into";
        match self.0.round(1, 7) {
            0 => {
                self.0.same((PLACE, 0, "tap"), a_tap, "\"?\"");
                let check = Arc::clone(&self.0);
                let made: nearcall::Taker<
                    drip::drip::Drop,
                    u32,
                    drip::drip::DripIntoException,
                > = Box::new(Collected::new(move |items: Vec<drip::drip::Drop>| {
                    check.same(
                        (PLACE, 0, "items"),
                        &items,
                        "[{size: 255, colour: \"Z\"}, {size: 46, colour: \"\"}, {size: 0, colour: \"\"}]",
                    );
                    Ok(3723484662)
                }));
                Ok(made)
            }
            1 => {
                self.0.same((PLACE, 1, "tap"), a_tap, "\"\"");
                let check = Arc::clone(&self.0);
                let made: nearcall::Taker<
                    drip::drip::Drop,
                    u32,
                    drip::drip::DripIntoException,
                > = Box::new(Collected::new(move |items: Vec<drip::drip::Drop>| {
                    check.same((PLACE, 1, "items"), &items, "[]");
                    Ok(0)
                }));
                Ok(made)
            }
            2 => {
                self.0.same(
                    (PLACE, 2, "tap"),
                    a_tap,
                    "\"\\22\\0a\\f0\\9f\\98\\80\\e2\\82\\ac%%\\c3\\a9\\22\\0a\\f0\\9f\\98\\80\\e2\\82\\ac%%\\c3\\a9\\22\\0a\\f0\\9f\\98\\80\\e2\\82\\ac%%... 387 bytes, hash d83b04df5051abef",
                );
                let check = Arc::clone(&self.0);
                let made: nearcall::Taker<
                    drip::drip::Drop,
                    u32,
                    drip::drip::DripIntoException,
                > = Box::new(Collected::new(move |items: Vec<drip::drip::Drop>| {
                    check.same(
                        (PLACE, 2, "items"),
                        &items,
                        "[{size: 0, colour: \"\"}, {size: 0, colour: \"\\0a\"}, {size: 183, colour: \"\\0a\\22\"}, {size: 0, colour: \"... 823 bytes, hash b57c0017388bb628",
                    );
                    Ok(2026696102)
                }));
                Ok(made)
            }
            3 => {
                self.0.same(
                    (PLACE, 3, "tap"),
                    a_tap,
                    "\"\\e2\\82\\ac\\c3\\a9%a%\\f0\\9f\\98\\80a\\e2\\82\\ac\\c3\\a9%a%\\f0\\9f\\98\\80a\\e2\\82\\ac\\c3\\a9%a%\\f0\\9f\\98\\80a\\e2\\82... 7132 bytes, hash b6045f56c2ff152f",
                );
                let check = Arc::clone(&self.0);
                let made: nearcall::Taker<
                    drip::drip::Drop,
                    u32,
                    drip::drip::DripIntoException,
                > = Box::new(Collected::new(move |items: Vec<drip::drip::Drop>| {
                    check.same(
                        (PLACE, 3, "items"),
                        &items,
                        "[{size: 0, colour: \"{\"}, {size: 255, colour: \"\\22?\"}, {size: 233, colour: \"\"}, {size: 0, colour: \"{\"... 1638 bytes, hash 0d8538ca8e83b664",
                    );
                    Ok(619051670)
                }));
                Ok(made)
            }
            4 => {
                self.0.same((PLACE, 4, "tap"), a_tap, "\"{\"");
                let check = Arc::clone(&self.0);
                let made: nearcall::Taker<
                    drip::drip::Drop,
                    u32,
                    drip::drip::DripIntoException,
                > = Box::new(Collected::new(move |items: Vec<drip::drip::Drop>| {
                    check.same(
                        (PLACE, 4, "items"),
                        &items,
                        "[{size: 255, colour: \"\\22\"}, {size: 0, colour: \"\"}, {size: 152, colour: \"?\\5c\"}, {size: 255, colour:... 851 bytes, hash 3dc3f59e399ba183",
                    );
                    Ok(916027678)
                }));
                Ok(made)
            }
            5 => {
                self.0.same((PLACE, 5, "tap"), a_tap, "\" {\"");
                Err(drip::drip::DripIntoException::Dry(drip::drip::Dry { left: -2147483648 }))
            }
            _ => {
                self.0.same((PLACE, 6, "tap"), a_tap, "\"{%\"");
                let check = Arc::clone(&self.0);
                let made: nearcall::Taker<
                    drip::drip::Drop,
                    u32,
                    drip::drip::DripIntoException,
                > = Box::new(Collected::new(move |items: Vec<drip::drip::Drop>| {
                    check.same(
                        (PLACE, 6, "items"),
                        &items,
                        "[{size: 61, colour: \"a%\"}, {size: 0, colour: \" {\"}, {size: 132, colour: \"\"}, {size: 61, colour: \"a%\"... 811 bytes, hash 2e71c52dde7c18ed",
                    );
                    Err(drip::drip::DripIntoException::Dry(drip::drip::Dry { left: 718462058 }))
                }));
                Ok(made)
            }
        }
    }
}
