//! The client of a self-test of `vault`, seed 1: `vault_selftest_client NAME`, the same name
//! on both sides. To build: a package that depends on `nearcall` and on `rustix`, with its `fs`, and has this file
//! as the path of a `[[bin]]`, with those that it names beside it.
#[path = "vault.rs"]
mod vault;
#[allow(dead_code)]
#[path = "vault_selftest.rs"]
mod vault_selftest;
use vault_selftest::*;
/// Calls everything, and ends the program: well only if all is as it should be.
pub fn main() {
    let name = std::env::args().next_back().unwrap_or_default();
    let domain = nearcall::Domain::new().expect("this is a domain");
    let check = Check::new("client", 3);
    let client = vault::vault::VaultClient::import(&domain, &format!("{name}-0"))
        .unwrap_or_else(|error| panic!("{error}"));
    call_0(&client, &check);
    call_1(&client, &check);
    call_2(&client, &check);
    check.end(12);
}
/// `vault::Vault::swap`
fn call_0(client: &vault::vault::VaultClient, check: &Check) {
    const PLACE: &str = "vault::Vault::swap";
    {
        let a_link: std::os::fd::OwnedFd = opened(nearcall::raw::DescriptorKind::Socket, "?");
        let a_text: String = String::from("%");
        check.round(0, 6);
        match client.swap(std::os::fd::AsFd::as_fd(&a_link), &a_text) {
            Ok((returned, a_kept)) => {
                check.same((PLACE, 0, "returned"), &returned, "\" a\"");
                check.same((PLACE, 0, "kept"), &a_kept, "\"Z\"");
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
        let a_link: std::os::fd::OwnedFd = opened(nearcall::raw::DescriptorKind::Socket, "");
        let a_text: String = String::new();
        check.round(0, 6);
        match client.swap(std::os::fd::AsFd::as_fd(&a_link), &a_text) {
            Ok((returned, a_kept)) => {
                check.same((PLACE, 1, "returned"), &returned, "\"\"");
                check.same((PLACE, 1, "kept"), &a_kept, "\"\"");
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
        let a_link: std::os::fd::OwnedFd = opened(
            nearcall::raw::DescriptorKind::Socket,
            "\"😀Z😀\n\"Z\"😀Z😀\n\"Z\"😀Z😀\n\"Z\"😀Z😀\n\"Z",
        );
        let a_text: String = " {😀€Z\né".repeat(11);
        check.round(0, 6);
        match client.swap(std::os::fd::AsFd::as_fd(&a_link), &a_text) {
            Ok((returned, a_kept)) => {
                check.same(
                    (PLACE, 2, "returned"),
                    &returned,
                    "\"\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\"",
                );
                check.same(
                    (PLACE, 2, "kept"),
                    &a_kept,
                    "\"%??\\22\\e2\\82\\ac%Z%??\\22\\e2\\82\\ac%Z%??\\22\\e2\\82\\ac%Z%??\\22\\e2\\82\\ac%Z%??\\22\\e2\\82\\ac%Z%??\\22\\e2\\82\\ac%Z%??\\22\\e2\\82\\ac%Z\"",
                );
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
        let a_link: std::os::fd::OwnedFd = opened(
            nearcall::raw::DescriptorKind::Socket,
            "?\né{😀€Z?\né{😀€Z?\né{😀€Z?\né{😀€Z",
        );
        let a_text: String = "\"€a{  ?".repeat(333);
        check.round(0, 6);
        match client.swap(std::os::fd::AsFd::as_fd(&a_link), &a_text) {
            Ok((returned, a_kept)) => {
                check.same(
                    (PLACE, 3, "returned"),
                    &returned,
                    "\"{?\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {?\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {?\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {?\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {?\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 \"",
                );
                check.same(
                    (PLACE, 3, "kept"),
                    &a_kept,
                    "\"\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\"",
                );
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
        let a_link: std::os::fd::OwnedFd = opened(
            nearcall::raw::DescriptorKind::Socket,
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        );
        let a_text: String = String::new();
        check.round(0, 6);
        match client.swap(std::os::fd::AsFd::as_fd(&a_link), &a_text) {
            Ok((returned, a_kept)) => {
                check.same(
                    (PLACE, 4, "returned"),
                    &returned,
                    "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
                );
                check.same(
                    (PLACE, 4, "kept"),
                    &a_kept,
                    "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
                );
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
        let a_link: std::os::fd::OwnedFd = opened(nearcall::raw::DescriptorKind::Socket, "");
        let a_text: String = String::from("é");
        check.round(0, 6);
        match client.swap(std::os::fd::AsFd::as_fd(&a_link), &a_text) {
            Ok(_) => check.differs(
                (PLACE, 5, "outcome"),
                "returned",
                "raised vault::Busy {holder: 0}",
            ),
            Err(nearcall::Error::Exception(raised)) => check.same(
                (PLACE, 5, "outcome"),
                &raised,
                "raised vault::Busy {holder: 0}",
            ),
            Err(nearcall::Error::Call(error)) => check.differs(
                (PLACE, 5, "outcome"),
                error,
                "raised vault::Busy {holder: 0}",
            ),
        }
    }
}
/// `vault::Vault::find`
fn call_1(client: &vault::vault::VaultClient, check: &Check) {
    const PLACE: &str = "vault::Vault::find";
    {
        let a_log: Option<std::os::fd::OwnedFd> =
            Some(opened(nearcall::raw::DescriptorKind::Any, ""));
        check.round(1, 5);
        match client.find(a_log.as_ref().map(std::os::fd::AsFd::as_fd)) {
            Ok((returned, a_kept)) => {
                check.same((PLACE, 0, "returned"), &returned, "\"Z\"");
                check.same((PLACE, 0, "kept"), &a_kept, "none");
            }
            Err(error) => check.differs((PLACE, 0, "outcome"), error, "returned"),
        }
    }
    {
        let a_log: Option<std::os::fd::OwnedFd> = None;
        check.round(1, 5);
        match client.find(a_log.as_ref().map(std::os::fd::AsFd::as_fd)) {
            Ok((returned, a_kept)) => {
                check.same((PLACE, 1, "returned"), &returned, "none");
                check.same((PLACE, 1, "kept"), &a_kept, "none");
            }
            Err(error) => check.differs((PLACE, 1, "outcome"), error, "returned"),
        }
    }
    {
        let a_log: Option<std::os::fd::OwnedFd> = None;
        check.round(1, 5);
        match client.find(a_log.as_ref().map(std::os::fd::AsFd::as_fd)) {
            Ok((returned, a_kept)) => {
                check.same((PLACE, 2, "returned"), &returned, "none");
                check.same(
                    (PLACE, 2, "kept"),
                    &a_kept,
                    "\"?%\\f0\\9f\\98\\80%\\22\\5c ?%\\f0\\9f\\98\\80%\\22\\5c ?%\\f0\\9f\\98\\80%\\22\\5c ?%\\f0\\9f\\98\\80%\\22\\5c ?%\\f0\\9f\\98\\80%\\22\\5c ?%\\f0\\9f\\98\\80%\\22\\5c \"",
                );
            }
            Err(error) => check.differs((PLACE, 2, "outcome"), error, "returned"),
        }
    }
    {
        let a_log: Option<std::os::fd::OwnedFd> = Some(opened(
            nearcall::raw::DescriptorKind::Any,
            " %a\n\"é😀 %a\n\"é😀 %a\n\"é😀 %a\n\"é😀 %a\n\"é😀",
        ));
        check.round(1, 5);
        match client.find(a_log.as_ref().map(std::os::fd::AsFd::as_fd)) {
            Ok((returned, a_kept)) => {
                check.same(
                    (PLACE, 3, "returned"),
                    &returned,
                    "\"\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\"",
                );
                check.same((PLACE, 3, "kept"), &a_kept, "none");
            }
            Err(error) => check.differs((PLACE, 3, "outcome"), error, "returned"),
        }
    }
    {
        let a_log: Option<std::os::fd::OwnedFd> = Some(opened(
            nearcall::raw::DescriptorKind::Any,
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ));
        check.round(1, 5);
        match client.find(a_log.as_ref().map(std::os::fd::AsFd::as_fd)) {
            Ok((returned, a_kept)) => {
                check.same(
                    (PLACE, 4, "returned"),
                    &returned,
                    "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
                );
                check.same(
                    (PLACE, 4, "kept"),
                    &a_kept,
                    "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
                );
            }
            Err(error) => check.differs((PLACE, 4, "outcome"), error, "returned"),
        }
    }
}
/// `vault::Vault::leave`
fn call_2(client: &vault::vault::VaultClient, check: &Check) {
    const PLACE: &str = "vault::Vault::leave";
    {
        let a_given: std::os::fd::OwnedFd = opened(nearcall::raw::DescriptorKind::Any, "é");
        check.round(2, 1);
        match client.leave(std::os::fd::AsFd::as_fd(&a_given)) {
            Ok(()) => {}
            Err(error) => check.differs((PLACE, 0, "outcome"), error, "returned"),
        }
    }
}
