//! What macros become. The examples that are hard are those of the C standard.

use expect_test::expect;

use super::*;

#[test]
fn a_macro_may_be_the_name_of_a_type() {
    check(
        "#define DOMAINID_TYPE_NATIVE long\ntypedef DOMAINID_TYPE_NATIVE Id;",
        expect!["typedef long Id ; [end]"],
    );
}

#[test]
fn a_macro_may_be_whole_operations() {
    let define = "#define OP(T, name) T get_ ## name(); \\\n  void set_##name(in T value);\n";
    check(
        &format!("{define}OP(long, size)"),
        expect!["long get_size ( ) ; void set_size ( in long value ) ; [end]"],
    );
}

#[test]
fn a_name_without_parentheses_is_left() {
    check("#define F(x) <x>\nF F(1) F\n(2) (F)(3)", expect!["F < 1 > < 2 > ( F ) ( 3 ) [end]"]);
}

#[test]
fn a_blank_before_parentheses_makes_no_parameters() {
    check("#define F (x)\nF(1)", expect!["( x ) ( 1 ) [end]"]);
}

#[test]
fn arguments_hold_parentheses_and_commas_within() {
    check(
        "#define F(a, b) [a|b]\nF((1, 2), 3) F(, ) F(f(1, 2), (\n3\n))",
        expect!["[ ( 1 , 2 ) | 3 ] [ | ] [ f ( 1 , 2 ) | ( 3 ) ] [end]"],
    );
}

#[test]
fn recursion_ends() {
    check("#define A B\n#define B A x\nA B", expect!["A x B x [end]"]);
    check("#define f(x) x + f(x)\nf(1)", expect!["1 + f ( 1 ) [end]"]);
    check("#define f(x) x + f(x)\nf(f(2))", expect!["2 + f ( 2 ) + f ( 2 + f ( 2 ) ) [end]"]);
    check(
        "#define NIL(x) x\n#define G0(a) NIL(G1)(a)\n#define G1(a) NIL(a)\nG0(42)",
        expect!["42 [end]"],
    );
}

#[test]
fn rescanning_is_as_the_c_standard_has_it() {
    let check = |text: &str, want: Expect| {
        let defines = "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n\
            #define z z[0]\n#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n\
            #define p() int\n#define q(x) x\n#define r(x,y) x ## y\n#define str(x) # x\n";
        check(&format!("{defines}{text}"), want);
    };
    check(
        "f(y+1) + f(f(z))",
        expect!["f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) [end]"],
    );
    check("% t(t(g)(0) + t)(1);", expect!["% f ( 2 * ( 0 ) ) + t ( 1 ) ; [end]"]);
    check(
        "g(x+(3,4)-w) | h 5)",
        expect!["f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) [end]"],
    );
    check("& m\n(f)^m(m);", expect!["& f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ; [end]"]);
    check(
        "p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };",
        expect!["int i [ ] = { 1 , 23 , 4 , 5 , } ; [end]"],
    );
    check(
        "char c[2][6] = { str(hello), str() };",
        expect![[r#"char c [ 2 ] [ 6 ] = { "hello" , "" } ; [end]"#]],
    );
}

#[test]
fn pasting_is_as_the_c_standard_has_it() {
    let text = "#define t(x,y,z) x ## y ## z\nr = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,),\n\
        t(10,,), t(,11,), t(,,12), t(,,) };";
    check(text, expect!["r = { 123 , 45 , 67 , 89 , 10 , 11 , 12 , } ; [end]"]);
    let text = "#define hash_hash(a, b) a ## b\n#define xglue(a, b) glue(a, b)\n\
        #define glue(a, b) a ## b\n#define HIGHLOW \"hello\"\n#define LOW LOW \", world\"\n\
        glue(HIGH, LOW); xglue(HIGH, LOW) hash_hash(<, <)";
    check(text, expect![[r#""hello" ; "hello" ", world" << [end]"#]]);
}

#[test]
fn a_string_is_made_of_an_argument_as_it_is_written() {
    check(
        "#define S(x) #x\n#define A 1\nS( A  +\n b ) S(\"q\\n\" '\"') S() S(L\"w\")",
        expect![[r#""A + b" "\"q\\n\" '\"'" "" "L\"w\"" [end]"#]],
    );
    check(
        "#define S(x) #x\n#define X(x) S(x)\n#define A 1 + 2\nX(A)",
        expect![[r#""1 + 2" [end]"#]],
    );
}

#[test]
fn a_variadic_macro_takes_the_rest() {
    check(
        "#define F(a, ...) a: __VA_ARGS__;\nF(1, 2, 3) F(1) F(1,)",
        expect!["1 : 2 , 3 ; 1 : ; 1 : ; [end]"],
    );
    check("#define F(...) #__VA_ARGS__\nF() F(a, b,c)", expect![[r#""" "a, b,c" [end]"#]]);
    check(
        "#define F(a, ...) f(a, ## __VA_ARGS__)\nF(1) F(1, 2)",
        expect!["f ( 1 ) f ( 1 , 2 ) [end]"],
    );
}

#[test]
fn undef_ends_a_macro() {
    check("#define A 1\nA\n#undef A\nA\n#undef never\n#define A 2\nA", expect!["1 A 2 [end]"]);
}

#[test]
fn the_same_definition_may_stand_twice() {
    check("#define F(a)  a /* x */ + 1\n#define F(a) a +   1\nF(0)", expect!["0 + 1 [end]"]);
}

#[test]
fn directives_may_stand_among_arguments() {
    check("#define F(a, b) a-b\nF(1,\n#ifdef X\n2\n#else\n3\n#endif\n)", expect!["1 - 3 [end]"]);
}

#[test]
fn line_and_file_are_known() {
    check(
        "\n__LINE__ __FILE__\n#line 9 \"b.idl\"\n__LINE__ __FILE__",
        expect![[r#"2 "a.idl" 9 "b.idl" [end]"#]],
    );
}

#[test]
fn a_made_token_stands_where_its_macro_was_used() {
    let outcome = read_text("#define F(T) sequence<T>\nF(long) x;");
    let texts: Vec<&str> =
        outcome.tokens.iter().map(|token| outcome.sources.text(token.span)).collect();
    assert_eq!(texts, ["F", "F", "long", "F", "x", ";", ""]);
}

#[test]
fn documentation_passes_through_a_macro() {
    let outcome = read_text("#define F(T) T x;\n/// of x\nF(long)");
    assert_eq!(outcome.tokens[0].doc.as_deref(), Some("of x"));
}

#[test]
fn an_error_in_a_macro_is_shown_where_it_is_used() {
    let outcome = read_text("#define BAD 1x\n\nlong BAD;\n");
    let line = outcome.sources.place(outcome.findings[0].span).line;
    assert_eq!(line, 3);
}
