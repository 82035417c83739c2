//! What makes a time of the standard library of one of Protocol Buffers, and the other way round.
//! Which values are none is the runtime's to say.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::tokens::{TokenStream, quote};
use crate::model::DeclarationId;
use crate::plan::Time;

impl Rust<'_> {
    /// `TryFrom`, both ways.
    pub fn times(&self, id: DeclarationId, time: Time) -> TokenStream {
        let name = ident(self.names.declaration(id));
        let (own, give, take) = match time {
            Time::Timestamp => (
                quote!(::std::time::SystemTime),
                quote!(::nearcall::raw::timestamp),
                quote!(::nearcall::raw::system_time),
            ),
            Time::Duration => (
                quote!(::core::time::Duration),
                quote!(::nearcall::raw::signed_duration),
                quote!(::nearcall::raw::duration),
            ),
        };
        quote! {
            impl ::core::convert::TryFrom<#own> for #name {
                type Error = ::nearcall::OutOfRange;
                fn try_from(time: #own) -> ::core::result::Result<Self, ::nearcall::OutOfRange> {
                    let (seconds, nanos) = #give(time)?;
                    ::core::result::Result::Ok(Self { seconds, nanos })
                }
            }
            impl ::core::convert::TryFrom<#name> for #own {
                type Error = ::nearcall::OutOfRange;
                fn try_from(value: #name) -> ::core::result::Result<Self, ::nearcall::OutOfRange> {
                    #take(value.seconds, value.nanos)
                }
            }
        }
    }
}
