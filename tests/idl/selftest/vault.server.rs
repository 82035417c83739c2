//! The server of a self-test of `vault`, seed 1: `vault_selftest_server NAME`, the same name
//! on both sides. To build: a package that depends on `nearcall` and on `rustix`, with its `fs`, and has this file
//! as the path of a `[[bin]]`, with those that it names beside it.
#[path = "vault.rs"]
mod vault;
#[allow(dead_code)]
#[path = "vault_selftest.rs"]
mod vault_selftest;
use vault_selftest::*;
use std::sync::Arc;
/// Exports everything until standard input ends.
pub fn main() {
    let name = std::env::args().next_back().unwrap_or_default();
    let domain = nearcall::Domain::new().expect("this is a domain");
    let check = Arc::new(Check::new("server", 3));
    let clerks = [
        nearcall::Clerk::export(
            &domain,
            &format!("{name}-0"),
            vault::vault::VaultEntries::new(Server0(Arc::clone(&check))),
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
impl vault::vault::VaultServer for Server0 {
    fn swap(
        &self,
        a_link: std::os::fd::OwnedFd,
        a_text: &str,
    ) -> Result<(std::os::fd::OwnedFd, std::os::fd::OwnedFd), vault::vault::VaultSwapException> {
        const PLACE: &str = "vault::Vault::swap";
        match self.0.round(0, 6) {
            0 => {
                self.0.same((PLACE, 0, "link"), &a_link, "\"?\"");
                self.0.same((PLACE, 0, "text"), a_text, "\"%\"");
                Ok((
                    opened(nearcall::raw::DescriptorKind::File, " a"),
                    opened(nearcall::raw::DescriptorKind::Segment, "Z"),
                ))
            }
            1 => {
                self.0.same((PLACE, 1, "link"), &a_link, "\"\"");
                self.0.same((PLACE, 1, "text"), a_text, "\"\"");
                Ok((
                    opened(nearcall::raw::DescriptorKind::File, ""),
                    opened(nearcall::raw::DescriptorKind::Segment, ""),
                ))
            }
            2 => {
                self.0.same(
                    (PLACE, 2, "link"),
                    &a_link,
                    "\"\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\"",
                );
                self.0.same(
                    (PLACE, 2, "text"),
                    a_text,
                    "\" {\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9 {\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9 {\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9... 365 bytes, hash 60d400c90677f5ca",
                );
                Ok((
                    opened(
                        nearcall::raw::DescriptorKind::File,
                        "\" \n\nZ€a\" \n\nZ€a\" \n\nZ€a\" \n\nZ€a\" \n\nZ€a\" \n\nZ€a\" \n\nZ€a",
                    ),
                    opened(
                        nearcall::raw::DescriptorKind::Segment,
                        "%??\"€%Z%??\"€%Z%??\"€%Z%??\"€%Z%??\"€%Z%??\"€%Z%??\"€%Z",
                    ),
                ))
            }
            3 => {
                self.0.same(
                    (PLACE, 3, "link"),
                    &a_link,
                    "\"?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ\"",
                );
                self.0.same(
                    (PLACE, 3, "text"),
                    a_text,
                    "\"\\22\\e2\\82\\aca{  ?\\22\\e2\\82\\aca{  ?\\22\\e2\\82\\aca{  ?\\22\\e2\\82\\aca{  ?\\22\\e2\\82\\aca{  ?\\22\\e2\\82\\aca{... 5663 bytes, hash 8b0b6ba22d18f951",
                );
                Ok((
                    opened(
                        nearcall::raw::DescriptorKind::File,
                        "{?😀%€\" {?😀%€\" {?😀%€\" {?😀%€\" {?😀%€\" ",
                    ),
                    opened(
                        nearcall::raw::DescriptorKind::Segment,
                        "\"%%😀é%Z\"%%😀é%Z\"%%😀é%Z\"%%😀é%Z\"%%😀é%Z",
                    ),
                ))
            }
            4 => {
                self.0.same(
                    (PLACE, 4, "link"),
                    &a_link,
                    "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
                );
                self.0.same((PLACE, 4, "text"), a_text, "\"\"");
                Ok((
                    opened(
                        nearcall::raw::DescriptorKind::File,
                        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                    ),
                    opened(
                        nearcall::raw::DescriptorKind::Segment,
                        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                    ),
                ))
            }
            _ => {
                self.0.same((PLACE, 5, "link"), &a_link, "\"\"");
                self.0.same((PLACE, 5, "text"), a_text, "\"\\c3\\a9\"");
                Err(vault::vault::VaultSwapException::Busy(vault::vault::Busy { holder: 0 }))
            }
        }
    }
    fn find(&self, a_log: Option<std::os::fd::OwnedFd>) -> (
        Option<std::os::fd::OwnedFd>,
        Option<std::os::fd::OwnedFd>,
    ) {
        const PLACE: &str = "vault::Vault::find";
        match self.0.round(1, 5) {
            0 => {
                self.0.same((PLACE, 0, "log"), &a_log, "\"\"");
                (Some(opened(nearcall::raw::DescriptorKind::File, "Z")), None)
            }
            1 => {
                self.0.same((PLACE, 1, "log"), &a_log, "none");
                (None, None)
            }
            2 => {
                self.0.same((PLACE, 2, "log"), &a_log, "none");
                (
                    None,
                    Some(opened(
                        nearcall::raw::DescriptorKind::Segment,
                        "?%😀%\"\\ ?%😀%\"\\ ?%😀%\"\\ ?%😀%\"\\ ?%😀%\"\\ ?%😀%\"\\ ",
                    )),
                )
            }
            3 => {
                self.0.same(
                    (PLACE, 3, "log"),
                    &a_log,
                    "\" %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80\"",
                );
                (
                    Some(opened(
                        nearcall::raw::DescriptorKind::File,
                        "\"€  \"{\\\"€  \"{\\\"€  \"{\\\"€  \"{\\\"€  \"{\\\"€  \"{\\\"€  \"{\\",
                    )),
                    None,
                )
            }
            _ => {
                self.0.same(
                    (PLACE, 4, "log"),
                    &a_log,
                    "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
                );
                (
                    Some(opened(
                        nearcall::raw::DescriptorKind::File,
                        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                    )),
                    Some(opened(
                        nearcall::raw::DescriptorKind::Segment,
                        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                    )),
                )
            }
        }
    }
    fn leave(&self, a_given: std::os::fd::OwnedFd) {
        const PLACE: &str = "vault::Vault::leave";
        self.0.round(2, 1);
        self.0.same((PLACE, 0, "given"), &a_given, "\"\\c3\\a9\"");
    }
}
