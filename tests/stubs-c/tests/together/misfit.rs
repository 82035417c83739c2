//! What a server in C++ returns, raises or feeds, and C does not hold, is refused by its name on
//! the server's standard error.

use crate::support::{Workshop, domain, lacking, ways};

/// What is said of each call, in their order.
const SAID: [&str; 7] = [
    "Misfit::returned returned what cannot be sent: returned: text has a NUL at byte 1",
    "Misfit::beside returned what cannot be sent: cut: text has a NUL at byte 1",
    "Misfit::changed returned what cannot be sent: text: text has a NUL at byte 1",
    "Misfit::chosen returned what cannot be sent: returned: the discriminator of misfit::Either \
     is 1, which selects alternative 1, and it holds alternative 2",
    "Misfit::raised returned what cannot be sent: misfit::Refused: text has a NUL at byte 1",
    "Misfit::lines returned what cannot be sent: item: text has a NUL at byte 1",
    "Misfit::joined returned what cannot be sent: returned: text has a NUL at byte 1",
];

#[test]
fn what_does_not_fit_c_is_refused_by_its_name() {
    let ways = ways();
    if ways.is_empty() {
        return lacking("a compiler of C++");
    }
    for (compiler, flags) in &ways {
        let workshop = Workshop::of("cpp", "misfit.idl");
        let program = workshop.program(compiler, "misfit_cpp", flags);
        let output = domain(&program, workshop.path()).output().expect("it starts");
        let said = String::from_utf8(output.stderr).expect("it is text");
        assert!(output.status.success(), "{said}");
        assert_eq!(output.stdout, b"done\n");
        let lines: Vec<&str> = said.lines().collect();
        let want: Vec<String> =
            SAID.iter().chain(&SAID).map(|said| format!("nearcall: misfit::{said}")).collect();
        assert_eq!(lines, want);
    }
    println!("{} programs", ways.len());
}
