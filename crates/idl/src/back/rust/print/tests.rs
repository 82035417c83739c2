//! Items as they are written, and as they are printed.

use super::*;
use std::path::Path;

fn check(text: &str, want: &str) {
    assert_eq!(print(&TokenStream::of_text(text), Unused::Warned), want);
}

#[test]
fn what_fits_is_on_one_line() {
    check(
        "use a::b;pub fn f(&self,a:&'a mut[u8;4],)->Vec<Vec<u8>>{g::<3>(-1,!a[0]&&*b)?.c}",
        "use a::b;\n\
         pub fn f(&self, a: &'a mut [u8; 4]) -> Vec<Vec<u8>> {\n    \
         g::<3>(-1, !a[0] && *b)?.c\n}\n",
    );
    check("struct A;struct B(u8,);", "struct A;\nstruct B(u8);\n");
    check("fn f(){let(a,)=(1,);}", "fn f() {\n    let (a,) = (1,);\n}\n");
    check("fn f(){}impl<T>::a::B for C<T>{}", "fn f() {}\nimpl<T> ::a::B for C<T> {}\n");
}

#[test]
fn blocks_arms_and_fields_have_lines_of_their_own() {
    check(
        "fn f(){if a{b}else{c}match d{-1|2=>{e;}_=>A{x:1,..b},}x}",
        "fn f() {\n    if a {\n        b\n    } else {\n        c\n    }\n    \
         match d {\n        -1 | 2 => {\n            e;\n        }\n        \
         _ => A { x: 1, ..b },\n    }\n    x\n}\n",
    );
    check("enum E{#[default]A=0,B(u8)}", "enum E {\n    #[default]\n    A = 0,\n    B(u8),\n}\n");
}

#[test]
fn long_lists_are_broken_from_outside() {
    let long = "a".repeat(30);
    check(
        &format!("fn f({long}:u8,b:{long})->Result<{long}>{{}}"),
        &format!("fn f(\n    {long}: u8,\n    b: {long},\n) -> Result<{long}> {{}}\n"),
    );
    check(
        &format!("fn f(){{Ok(A{{{long},b:{long},c:{long}}})}}"),
        &format!(
            "fn f() {{\n    Ok(A {{\n        {long},\n        b: {long},\n        \
             c: {long},\n    }})\n}}\n"
        ),
    );
}

#[test]
fn what_does_not_fit_behind_an_equals_sign_goes_below() {
    let long = "a".repeat(40);
    check(
        &format!("fn f(){{let {long}={long}({long});}}"),
        &format!("fn f() {{\n    let {long} =\n        {long}({long});\n}}\n"),
    );
    let long = "a".repeat(45);
    check(
        &format!("fn f(){{let a={long}().b({long}).c();}}"),
        &format!("fn f() {{\n    let a = {long}()\n        .b({long})\n        .c();\n}}\n"),
    );
}

#[test]
fn a_closure_that_comes_last_begins_on_the_line() {
    check(
        "fn f(){g(a,|b:C<'_>|->D<'_>{b});}",
        "fn f() {\n    g(a, |b: C<'_>| -> D<'_> {\n        b\n    });\n}\n",
    );
}

#[test]
fn what_a_program_may_leave_unused_is_allowed_to_be() {
    let items = TokenStream::of_text("#[a]pub struct A;impl A{}impl B for A{}");
    let want = "#[a]\n#[allow(dead_code)]\npub struct A;\n#[allow(dead_code)]\nimpl A {}\n\
                impl B for A {}\n";
    assert_eq!(print(&items, Unused::Allowed), want);
}

/// No token is lost, and none grows together with another.
#[test]
fn what_was_printed_is_printed_the_same_again() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/idl/rust");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let (_, items) = text.split_once('\n').unwrap();
            let again = print(&TokenStream::of_text(items), Unused::Warned);
            assert!(again == items, "{}", path.display());
            files += 1;
        }
    }
    println!("{files} files");
    assert!(files >= 4, "only {files} files");
}
