//! Constants, and values as Rust writes them.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::docs::doc;
use crate::back::rust::tokens::{Literal, TokenStream, quote};
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

/// An x87 extended value in 16 bytes, the padding zero.
fn extended(value: f64) -> [u8; 16] {
    let bits = value.to_bits();
    let (mut exponent, mut fraction) = ((bits >> 52) as u16 & 0x7ff, bits & ((1 << 52) - 1));
    let significand = match exponent {
        0 if fraction == 0 => 0,
        0 => {
            // Subnormal here, normal there: the exponent has more room.
            let shift = fraction.leading_zeros() as u16;
            exponent = 15372 - shift;
            fraction << shift
        }
        0x7ff => {
            exponent = 0x7fff;
            fraction <<= 11;
            fraction | 1 << 63
        }
        _ => {
            exponent += 16383 - 1023;
            fraction << 11 | 1 << 63
        }
    };
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&significand.to_le_bytes());
    let sign = (bits >> 63) as u16;
    bytes[8..10].copy_from_slice(&(exponent | sign << 15).to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::extended;

    #[test]
    fn an_extended_value_is_the_x87_one() {
        let parts = |value: f64| {
            let bytes = extended(value);
            let significand = u64::from_le_bytes(bytes[..8].try_into().unwrap());
            (significand, u16::from_le_bytes([bytes[8], bytes[9]]))
        };
        assert_eq!(parts(1.0), (1 << 63, 0x3fff));
        assert_eq!(parts(-2.5), (0xa000_0000_0000_0000, 0xc000));
        assert_eq!(parts(0.0), (0, 0));
        // 2^-1074, the least of all.
        assert_eq!(parts(f64::from_bits(1)), (1 << 63, 16383 - 1074));
        assert_eq!(parts(f64::from_bits(1 << 51)), (1 << 63, 16383 - 1023));
    }
}
