//! Tokens of Rust on their way to text, and the macro that writes them.
//!
//! A stream is one string with a token on each line, so that to put one into another is to copy
//! bytes: an interface of a thousand operations has more than a million tokens, and what is
//! allocated for each would take most of the time. Which tokens belong together is found out when
//! they are printed (`print`).

mod lexer;

use std::fmt::{self, Display};

/// Tokens, each with a line end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenStream(String);

/// A name that is a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident(String);

/// A number that is a token.
#[derive(Clone, Debug)]
pub struct Literal(String);

/// Appends tokens: what `#name` does in `quote!`.
pub trait ToTokens {
    fn to_tokens(&self, tokens: &mut TokenStream);
}

impl TokenStream {
    pub const fn new() -> TokenStream {
        TokenStream(String::new())
    }

    /// Room for what most of them have.
    pub fn with_room() -> TokenStream {
        TokenStream(String::with_capacity(128))
    }

    /// Tokens of a text in Rust. Comments that are no documentation are left out.
    pub fn of_text(text: &str) -> TokenStream {
        lexer::tokens(text)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends tokens that end with a line end.
    pub fn push(&mut self, lines: &str) {
        self.0.push_str(lines);
    }

    /// Appends the tokens of another.
    pub fn extend(&mut self, other: impl ToTokens) {
        other.to_tokens(self);
    }

    /// How long all of them are, each with its line end.
    pub fn bytes(&self) -> usize {
        self.0.len()
    }

    /// Without the parentheses around all of it.
    pub fn bare(self) -> TokenStream {
        let inner = self.0.strip_prefix("(\n").and_then(|rest| rest.strip_suffix(")\n"));
        let mut depth = 0;
        let is_whole = |inner: &&str| {
            inner.lines().all(|token| {
                depth += i32::from(token == "(") - i32::from(token == ")");
                depth >= 0
            })
        };
        inner.filter(is_whole).map(|inner| TokenStream(inner.to_owned())).unwrap_or(self)
    }

    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        self.0.split_terminator('\n')
    }
}

impl FromIterator<TokenStream> for TokenStream {
    fn from_iter<I: IntoIterator<Item = TokenStream>>(streams: I) -> TokenStream {
        let mut all = TokenStream::new();
        streams.into_iter().for_each(|stream| all.extend(stream));
        all
    }
}

impl Ident {
    pub fn new(name: impl Into<String>) -> Ident {
        Ident(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Literal {
    /// A number as it is written, without its type.
    pub fn number(value: impl Display) -> Literal {
        Literal(value.to_string())
    }

    /// A number with a point.
    pub fn decimal(value: impl Display) -> Literal {
        let text = value.to_string();
        Literal(if text.contains('.') { text } else { text + ".0" })
    }

    /// A number of so many hexadecimal digits.
    pub fn hexadecimal(value: u64, digits: usize) -> Literal {
        Literal(format!("0x{value:0digits$x}"))
    }
}

impl Display for TokenStream {
    /// The tokens with nothing between them: a name, a path, a type.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tokens().try_for_each(|token| formatter.write_str(token))
    }
}

impl Display for Ident {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl ToTokens for TokenStream {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.push(&self.0);
    }
}

impl ToTokens for Ident {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.push(&self.0);
        tokens.push("\n");
    }
}

impl ToTokens for Literal {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.push(&self.0);
        tokens.push("\n");
    }
}

impl ToTokens for bool {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.push(if *self { "true\n" } else { "false\n" });
    }
}

impl ToTokens for str {
    /// As a literal, in which a line end is escaped.
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.push(&format!("{self:?}\n"));
    }
}

impl ToTokens for String {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.as_str().to_tokens(tokens);
    }
}

impl ToTokens for char {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.push(&format!("{self:?}\n"));
    }
}

impl<T: ToTokens> ToTokens for Option<T> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.iter().for_each(|some| some.to_tokens(tokens));
    }
}

impl<T: ToTokens + ?Sized> ToTokens for &T {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        (**self).to_tokens(tokens);
    }
}

/// What `#(...)*` asks of iterators, of slices and of what stays the same. Traits apart, because
/// what is no iterator has to be found by reference.
pub trait EachOfIterator: Iterator + Sized {
    fn each(self) -> Self {
        self
    }
}

impl<I: Iterator> EachOfIterator for I {}

pub trait EachOfSlice {
    type Item;
    fn each(&self) -> std::slice::Iter<'_, Self::Item>;
}

impl<T> EachOfSlice for [T] {
    type Item = T;
    fn each(&self) -> std::slice::Iter<'_, T> {
        self.iter()
    }
}

pub trait EachTheSame {
    fn each(&self) -> std::iter::Repeat<&Self>;
}

impl EachTheSame for TokenStream {
    fn each(&self) -> std::iter::Repeat<&Self> {
        std::iter::repeat(self)
    }
}

impl EachTheSame for Ident {
    fn each(&self) -> std::iter::Repeat<&Self> {
        std::iter::repeat(self)
    }
}

/// What a name stands for in one round of `#(...)*`. Who asks it for the next again, because the
/// name is there twice, gets the same.
pub struct Round<T>(pub T);

impl<T> Round<T> {
    pub fn next(self) -> Option<T> {
        Some(self.0)
    }
}

impl<T: ToTokens> ToTokens for Round<T> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

/// Tokens as they are written, but that `#name` stands for what the variable has and `#(...)*`,
/// with or without one token between, for what is in the parentheses as often as its variables
/// have something.
macro_rules! quote {
    () => { $crate::back::rust::tokens::TokenStream::new() };
    ($($token:tt)*) => {{
        let mut stream = $crate::back::rust::tokens::TokenStream::with_room();
        $crate::back::rust::tokens::push!(stream $($token)*);
        stream
    }};
}

/// Takes one token after the other off the list.
macro_rules! push {
    ($to:ident) => {};
    ($to:ident # $name:ident $($rest:tt)*) => {
        $crate::back::rust::tokens::ToTokens::to_tokens(&$name, &mut $to);
        $crate::back::rust::tokens::push!($to $($rest)*);
    };
    ($to:ident # ($($part:tt)*) * $($rest:tt)*) => {
        $crate::back::rust::tokens::repeat!($to () $($part)*);
        $crate::back::rust::tokens::push!($to $($rest)*);
    };
    ($to:ident # ($($part:tt)*) $between:tt * $($rest:tt)*) => {
        $crate::back::rust::tokens::repeat!($to ($between) $($part)*);
        $crate::back::rust::tokens::push!($to $($rest)*);
    };
    ($to:ident ($($part:tt)*) $($rest:tt)*) => {
        $to.push("(\n");
        $crate::back::rust::tokens::push!($to $($part)*);
        $to.push(")\n");
        $crate::back::rust::tokens::push!($to $($rest)*);
    };
    ($to:ident [$($part:tt)*] $($rest:tt)*) => {
        $to.push("[\n");
        $crate::back::rust::tokens::push!($to $($part)*);
        $to.push("]\n");
        $crate::back::rust::tokens::push!($to $($rest)*);
    };
    ($to:ident {$($part:tt)*} $($rest:tt)*) => {
        $to.push("{\n");
        $crate::back::rust::tokens::push!($to $($part)*);
        $to.push("}\n");
        $crate::back::rust::tokens::push!($to $($rest)*);
    };
    ($to:ident $token:tt $($rest:tt)*) => {
        $to.push(concat!(stringify!($token), "\n"));
        $crate::back::rust::tokens::push!($to $($rest)*);
    };
}

/// The same tokens over and over, until one of the variables in them has no more.
macro_rules! repeat {
    ($to:ident ($($between:tt)?) $($part:tt)*) => {{
        #[allow(unused_imports)]
        use $crate::back::rust::tokens::{EachOfIterator, EachOfSlice, EachTheSame};
        $crate::back::rust::tokens::for_names!(begin $($part)*);
        let mut _is_first = true;
        loop {
            $crate::back::rust::tokens::for_names!(next $($part)*);
            $(if !_is_first {
                $to.push(concat!(stringify!($between), "\n"));
            }
            _is_first = false;)?
            $crate::back::rust::tokens::push!($to $($part)*);
        }
    }};
}

/// A statement for each `#name`.
macro_rules! for_names {
    ($what:ident) => {};
    ($what:ident # $name:ident $($rest:tt)*) => {
        $crate::back::rust::tokens::$what!($name);
        $crate::back::rust::tokens::for_names!($what $($rest)*);
    };
    ($what:ident ($($part:tt)*) $($rest:tt)*) => {
        $crate::back::rust::tokens::for_names!($what $($part)* $($rest)*);
    };
    ($what:ident [$($part:tt)*] $($rest:tt)*) => {
        $crate::back::rust::tokens::for_names!($what $($part)* $($rest)*);
    };
    ($what:ident {$($part:tt)*} $($rest:tt)*) => {
        $crate::back::rust::tokens::for_names!($what $($part)* $($rest)*);
    };
    ($what:ident $token:tt $($rest:tt)*) => {
        $crate::back::rust::tokens::for_names!($what $($rest)*);
    };
}

macro_rules! begin {
    ($name:ident) => {
        // A name that is there twice is begun twice, and only the second is asked.
        #[allow(unused_mut)]
        let mut $name = $name.each();
    };
}

macro_rules! next {
    ($name:ident) => {
        let $name = match $name.next() {
            Some(value) => $crate::back::rust::tokens::Round(value),
            None => break,
        };
    };
}

/// A name made as `format!` makes text.
macro_rules! format_ident {
    ($($argument:tt)*) => { $crate::back::rust::tokens::Ident::new(format!($($argument)*)) };
}

pub(crate) use {begin, for_names, format_ident, next, push, quote, repeat};

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tokens: TokenStream, want: &str) {
        assert_eq!(tokens.tokens().collect::<Vec<_>>().join(" "), want);
    }

    #[test]
    fn tokens_are_those_that_are_written() {
        check(
            quote!(let x: &'a [u8] = f::<3>(-1, "a b")?;),
            r#"let x : & 'a [ u8 ] = f :: < 3 > ( - 1 , "a b" ) ? ;"#,
        );
        check(quote!(), "");
    }

    #[test]
    fn variables_are_put_in() {
        let (name, none, text) = (Ident::new("x"), None::<TokenStream>, "a\n\"b\"");
        check(quote!(#name.#name(#none) + #text), r#"x . x ( ) + "a\n\"b\"""#);
    }

    #[test]
    fn what_repeats_is_there_for_each_item() {
        let (names, values) = (vec![Ident::new("a"), Ident::new("b")], [true, false].into_iter());
        let same = quote!(S);
        check(
            quote!([#(#same::#names { #names: #values }),*]),
            "[ S :: a { a : true } , S :: b { b : false } ]",
        );
        check(quote!(#(#names)* . #(#names)|*), "a b . a | b");
    }
}
