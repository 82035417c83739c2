//! The grammar of OMG IDL 4.2: tokens to syntax tree.
//!
//! ```text
//! definition      modules, constants, typedefs, forward declarations
//! aggregate       struct, union, enum, bitmask, bitset, exception
//! interface       operations, attributes
//! types           type uses          words        the keywords
//! annotation      applications and declarations
//! outside         constructs that are recognised and named, not mapped
//! ```
//!
//! Decides what the text has the form of. Refuses to know what names mean.

mod aggregate;
mod annotation;
mod definition;
mod interface;
mod outside;
mod types;
pub(super) mod words;

use super::ast::Item;
use super::dialect::Dialect;
use super::parser::{Failed, Parsed, Parser, Result};
use super::rules::syntax as rules;
use super::token::TokenStream;

/// Where a definition stands: not everything may stand everywhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Module,
    Interface,
    Annotation,
}

/// Parses a whole compilation.
pub fn parse(stream: TokenStream) -> Parsed {
    let mut parser = Parser::new(stream, Dialect::Omg);
    let mut items = Vec::new();
    loop {
        parser.items(Place::Module, &mut items);
        if parser.is_end() {
            break;
        }
        parser.stray_brace();
    }
    parser.take_marks(&mut items);
    parser.into_parsed(items)
}

impl Parser {
    /// Everything up to a closing brace or the end.
    fn items(&mut self, place: Place, items: &mut Vec<Item>) {
        loop {
            self.take_marks(items);
            if self.is_end() || self.is("}") {
                return;
            }
            let start = self.at;
            match self.definition(place) {
                Ok(definition) => items.push(Item::Definition(definition)),
                Err(Failed) => self.recover(start),
            }
        }
    }
}
