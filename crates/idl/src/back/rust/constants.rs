//! Constants, and values as Rust writes them.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::docs::doc;
use crate::back::rust::tokens::{Literal, TokenStream, quote};
use crate::layout::extended;
use crate::model::{Constant, DeclarationId, Kind, Primitive, Type, Value};

impl Rust<'_> {
    /// `pub const`
    pub fn constant(&self, id: DeclarationId, constant: &Constant) -> TokenStream {
        let scope = self.names.scope_of(id);
        let declaration = self.model.declaration(id);
        let doc = doc(&declaration.doc, &format!("Constant `{}`.", declaration.name));
        let name = ident(self.names.declaration(id));
        let resolved = self.model.resolved(&constant.declared);
        let declared = match resolved {
            Type::String { .. } | Type::WideString { .. } => quote!(&str),
            _ => self.owned(scope, &constant.declared),
        };
        // The interface file may well say 3.14159 and mean it.
        let allow = matches!(resolved, Type::Primitive(Primitive::Float | Primitive::Double))
            .then(|| quote!(#[allow(clippy::approx_constant)]));
        let value = self.value(scope, resolved, &constant.value);
        quote!(#doc #allow pub const #name: #declared = #value;)
    }

    /// A value, as an expression and as a pattern. `resolved` is its type without aliases.
    pub fn value(&self, scope: usize, resolved: &Type, value: &Value) -> TokenStream {
        match (value, resolved) {
            (Value::Boolean(value), _) => quote!(#value),
            (Value::Char(value), Type::Primitive(Primitive::Char)) => {
                let byte = Literal::number(u32::from(*value) as u8);
                quote!(::nearcall::Char(#byte))
            }
            (Value::Char(value), _) => quote!(#value),
            (Value::String(value), _) => quote!(#value),
            (Value::Float(value), Type::Primitive(Primitive::Float)) => {
                let value = *value as f32;
                let sign = value.is_sign_negative().then(|| quote!(-));
                let literal = Literal::decimal(value.abs());
                quote!(#sign #literal)
            }
            (Value::Float(value), Type::Primitive(Primitive::LongDouble)) => {
                let bytes = extended(*value).map(Literal::number);
                quote!(::nearcall::LongDouble([#(#bytes),*]))
            }
            (Value::Float(value), _) => {
                let sign = value.is_sign_negative().then(|| quote!(-));
                let literal = Literal::decimal(value.abs());
                quote!(#sign #literal)
            }
            (Value::Integer(value), _) => {
                let sign = (*value < 0).then(|| quote!(-));
                let literal = Literal::number(value.unsigned_abs());
                quote!(#sign #literal)
            }
            (Value::Enumerator(id, index), _) => {
                let path = self.names.path(scope, *id);
                let variant = self.variant(*id, *index);
                quote!(#path::#variant)
            }
        }
    }

    fn variant(&self, id: DeclarationId, index: u32) -> TokenStream {
        let names = match &self.model.declaration(id).kind {
            Kind::Enum(shape) => super::words::variants(shape),
            _ => Vec::new(),
        };
        let name = names.get(index as usize).map(|name| ident(name));
        quote!(#name)
    }
}
