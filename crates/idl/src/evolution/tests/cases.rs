//! A bad and a good change for each rule.

/// A file, what becomes of it, and what is found.
pub struct Case {
    pub code: &'static str,
    pub old: &'static str,
    /// Breaks the rule.
    pub bad: &'static str,
    /// All that is found then.
    pub want: &'static [&'static str],
    /// Does not.
    pub good: &'static str,
}

const fn case(
    code: &'static str,
    [old, bad, good]: [&'static str; 3],
    want: &'static [&'static str],
) -> Case {
    Case { code, old, bad, want, good }
}

pub const CASES: &[Case] = &[
    case(
        "E0600",
        ["interface I {}; interface J {};", "interface I {};", "interface J {}; interface I {};"],
        &["E0600 interface `J` is gone: old-client client-source server-source: -"],
    ),
    case(
        "E0601",
        [
            "interface I { void a(); void b(); };",
            "interface I { void a(); };",
            "interface I { void a(); void b(); void c(); };",
        ],
        &["E0601 operation `I::b` is gone: old-client client-source server-source: -"],
    ),
    case(
        "E0601",
        [
            "interface I { void a(); void b(); };",
            "interface I { void b(); };",
            "interface I { void a(); void b(); };",
        ],
        &["E0601 operation `I::a` is gone: old-client new-client client-source server-source: \
           I::a"],
    ),
    case(
        "E0601",
        [
            "interface I { void a(); @feed long b(); void c(@feed in long x); };",
            "interface I { void a(); @feed short b(); };",
            "interface I { void a(); @feed long b(); void c(@feed in long x); void d(); };",
        ],
        &[
            "E0601 operation `I::c` is gone: old-client client-source server-source: -",
            "E0611 what `the feed of I::b` returns is `sequence<short, 992>`, was `sequence<long, \
           496>`: old-client new-client client-source server-source: the feed of I::b",
        ],
    ),
    case(
        "E0602",
        [
            "interface I { void a(); void b(in long x); };",
            "interface I { void a(); void c(in long x); };",
            "interface I { void a(); void b(in long x); void c(in long x); };",
        ],
        &["E0602 operation `I::c` was `b`: old-client new-client client-source server-source: \
           I::c"],
    ),
    case(
        "E0603",
        [
            "interface I { void a(); void b(); };",
            "interface I { void a(); void c(in long x); void b(); };",
            "interface I { void a(); void b(); void c(in long x); };",
        ],
        &["E0603 operation `I::c` stands before the end: old-client new-client: I::c"],
    ),
    case(
        "E0603",
        [
            "interface B { void a(); }; interface I : B { void b(); };",
            "interface B { void a(); void c(); }; interface I : B { void b(); };",
            "interface B { void a(); }; interface I : B { void b(); void c(); };",
        ],
        &[
            "N0605 operation `B::c` is new: : -",
            "E0603 operation `I::c` stands before the end: old-client new-client: I::c",
        ],
    ),
    case(
        "E0604",
        [
            "interface I { void a(); void b(); void c(); };",
            "interface I { void c(); void a(); void b(); };",
            "interface I { void a(); void b(); void c(); void d(); };",
        ],
        &["E0604 operation `I::c` is procedure 0, was procedure 2: old-client new-client: I::c"],
    ),
    case(
        "N0605",
        [
            "interface I { void a(); };",
            "interface I { void a(); attribute long b; };",
            "interface I { void a(); }; interface J { void b(); };",
        ],
        &["N0605 operation `I::_get_b` is new: : -", "N0605 operation `I::_set_b` is new: : -"],
    ),
    case(
        "E0606",
        [
            "interface I { void a(in long x); };",
            "interface I { void a(in long x, in long y); };",
            "interface I { void a(in long x); void b(in long x, in long y); };",
        ],
        &["E0606 parameter `y` of `I::a` is new: old-client new-client client-source \
           server-source: I::a"],
    ),
    case(
        "E0606",
        [
            "struct S { long x; long y; }; struct T { long x; }; interface I { void a(in S s); };",
            "struct S { long x; }; struct T { long x; }; interface I { void a(in S s); };",
            "struct S { long x; long y; }; struct T { long x; }; interface I { void a(in S t); };",
        ],
        &["E0606 member `y` of `S` is gone: old-client new-client client-source server-source: \
           I::a"],
    ),
    case(
        "E0606",
        ["struct S { long x; };", "struct S { long x; long y; };", "struct S { long x; };"],
        &["E0606 member `y` of `S` is new: client-source server-source: -"],
    ),
    case(
        "E0607",
        [
            "struct S { long x; }; interface I { void a(in S s); };",
            "struct S { long y; }; interface I { void a(in S s); };",
            "struct S { long x; }; interface I { void a(in S t); };",
        ],
        &["E0607 member `y` of `S` was `x`: old-client new-client client-source server-source: \
           I::a"],
    ),
    case(
        "E0608",
        [
            "interface I { void a(in long x); };",
            "interface I { void a(in long y); };",
            "typedef long L; interface I { void a(in L x); };",
        ],
        &["E0608 parameter `y` of `I::a` was `x`: old-client new-client client-source: I::a"],
    ),
    case(
        "E0609",
        [
            "interface I { void a(in long x, in long y); };",
            "interface I { void a(in long y, in long x); };",
            "interface I { void a(in long z, in long w); };",
        ],
        &["E0609 parameter `y` of `I::a` is number 1, was number 2: old-client new-client \
           client-source server-source: I::a"],
    ),
    case(
        "E0609",
        [
            "struct S { long x; long y; }; interface I { void a(in S s); };",
            "struct S { long y; long x; }; interface I { void a(in S s); };",
            "struct S { long x; long y; }; interface I { void a(in S s); void b(in S s); };",
        ],
        &["E0609 member `y` of `S` is number 1, was number 2: old-client new-client \
           client-source server-source: I::a"],
    ),
    case(
        "E0609",
        [
            "struct S { long x; long y; }; interface I { void a(); };",
            "struct S { long y; long x; }; interface I { void a(); };",
            "struct S { long x; long y; }; interface I { void b(); };",
        ],
        &["E0609 member `y` of `S` is number 1, was number 2: client-source server-source: -"],
    ),
    case(
        "E0609",
        [
            "enum E { P, Q }; interface I { void a(in E e); };",
            "enum E { @value(1) Q, @value(0) P }; interface I { void a(in E e); };",
            "enum E { @value(0) P, @value(1) Q }; interface I { void a(in E e); };",
        ],
        &["E0609 `Q` of `E` is number 1, was number 2: old-client new-client client-source \
           server-source: I::a"],
    ),
    case(
        "E0610",
        [
            "interface I { void a(in long x); };",
            "interface I { void a(inout long x); };",
            "interface I { void a(in long x); void b(out long x); };",
        ],
        &["E0610 parameter `x` of `I::a` is inout, was in: old-client new-client client-source \
           server-source: I::a"],
    ),
    case(
        "E0611",
        [
            "typedef sequence<long> L; interface I { L a(in long x); };",
            "typedef sequence<short> L; interface I { L a(in long x); };",
            "interface I { sequence<long> a(in long x); }; typedef sequence<long> L;",
        ],
        &["E0611 type `L` is `sequence<short>`, was `sequence<long>`: old-client new-client \
           client-source server-source: I::a"],
    ),
    case(
        "E0611",
        [
            "interface I { long a(); };",
            "interface I { void a(); };",
            "interface I { long a(); long b(); };",
        ],
        &["E0611 operation `I::a` returns nothing now: old-client new-client client-source \
           server-source: I::a"],
    ),
    case(
        "E0612",
        [
            "interface I { void a(in string<9> x); };",
            "interface I { void a(in string<8> x); };",
            "typedef string<9> N; interface I { void a(in N x); };",
        ],
        &["E0612 parameter `x` of `I::a` is `string<8>`, was `string<9>`: old-client new-client: \
           I::a"],
    ),
    case(
        "E0613",
        [
            "interface I { void a(@range(min = 1, max = 9) in long x); };",
            "interface I { void a(@range(min = 1, max = 8) in long x); };",
            "interface I { void a(@min(1) @max(9) in long x); };",
        ],
        &["E0613 parameter `x` of `I::a` may be 1 to 8, was 1 to 9: old-client new-client: I::a"],
    ),
    case(
        "E0614",
        [
            "struct S { long x; }; interface I { S a(); };",
            "struct S { @optional long x; }; interface I { S a(); };",
            "struct S { @optional(FALSE) long x; }; interface I { S a(); };",
        ],
        &["E0614 member `x` of `S` is optional, and was not before: old-client new-client \
           client-source server-source: I::a"],
    ),
    case(
        "E0614",
        [
            "interface I { @fd long a(@fd in long x); };",
            "interface I { @optional @fd long a(@optional @fd in long x); };",
            "interface I { @optional(FALSE) @fd long a(@fd in long x); };",
        ],
        &[
            "E0614 parameter `x` of `I::a` is optional, and was not before: old-client new-client \
             client-source server-source: I::a",
            "E0614 what `I::a` returns is optional now: old-client new-client client-source \
             server-source: I::a",
        ],
    ),
    case(
        "E0615",
        [
            "interface I { void a(in sequence<octet> x); };",
            "interface I { void a(@opaque in sequence<octet> x); };",
            "interface I { void a(@opaque(FALSE) in sequence<octet> x); };",
        ],
        &["E0615 parameter `x` of `I::a` is opaque, and was not before: old-client new-client \
           client-source server-source: I::a"],
    ),
    case(
        "E0616",
        [
            "interface I { oneway void a(); };",
            "interface I { void a(); };",
            "interface I { @oneway void a(); };",
        ],
        &["E0616 operation `I::a` has a reply now: old-client new-client: I::a"],
    ),
    case(
        "E0617",
        [
            "exception X {}; exception Y {}; interface I { void a() raises (X, Y); };",
            "exception X {}; exception Y {}; interface I { void a() raises (Y, X); };",
            "exception Y {}; exception X {}; interface I { void a() raises (X, Y); };",
        ],
        &["E0617 operation `I::a` raises (Y, X), did raise (X, Y): old-client new-client \
           client-source server-source: I::a"],
    ),
    case(
        "E0618",
        [
            "interface I { @idempotent void a(); void b(); };",
            "interface I { void a(); @idempotent void b(); };",
            "interface I { @idempotent void a(); @idempotent void b(); };",
        ],
        &[
            "E0618 operation `I::a` is not idempotent any more: old-client: -",
            "N0634 operation `I::b` is idempotent now: : -",
        ],
    ),
    case(
        "E0619",
        [
            "interface I { @astack(bytes = 100) void a(in string x); };",
            "interface I { @astack(bytes = 900) void a(in string x); };",
            "interface I { @astack(count = 9, bytes = 100) void a(in string x); };",
        ],
        &["E0619 A-stacks of `I::a` have 1024 bytes, had 64 bytes: new-client: -"],
    ),
    case(
        "E0620",
        [
            "interface I { @astack(bytes = 900) void a(in string x); };",
            "interface I { @astack(bytes = 100) void a(in string x); };",
            "interface I { @astack(bytes = 901) void a(in string x); };",
        ],
        &["E0620 A-stacks of `I::a` have 64 bytes, had 1024 bytes: old-client: -"],
    ),
    case(
        "E0621",
        [
            "module M { const long C = 1; struct S { long x; }; };",
            "module M { struct S { long x; }; };",
            "module M { struct S { long x; }; const long C = 1; const long D = 1; };",
        ],
        &["E0621 constant `M::C` is gone: client-source server-source: -"],
    ),
    case(
        "E0622",
        [
            "enum E { P, Q }; interface I { E a(); };",
            "enum E { P, Q, R }; interface I { E a(); };",
            "enum E { P, Q }; interface I { E a(); E b(); };",
        ],
        &["E0622 `R` of `E` is new: old-client new-client client-source server-source: I::a"],
    ),
    case(
        "E0623",
        [
            "bitmask B { P, Q }; interface I { B a(); };",
            "bitmask B { P, R }; interface I { B a(); };",
            "bitmask B { @position(1) Q, @position(0) P }; interface I { B a(); };",
        ],
        &["E0623 `R` of `B` was `Q`: old-client new-client client-source server-source: I::a"],
    ),
    case(
        "E0624",
        [
            "enum E { P, Q }; interface I { E a(); };",
            "enum E { Q, P }; interface I { E a(); };",
            "enum E { @value(0) P, @value(1) Q }; interface I { E a(); };",
        ],
        &[
            "E0624 `Q` of `E` is 0, was 1: old-client new-client client-source server-source: I::a",
            "E0624 `P` of `E` is 1, was 0: old-client new-client client-source server-source: I::a",
        ],
    ),
    case(
        "E0625",
        [
            "@bit_bound(8) enum E { P, Q }; interface I { E a(); };",
            "@bit_bound(16) enum E { P, Q }; interface I { E a(); };",
            "@bit_bound(8) enum E { P, Q }; interface I { E a(); void b(); };",
        ],
        &["E0625 `E` has 16 bits, had 8 bits: old-client new-client: I::a"],
    ),
    case(
        "E0625",
        [
            "@bit_bound(1) enum E { P, Q }; interface I { E a(); };",
            "@bit_bound(16) enum E { P, Q }; interface I { E a(); };",
            "@bit_bound(1) enum E { P, Q }; interface I { E a(); void b(); };",
        ],
        &["E0625 `E` has 16 bits, had 1 bit: old-client new-client: I::a"],
    ),
    case(
        "E0626",
        [
            "union U switch (long) { case 1: long x; case 2: short y; }; \
             interface I { U a(); };",
            "union U switch (long) { case 1: long x; case 3: short y; }; \
             interface I { U a(); };",
            "union U switch (long) { case 1: long x; case 2: short y; }; \
             interface I { U a(); U b(); };",
        ],
        &["E0626 case `y` of `U` is selected by 3, was by 2: old-client new-client client-source \
           server-source: I::a"],
    ),
    case(
        "N0627",
        ["const long C = 1;", "const long C = 2;", "const long D = 1; const long C = D;"],
        &["N0627 constant `C` is 2, was 1: : -"],
    ),
    case(
        "N0629",
        [
            "@appendable struct S { long x; }; interface I { void a(in S s); };",
            "@appendable struct S { long x; string y; }; interface I { void a(in S s); };",
            "@appendable struct S { long x; }; interface I { void a(in S s); void b(in S s); };",
        ],
        &["N0629 member `y` of `S` is new: : -"],
    ),
    case(
        "E0606",
        [
            "@appendable struct S { long x; }; interface I { S a(in long n); };",
            "@appendable struct S { string y; long x; }; interface I { S a(in long n); };",
            "@appendable struct S { long x; string y; }; interface I { S a(in long n); };",
        ],
        &["E0606 member `y` of `S` is new: old-client new-client client-source server-source: \
           I::a"],
    ),
    case(
        "E0612",
        [
            "@appendable struct S { string<9> x; }; interface I { void a(in S s); };",
            "@appendable struct S { string<8> x; long y; }; interface I { void a(in S s); };",
            "@appendable struct S { string<9> x; long y; }; interface I { void a(in S s); };",
        ],
        &[
            "E0606 member `y` of `S` is new: old-client new-client client-source server-source: \
             I::a",
            "E0612 member `x` of `S` is `string<8>`, was `string<9>`: old-client new-client: I::a",
        ],
    ),
    case(
        "E0630",
        [
            "struct S { long x; }; interface I { void a(in S s); };",
            "@appendable struct S { long x; }; interface I { void a(in S s); };",
            "@final struct S { long x; }; interface I { void a(in S s); };",
        ],
        &["E0630 struct `S` is appendable now: old-client new-client: I::a"],
    ),
    case(
        "E0630",
        [
            "enum E { A, @default_literal B }; interface I { void a(in E e); };",
            "@appendable enum E { A, @default_literal B }; interface I { void a(in E e); };",
            "@appendable enum E { A, B }; interface I { void a(in E e); };",
        ],
        &["E0630 enum `E` is appendable now: old-client new-client: I::a"],
    ),
    case(
        "N0632",
        [
            "@appendable enum E { A, @default_literal B }; interface I { E a(in E e); };",
            "@appendable enum E { A, @default_literal B, C }; interface I { E a(in E e); };",
            "@appendable enum E { A, @default_literal B }; interface I { E a(in E e); E b(); };",
        ],
        &["N0632 `C` of `E` is new: : -"],
    ),
    case(
        "E0622",
        [
            "@appendable enum E { A, @default_literal B }; interface I { E a(in E e); };",
            "@appendable enum E { A, C, @default_literal B }; interface I { E a(in E e); };",
            "@appendable enum E { A, @default_literal B, C }; interface I { E a(in E e); };",
        ],
        &[
            "E0622 `C` of `E` is new: old-client new-client client-source server-source: I::a",
            "E0624 `B` of `E` is 2, was 1: old-client new-client client-source server-source: I::a",
        ],
    ),
    case(
        "E0622",
        [
            "@appendable enum E { A, B }; interface I { E a(in E e); };",
            "@appendable enum E { A, B, C }; interface I { E a(in E e); };",
            "@appendable enum E { A, B }; interface I { E a(in E e); E b(); };",
        ],
        &["E0622 `C` of `E` is new: old-client new-client client-source server-source: I::a"],
    ),
    case(
        "E0631",
        [
            "interface I { void a(out string x); };",
            "interface I { void a(@prealloc out string x); };",
            "interface I { void a(@prealloc(FALSE) out string x); };",
        ],
        &["E0631 parameter `x` of `I::a` is prealloc, and was not before: client-source: -"],
    ),
    case(
        "E0631",
        [
            "interface I { @prealloc string a(); };",
            "interface I { string a(); };",
            "interface I { @prealloc(TRUE) string a(); };",
        ],
        &["E0631 what `I::a` returns is not prealloc now: client-source: -"],
    ),
    case(
        "E0607",
        [
            "@appendable struct S { long x; }; interface I { void a(in S s); };",
            "@appendable struct S { long y; }; interface I { void a(in S s); };",
            "@appendable struct S { long x; long y; }; interface I { void a(in S s); };",
        ],
        &["E0607 member `y` of `S` was `x`: old-client new-client client-source server-source: \
           I::a"],
    ),
    case(
        "E0606",
        [
            "@appendable struct S { long x; }; interface I { void a(in S s); };",
            "@appendable struct S { long y; long x; }; interface I { void a(in S s); };",
            "@appendable struct S { long x; long y; }; interface I { void a(in S s); };",
        ],
        &["E0606 member `y` of `S` is new: old-client new-client client-source server-source: \
           I::a"],
    ),
    case(
        "E0633",
        [
            "interface I { void a(); @feed unsigned long long b(); };",
            "interface I { void a(); unsigned long long b(); };",
            "interface I { void a(); @feed unsigned long long b(); unsigned long long c(); };",
        ],
        &["E0633 operation `I::b` streams nothing, did stream what it returns: old-client \
           new-client client-source server-source: I::b"],
    ),
    case(
        "E0633",
        [
            "interface I { @feed long a(); void b(@feed in long x); \
             @feed short c(@feed in long x); void d(); };",
            "interface I { void a(@feed in long x); @feed short b(@feed in long x); \
             void c(@feed in long x); void d(); };",
            "interface I { @feed long a(); void b(@feed in long x); \
             @feed short c(@feed in long x); void d(); void e(@feed in long x); };",
        ],
        &[
            "E0633 operation `I::a` streams what it is given, did stream what it returns: \
             old-client new-client client-source server-source: I::a",
            "E0633 operation `I::b` streams both ways, did stream what it is given: old-client \
             new-client client-source server-source: I::b",
            "E0633 operation `I::c` streams what it is given, did stream both ways: old-client \
             new-client client-source server-source: I::c",
        ],
    ),
    case(
        "N0634",
        [
            "interface I { void a(); @idempotent void b(); };",
            "interface I { @idempotent void a(); @idempotent void b(); };",
            "interface I { void a(); @idempotent void b(); @idempotent void c(); };",
        ],
        &["N0634 operation `I::a` is idempotent now: : -"],
    ),
    case(
        "E0635",
        [
            "interface I { void a(in long x); @fd(FILE) long b(); };",
            "interface I { void a(@fd in long x); @fd(SOCKET) long b(); };",
            "interface I { void a(in long x); @fd(FILE) long b(); @fd long c(); };",
        ],
        &[
            "E0635 parameter `x` of `I::a` is `@fd`, was no descriptor: old-client \
             new-client client-source server-source: I::a",
            "E0635 what `I::b` returns is `@fd(SOCKET)`, was `@fd(FILE)`: old-client new-client \
             client-source server-source: I::b",
        ],
    ),
];
