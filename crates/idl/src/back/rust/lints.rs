//! Which lints an item is excused from, because what they find fault with is what the interface
//! file says. Nothing is excused that the item does not do.

use proc_macro2::TokenStream;
use quote::quote;

use crate::back::rust::Rust;
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
        let (count, complexity) = match syn::parse2::<syn::Signature>(signature.clone()) {
            Ok(signature) => (signature.inputs.len(), signature_complexity(&signature)),
            Err(_) => (0, 0),
        };
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
    let parsed = types.iter().filter_map(|held| syn::parse2(held.clone()).ok());
    let largest = parsed.map(|held: syn::Type| complexity(&held, 1)).max();
    let is_complex = largest.unwrap_or(0) > COMPLEXITY_MAX;
    lints.allow(is_complex, quote!(clippy::type_complexity))
}

fn signature_complexity(signature: &syn::Signature) -> u32 {
    let inputs = signature.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(typed) => Some(complexity(&typed.ty, 1)),
        syn::FnArg::Receiver(_) => None,
    });
    let output = match &signature.output {
        syn::ReturnType::Type(_, output) => complexity(output, 1),
        syn::ReturnType::Default => 0,
    };
    inputs.chain([output]).max().unwrap_or(0)
}

/// Counted as clippy counts: ten for each type, times how deep it stands.
fn complexity(declared: &syn::Type, depth: u32) -> u32 {
    match declared {
        syn::Type::Reference(reference) => depth + complexity(&reference.elem, depth),
        syn::Type::Slice(slice) => 10 * depth + complexity(&slice.elem, depth + 1),
        syn::Type::Array(array) => 10 * depth + complexity(&array.elem, depth + 1),
        syn::Type::Tuple(tuple) => {
            let inner = tuple.elems.iter().map(|one| complexity(one, depth + 1));
            10 * depth + inner.sum::<u32>()
        }
        syn::Type::Path(path) => {
            let inner = arguments_of(&path.path).map(|argument| match argument {
                syn::GenericArgument::Type(inner) => complexity(inner, depth + 1),
                _ => 0,
            });
            10 * depth + inner.sum::<u32>()
        }
        // Traits are not types; what they are bound to is.
        syn::Type::ImplTrait(opaque) => {
            let bounds = opaque.bounds.iter().filter_map(|bound| match bound {
                syn::TypeParamBound::Trait(bound) => Some(arguments_of(&bound.path)),
                _ => None,
            });
            let inner = bounds.flatten().map(|argument| match argument {
                syn::GenericArgument::AssocType(bound) => complexity(&bound.ty, depth),
                _ => 0,
            });
            inner.sum()
        }
        _ => 10 * depth,
    }
}

fn arguments_of(path: &syn::Path) -> impl Iterator<Item = &syn::GenericArgument> {
    path.segments.iter().flat_map(|segment| match &segment.arguments {
        syn::PathArguments::AngleBracketed(angled) => angled.args.iter().collect(),
        _ => Vec::new(),
    })
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
