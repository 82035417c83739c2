//! Attributes that are documentation, as comments.

use std::borrow::Cow;

use crate::back::rust::print::scan::Token;

/// The text of a doc comment, if an attribute is one that can be written so.
pub fn documentation<'t>(attribute: &[Token<'t>]) -> Option<Cow<'t, str>> {
    let [name, _, literal] = attribute else { return None };
    if name.text != "doc" {
        return None;
    }
    let text = unquoted(literal.text)?;
    // A line that begins with a fourth slash is an ordinary comment.
    (!text.starts_with('/') && !text.contains(['\n', '\r'])).then_some(text)
}

/// What a literal says: `r"..."`, `r#"..."#` as macros see comments, or what `{:?}` writes.
fn unquoted(literal: &str) -> Option<Cow<'_, str>> {
    if let Some(raw) = literal.strip_prefix('r') {
        let raw = raw.trim_matches('#');
        return Some(raw.strip_prefix('"')?.strip_suffix('"')?.into());
    }
    let quoted = literal.strip_prefix('"')?.strip_suffix('"')?;
    if !quoted.contains('\\') {
        return Some(quoted.into());
    }
    let (mut text, mut letters) = (String::new(), quoted.chars());
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        text.push(match letters.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            'u' => {
                let digits: String =
                    letters.by_ref().skip(1).take_while(|one| *one != '}').collect();
                char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
            }
            itself => itself,
        });
    }
    Some(text.into())
}

#[cfg(test)]
mod tests {
    use crate::back::rust::print::{Unused, print};
    use crate::back::rust::tokens::{TokenStream, quote};

    fn check(text: &str, want: &str) {
        assert_eq!(print(&TokenStream::of_text(text), Unused::Warned), want);
    }

    #[test]
    fn documentation_is_written_as_comments() {
        check("#[doc=\" A \\\"b\\\".\"]struct A;", "/// A \"b\".\nstruct A;\n");
        let tokens = quote! {
            /// A "b".
            struct A;
        };
        assert_eq!(print(&tokens, Unused::Warned), "/// A \"b\".\nstruct A;\n");
        check("//! A\n/// B\nstruct A;", "//! A\n/// B\nstruct A;\n");
    }

    #[test]
    fn what_no_comment_says_stays_an_attribute() {
        check("#[doc=\"/\"]struct A;", "#[doc = \"/\"]\nstruct A;\n");
        check("#[doc=\"a\\nb\"]struct A;", "#[doc = \"a\\nb\"]\nstruct A;\n");
        check("#[doc(hidden)]struct A;", "#[doc(hidden)]\nstruct A;\n");
    }
}
