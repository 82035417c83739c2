//! Which lints an item is excused from, because what they find fault with is what the interface
//! file says. Nothing is excused that the item does not do.

use crate::back::rust::Rust;
use crate::back::rust::tokens::{TokenStream, quote};
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Model, Operation, Type};

/// Clippy's limits.
const ARGUMENTS_MAX: usize = 7;
const ERROR_BYTES_MAX: u64 = 100;
const VARIANT_BYTES_MAX: u64 = 150;
const COMPLEXITY_MAX: u32 = 250;

/// Lints of one item.
#[derive(Default)]
pub struct Lints(Vec<TokenStream>);

impl Lints {
    /// Adds a lint if `excused`.
    pub fn allow(mut self, excused: bool, lint: TokenStream) -> Lints {
        if excused {
            self.0.push(lint);
        }
        self
    }

    /// The attribute, if there is anything to excuse.
    pub fn attribute(self) -> TokenStream {
        let lints = self.0;
        if lints.is_empty() { TokenStream::new() } else { quote!(#[allow(#(#lints),*)]) }
    }
}

/// For a type with members or variants of these names.
pub fn member_lints(is_documented: bool, variants: &[String]) -> Lints {
    Lints::default()
        .allow(!is_documented, quote!(missing_docs))
        .allow(have_common_word(variants), quote!(clippy::enum_variant_names))
}

/// Is there a word that all names begin or end with? Clippy asks from three on.
fn have_common_word(names: &[String]) -> bool {
    let words: Vec<Vec<&str>> = names.iter().map(|name| camel_words(name)).collect();
    let [first, rest @ ..] = words.as_slice() else {
        return false;
    };
    let begins_alike = rest.iter().all(|words| words.first() == first.first());
    let ends_alike = rest.iter().all(|words| words.last() == first.last());
    rest.len() > 1 && (begins_alike || ends_alike)
}

fn camel_words(name: &str) -> Vec<&str> {
    let rises = name.char_indices().skip(1).filter(|(_, letter)| letter.is_uppercase());
    let cuts: Vec<usize> = rises.map(|(at, _)| at).chain([name.len()]).collect();
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    starts.zip(&cuts).map(|(start, end)| &name[start..*end]).collect()
}

impl Rust<'_> {
    /// For a function of this signature.
    pub fn function_lints(
        &self,
        operation: &Operation,
        name: &str,
        signature: &TokenStream,
    ) -> Lints {
        let is_conversion = name.starts_with("from_") || name.starts_with("into_");
        let (count, complexity) = signature_complexity(signature);
        let is_large = self.is_large_error(operation);
        Lints::default()
            .allow(count > ARGUMENTS_MAX, quote!(clippy::too_many_arguments))
            .allow(complexity > COMPLEXITY_MAX, quote!(clippy::type_complexity))
            .allow(is_large, quote!(clippy::result_large_err))
            .allow(is_conversion, quote!(clippy::wrong_self_convention))
            .allow(name == "cmp", quote!(clippy::should_implement_trait))
    }

    fn is_large_error(&self, operation: &Operation) -> bool {
        let sizes = operation.raises.iter().map(|id| self.members_size(*id));
        sizes.max().unwrap_or(0) > ERROR_BYTES_MAX
    }

    fn members_size(&self, id: DeclarationId) -> u64 {
        let all = members(self.model, id);
        all.into_iter().map(|member| memory_bytes(self.model, &member.declared)).sum()
    }

    /// For a type whose variants hold these.
    pub fn variant_lints(&self, lints: Lints, types: &[Type]) -> Lints {
        let sizes = types.iter().map(|declared| memory_bytes(self.model, declared));
        let is_large = types.len() > 1 && sizes.max().unwrap_or(0) > VARIANT_BYTES_MAX;
        lints.allow(is_large, quote!(clippy::large_enum_variant))
    }

    /// For an enum of exceptions.
    pub fn exception_lints(&self, variants: &[String], operation: &Operation) -> Lints {
        let sizes = operation.raises.iter().map(|id| self.members_size(*id));
        let is_large = variants.len() > 1 && sizes.max().unwrap_or(0) > VARIANT_BYTES_MAX;
        member_lints(true, variants).allow(is_large, quote!(clippy::large_enum_variant))
    }
}

/// For a type that holds values of these types.
pub fn holder_lints(lints: Lints, types: &[TokenStream]) -> Lints {
    let largest = types.iter().map(|held| complexity(held.tokens())).max();
    let is_complex = largest.unwrap_or(0) > COMPLEXITY_MAX;
    lints.allow(is_complex, quote!(clippy::type_complexity))
}

/// How many parameters there are, and the largest complexity of a type.
fn signature_complexity(signature: &TokenStream) -> (usize, u32) {
    let tokens: Vec<&str> = signature.tokens().collect();
    let begin = tokens.iter().position(|token| *token == "(").map_or(0, |open| open + 1);
    let (mut count, mut largest, mut depth, mut start) = (0, 0, 0, begin);
    for (at, token) in tokens.iter().enumerate().skip(begin) {
        let is_end = depth == 0 && *token == ")";
        if is_end || (depth == 0 && *token == ",") {
            let parameter = &tokens[start..at];
            let declared = parameter.iter().skip_while(|token| **token != ":").skip(1);
            largest = largest.max(complexity(declared.copied()));
            (count, start) = (count + usize::from(!parameter.is_empty()), at + 1);
        }
        if is_end {
            break;
        }
        depth += depth_change(token);
    }
    let output = tokens[start..].iter().skip_while(|token| **token != "->").skip(1);
    (count, largest.max(complexity(output.copied())))
}

fn depth_change(token: &str) -> i32 {
    match token {
        "(" | "[" | "<" => 1,
        ")" | "]" | ">" => -1,
        ">>" => -2,
        _ => 0,
    }
}

/// Of a type, counted as clippy counts: ten for each type, times how deep it stands.
fn complexity<'t>(declared: impl Iterator<Item = &'t str>) -> u32 {
    let mut declared = declared.peekable();
    // Traits are not types; what one of theirs is bound to is.
    if declared.next_if_eq(&"impl").is_some() {
        let _ = declared.by_ref().find(|token| *token == "=");
    }
    let (mut sum, mut depth, mut is_path) = (0, 1u32, false);
    for token in declared {
        match token {
            "&" => sum += depth,
            "[" | "(" => sum += 10 * depth,
            "mut" | "dyn" => {}
            // `::` or a name begins a path; a number does not.
            word if word == "::" || word.starts_with(|first: char| first.is_alphabetic()) => {
                sum += if is_path { 0 } else { 10 * depth };
                is_path = true;
                continue;
            }
            _ => {}
        }
        depth = depth.saturating_add_signed(depth_change(token));
        if depth == 0 {
            break;
        }
        // A path may go on after its parameters.
        is_path = token.starts_with('>');
    }
    sum
}

/// About how many bytes of memory a value takes, what it points to not counted.
fn memory_bytes(model: &Model, declared: &Type) -> u64 {
    held_bytes(model, declared, &mut Vec::new())
}

/// `open`: types that hold this one. One of them again is behind a pointer.
fn held_bytes(model: &Model, declared: &Type, open: &mut Vec<DeclarationId>) -> u64 {
    match model.resolved(declared) {
        Type::Array { element, dimensions } => {
            let all = dimensions.iter().fold(1u64, |all, one| all.saturating_mul((*one).into()));
            all.saturating_mul(held_bytes(model, element, open))
        }
        Type::Named(id) if open.contains(id) => 8,
        Type::Named(id) => {
            open.push(*id);
            let bytes = match &model.declaration(*id).kind {
                Kind::Struct(_) => {
                    let all = members(model, *id);
                    // 8 for an optional one and for alignment.
                    let bytes = all.iter().map(|one| held_bytes(model, &one.declared, open) + 8);
                    bytes.fold(0, u64::saturating_add)
                }
                Kind::Union(union) => {
                    let cases = union.cases.iter();
                    let sizes = cases.map(|case| held_bytes(model, &case.member.declared, open));
                    sizes.max().unwrap_or(0).saturating_add(16)
                }
                _ => 8,
            };
            open.pop();
            bytes
        }
        Type::Primitive(_) => 16,
        _ => 24,
    }
}

#[cfg(test)]
mod tests {
    use super::have_common_word;

    #[test]
    fn three_names_with_a_common_word_are_found() {
        let check = |names: &[&str]| {
            have_common_word(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        assert!(check(&["ColorRed", "ColorGreen", "ColorBlue"]));
        assert!(check(&["RedColor", "GreenColor", "BlueColor"]));
        assert!(!check(&["ColorRed", "ColorGreen"]));
        assert!(!check(&["Read", "Write", "ReadWrite"]));
    }
}
