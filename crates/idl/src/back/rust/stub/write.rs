//! Steps that write a message: arguments by the call stub, results by the entry stub.

use crate::back::rust::limits::{Subject, counted};
use crate::back::rust::stub::{Printer, Side, descriptor_kind, number};
use crate::back::rust::tokens::{TokenStream, format_ident, quote};
use crate::layout::{Form, Place, Scalar};
use crate::model::{Primitive, Type};
use crate::plan::{Count, Limit, LimitCheck, Passed, Passing, Step};

impl Printer<'_, '_> {
    /// Steps that write a message.
    pub fn write(&mut self, step: &Step) -> TokenStream {
        let target = self.target();
        match step {
            Step::CheckBound { place, count, limit } => self.check_bound(place, *count, *limit),
            Step::CheckRange { place, .. } if self.is_judged(place) => TokenStream::new(),
            Step::CheckRange { place, checks } => self.check_range(place, checks),
            Step::Marshal { place, .. } if self.is_written(place) => TokenStream::new(),
            Step::Marshal { place, checks } => self.marshal(place, checks),
            Step::PutPresence { root, at } => {
                let (at, value) = (number(*at), self.receiver(&Place::whole(*root)));
                quote!(#target.put_u8::<#at>(u8::from(#value.is_some()));)
            }
            Step::ExpectDescriptors => quote!(#target.expect_descriptors();),
            Step::PutDescriptors { descriptors } => self.put_descriptors(descriptors),
            Step::PutScalar { place, at, scalar } => {
                let put = format_ident!("put_u{}", scalar.width() * 8);
                let (at, word) = (number(*at), self.word(place, *scalar));
                quote!(#target.#put::<#at>(#word);)
            }
            Step::PutBlock { place, at, .. } => self.put_block(place, *at),
            Step::PutImage { place, at, .. } if self.is_plain(place) => self.put_block(place, *at),
            Step::PutImage { place, at, .. } => {
                let (at, value) = (number(*at), self.reference(place));
                quote!(#target.put_image::<#at, _>(#value);)
            }
            Step::PutLength { place, at, form } => {
                let (at, length) = (number(*at), self.length(place, *form));
                if self.is_opaque_argument(place) {
                    let argument = self.receiver(place);
                    return quote!(#target.put_u32::<#at>(#argument.length_word()););
                }
                quote!(#target.put_u32::<#at>(#length as u32);)
            }
            Step::PutLentLength { at, .. } => {
                let at = number(*at);
                let lent = self.fixed("lent_bytes");
                quote!(let #lent = #target.lent_bytes(); #target.put_u32::<#at>(#lent);)
            }
            Step::Variable { at, payloads } => {
                let (at, variable) = (number(*at), self.fixed("variable"));
                let bytes = payloads.iter().map(|(place, form)| {
                    if self.is_opaque_argument(place) {
                        let argument = self.receiver(place);
                        return quote!(#argument.payload_bytes());
                    }
                    let length = self.length(place, *form);
                    let bytes = match form {
                        Form::Elements { width } if *width > 1 => {
                            let width = number(*width);
                            quote!((#length as u64 * #width))
                        }
                        _ => quote!((#length as u64)),
                    };
                    quote!(#bytes.next_multiple_of(8))
                });
                let bytes: Vec<TokenStream> = bytes.collect();
                quote!(let mut #variable = #target.variable::<#at>(#(#bytes)+*)?;)
            }
            Step::PutPayload { place, form } => self.put_payload(place, *form),
            _ => TokenStream::new(),
        }
    }

    fn put_block(&mut self, place: &Place, at: u32) -> TokenStream {
        let (target, at, bytes) = (self.target(), number(at), self.element_bytes(place));
        quote!(#target.put_bytes::<#at>(#bytes);)
    }

    fn put_payload(&mut self, place: &Place, form: Form) -> TokenStream {
        let variable = self.fixed("variable");
        if self.is_opaque_argument(place) {
            let argument = self.receiver(place);
            return quote!(#variable.put_opaque(#argument););
        }
        if self.counted(place, form).is_some() {
            let elements = self.reference(place);
            return quote!(#variable.put_counted(#elements););
        }
        let bytes = self.payload(place, form);
        quote!(#variable.put(#bytes);)
    }

    fn put_descriptors(&mut self, descriptors: &[Passed]) -> TokenStream {
        let target = self.target();
        let has_optional = descriptors.iter().any(|passed| passed.presence_at.is_some());
        let passed = descriptors.iter().map(|passed| {
            let kind = descriptor_kind(passed.kind);
            let value = self.receiver(&Place::whole(passed.root));
            let value = match (self.side, passed.presence_at) {
                (Side::Client, _) => quote!(#value),
                (Side::Server, None) => quote!(::std::os::fd::AsFd::as_fd(&#value)),
                (Side::Server, Some(_)) => {
                    quote!(#value.as_ref().map(::std::os::fd::AsFd::as_fd))
                }
            };
            let value = match has_optional && passed.presence_at.is_none() {
                true => quote!(::core::option::Option::Some(#value)),
                false => value,
            };
            match self.side {
                Side::Client => {
                    let name = self.reported_name(passed.root);
                    quote!((#name, #kind, #value))
                }
                Side::Server => quote!((#kind, #value)),
            }
        });
        let passed: Vec<TokenStream> = passed.collect();
        match has_optional {
            true => quote!(#target.put_each_descriptor(&[#(#passed),*])?;),
            false => quote!(#target.put_descriptors([#(#passed),*])?;),
        }
    }

    /// An `@opaque` in argument, which may be lent already.
    fn is_opaque_argument(&self, place: &Place) -> bool {
        self.side == Side::Client && self.passing(place.root) == Some(Passing::Lent)
    }

    fn check_bound(&mut self, place: &Place, count: Count, limit: u32) -> TokenStream {
        let check = match self.side {
            Side::Client => quote!(check_bound),
            Side::Server => quote!(check_result),
        };
        let (name, value) = (self.reported_name(place.root), self.receiver(place));
        let (count, limit) = (counted(&value, count), number(limit));
        quote!(::nearcall::raw::#check(#name, #count, #limit)?;)
    }

    fn marshal(&mut self, place: &Place, checks: &[LimitCheck]) -> TokenStream {
        if self.counted(place, Form::Marshalled).is_some() {
            // Nothing inside of it is judged: its own bound is all there can be.
            let bounds = checks.iter().filter_map(|check| match check.limit {
                Limit::AtMost { count, limit } => Some(self.check_bound(place, count, limit)),
                Limit::Within(_) => None,
            });
            return bounds.collect();
        }
        let (bytes, name) = (self.local(place, "_bytes"), self.reported_name(place.root));
        let (writer, value) = (self.fixed("writer"), self.reference(place));
        let limits = self.written_limits(place, checks);
        let is_slice = self.passing(place.root) == Some(Passing::Shared)
            && matches!(self.rust.model.resolved(self.place_type(place)), Type::Sequence { .. });
        let put = if is_slice {
            quote!(#writer.slice(#value);)
        } else {
            quote!(::nearcall::raw::Marshal::marshal(#value, &mut #writer);)
        };
        let finish = self.finish(&name);
        quote! {
            let #bytes = {
                let mut #writer = ::nearcall::raw::Writer::new();
                #limits
                #put
                #writer.#finish?
            };
        }
    }

    /// An empty payload carries the breach of a range to whoever is told.
    fn check_range(&mut self, place: &Place, checks: &[LimitCheck]) -> TokenStream {
        let (writer, name) = (self.fixed("writer"), self.reported_name(place.root));
        let (limits, finish) = (self.written_limits(place, checks), self.finish(&name));
        quote! {
            {
                let mut #writer = ::nearcall::raw::Writer::new();
                #limits
                #writer.#finish?;
            }
        }
    }

    fn written_limits(&mut self, place: &Place, checks: &[LimitCheck]) -> TokenStream {
        let (writer, name) = (self.fixed("writer"), self.reported_name(place.root));
        let (receiver, copied) = (self.receiver(place), self.copied(place));
        let reference = quote!(&#copied);
        let subject = Subject { receiver, reference };
        self.rust.write_limits(self.scope, &writer, &subject, &name, checks)
    }

    fn finish(&self, name: &str) -> TokenStream {
        match self.side {
            Side::Client => quote!(finish(#name)),
            Side::Server => quote!(finish_results()),
        }
    }

    /// A value as the word that is stored.
    fn word(&mut self, place: &Place, scalar: Scalar) -> TokenStream {
        let (receiver, value) = (self.receiver(place), self.copied(place));
        match scalar {
            Scalar::Enum { .. } | Scalar::Bits { .. } => quote!(#receiver.to_wire()),
            Scalar::Primitive(primitive) => match primitive {
                Primitive::Boolean => quote!(u8::from(#value)),
                Primitive::WideChar => quote!(u32::from(#value)),
                Primitive::Char => quote!(#receiver.0),
                Primitive::Int8 => quote!(#value as u8),
                Primitive::Int16 => quote!(#value as u16),
                Primitive::Int32 => quote!(#value as u32),
                Primitive::Int64 => quote!(#value as u64),
                Primitive::Float | Primitive::Double => quote!(#receiver.to_bits()),
                _ => value,
            },
        }
    }

    fn element_bytes(&mut self, place: &Place) -> TokenStream {
        let value = self.reference(place);
        match self.rust.model.resolved(self.place_type(place)) {
            Type::Array { element, dimensions } if dimensions.len() == 1 => {
                match self.rust.model.resolved(element) {
                    Type::Primitive(Primitive::Octet | Primitive::Uint8) => value,
                    _ => quote!(::nearcall::raw::element_bytes(#value)),
                }
            }
            Type::Array { .. } => quote!(::nearcall::raw::element_bytes(#value)),
            _ => quote!(::nearcall::raw::element_bytes(::core::slice::from_ref(#value))),
        }
    }

    fn length(&mut self, place: &Place, form: Form) -> TokenStream {
        match form {
            Form::Marshalled if self.counted(place, form).is_some() => {
                let elements = self.reference(place);
                quote!(::nearcall::raw::counted_bytes(#elements))
            }
            Form::Marshalled if !self.is_written(place) => {
                let bytes = self.local(place, "_bytes");
                quote!(#bytes.len())
            }
            _ => {
                let value = self.receiver(place);
                quote!(#value.len())
            }
        }
    }

    fn payload(&mut self, place: &Place, form: Form) -> TokenStream {
        match form {
            Form::Text | Form::WideText => {
                let value = self.receiver(place);
                quote!(#value.as_bytes())
            }
            Form::Octets | Form::Lent => self.reference(place),
            Form::Marshalled if self.is_written(place) => self.reference(place),
            Form::Elements { .. } => {
                let value = self.reference(place);
                quote!(::nearcall::raw::element_bytes(#value))
            }
            Form::Marshalled => {
                let bytes = self.local(place, "_bytes");
                quote!(&#bytes)
            }
        }
    }
}
