//! Steps that read a message: arguments by the entry stub, results by the call stub. What a peer
//! sent is judged where it is copied (L44).

use crate::back::rust::limits::{Judgement, Subject, word};
use crate::back::rust::stub::{Printer, Side, descriptor_kind, literal, number};
use crate::back::rust::tokens::{Ident, TokenStream, format_ident, quote};
use crate::back::rust::types::primitive_type;
use crate::layout::{Form, Place, Scalar, Shape, shape};
use crate::model::{Primitive, Type};
use crate::plan::{Check, Copy, LimitCheck, Passed, Passing, Step};

impl Printer<'_, '_> {
    /// Steps that read a message.
    pub fn read(&mut self, step: &Step) -> TokenStream {
        let source = self.source();
        match step {
            Step::TakeDescriptors { descriptors } => self.take_descriptors(descriptors),
            Step::GetScalar { place, at, scalar, check } => {
                let get = format_ident!("get_u{}", scalar.width() * 8);
                let at = number(*at);
                let value = self.value(quote!(#source.#get::<#at>()), *scalar, *check);
                self.bind(place, value)
            }
            Step::GetBlock { place, at, .. } => self.get_block(place, *at),
            Step::GetImage { place, at, .. } if self.is_plain(place) => self.get_block(place, *at),
            Step::GetImage { place, at, bytes } => {
                let (at, bytes, declared) = (number(*at), number(*bytes), self.owned(place));
                let value = self.judged(quote!(#source.get_image::<#at, #bytes, #declared>()));
                self.bind(place, value)
            }
            Step::GetLength { place, at } => {
                let (at, length) = (number(*at), self.local(place, "_length"));
                quote!(let #length = #source.get_u32::<#at>();)
            }
            Step::Incoming { at } => {
                let (at, incoming) = (number(*at), self.fixed("incoming"));
                quote!(let mut #incoming = #source.variable::<#at>()?;)
            }
            Step::Take { place, form, copy, limit } => self.take(place, *form, *copy, *limit),
            Step::CheckInside { place, checks } => self.check_inside(place, checks),
            Step::Assemble { root } => {
                let place = Place::whole(*root);
                let value = self.assembled(&place);
                self.bind(&place, value)
            }
            _ => TokenStream::new(),
        }
    }

    fn take_descriptors(&mut self, descriptors: &[Passed]) -> TokenStream {
        let source = self.source();
        let (mut all, mut optional) = (Vec::new(), Vec::new());
        let (mut kinds, mut claims) = (Vec::new(), Vec::new());
        for passed in descriptors {
            let local = self.local(&Place::whole(passed.root), "");
            let kind = descriptor_kind(passed.kind);
            match passed.presence_at.map(number) {
                Some(at) => {
                    optional.push(local);
                    claims.push(quote!((#kind, #source.get_u8::<#at>())));
                }
                None => {
                    all.push(local);
                    kinds.push(kind);
                }
            }
        }
        if optional.is_empty() {
            return quote!(let [#(#all),*] = #source.descriptors([#(#kinds),*])?;);
        }
        quote! {
            let ([#(#all),*], [#(#optional),*]) =
                #source.optional_descriptors([#(#kinds),*], [#(#claims),*])?;
        }
    }

    /// An argument is copied once, to where the procedure finds it; what else is copied becomes
    /// part of a value, or is moved on.
    fn get_block(&mut self, place: &Place, at: u32) -> TokenStream {
        let source = self.source();
        let (at, declared) = (number(at), self.owned(place));
        let is_lent =
            matches!(self.passing(place.root), Some(Passing::Shared | Passing::Exclusive));
        let is_whole = self.side == Side::Server && place.path.is_empty();
        if is_whole && is_lent && !self.is_outlived {
            self.in_rooms.push(place.root);
            let local = self.local(place, "");
            return quote! {
                let mut #local = ::core::mem::MaybeUninit::uninit();
                let #local = #source.get_element_in::<#at, #declared>(&mut #local);
            };
        }
        self.bind(place, quote!(#source.get_element::<#at, #declared>()))
    }

    /// A result is copied once, to where the caller wants it.
    pub fn store_block(&mut self, place: &Place, at: u32, parameter: &Ident) -> TokenStream {
        let source = self.source();
        let (at, declared) = (number(at), self.owned(place));
        quote!(#source.get_element_to::<#at, #declared>(#parameter);)
    }

    fn bind(&mut self, place: &Place, value: TokenStream) -> TokenStream {
        let is_changed = self.side == Side::Server
            && place.path.is_empty()
            && match self.passing(place.root) {
                Some(Passing::LentBoth) => self.is_outlived,
                passing => passing == Some(Passing::Exclusive),
            };
        let (changed, local) = (is_changed.then(|| quote!(mut)), self.local(place, ""));
        quote!(let #changed #local = #value;)
    }

    /// A word as the value it stands for, judged.
    fn value(&mut self, word: TokenStream, scalar: Scalar, check: Check) -> TokenStream {
        let declared = match scalar {
            Scalar::Enum { id, .. } | Scalar::Bits { id, .. } => {
                self.rust.names.path(self.scope, id)
            }
            Scalar::Primitive(primitive) => primitive_type(primitive),
        };
        match (check, scalar) {
            (Check::Boolean, _) => self.judged(quote!(::nearcall::raw::boolean(#word))),
            (Check::Character, _) => self.judged(quote!(::nearcall::raw::character(#word))),
            (Check::Enumerator | Check::Bits, _) => {
                self.judged(quote!(#declared::from_wire(#word)))
            }
            (Check::Any, Scalar::Primitive(Primitive::Char)) => quote!(#declared(#word)),
            (Check::Any, Scalar::Primitive(Primitive::Float | Primitive::Double)) => {
                quote!(#declared::from_bits(#word))
            }
            (
                Check::Any,
                Scalar::Primitive(
                    Primitive::Int8 | Primitive::Int16 | Primitive::Int32 | Primitive::Int64,
                ),
            ) => quote!(#word as #declared),
            _ => word,
        }
    }

    fn take(&mut self, place: &Place, form: Form, copy: Copy, limit: Option<u32>) -> TokenStream {
        let (incoming, length) = (self.fixed("incoming"), self.local(place, "_length"));
        let limit = match limit {
            Some(limit) => number(limit),
            None => quote!(::nearcall::raw::UNBOUNDED),
        };
        // What outlives the stub is for keeps, also what lies in memory that its client has lent.
        let is_lent = copy == Copy::None;
        let copy = if self.is_outlived { Copy::Owned } else { copy };
        let counted = self.counted(place, form);
        let has_room = copy == Copy::Private && (form != Form::Marshalled || counted.is_some());
        let room = has_room.then(|| self.local(place, "_room"));
        let taken = match (form, copy) {
            (Form::Text | Form::WideText, Copy::Private) => {
                quote!(text(#length, #limit, &mut #room))
            }
            (Form::Text | Form::WideText, _) => quote!(string(#length, #limit)),
            _ if is_lent => quote!(lend(#length, #limit)),
            (_, Copy::Into) => {
                let target = self.receiver(place);
                let taken = quote!(#incoming.vec_into(#length, #limit, #target));
                let taken = self.judged(taken);
                return quote!(#taken;);
            }
            (Form::Octets, Copy::Private) => quote!(bytes(#length, #limit, &mut #room)),
            (Form::Octets | Form::Lent, _) => quote!(vec(#length, #limit)),
            (Form::Elements { .. }, _) => {
                let element = match self.rust.model.resolved(self.place_type(place)) {
                    Type::Sequence { element, .. } => self.rust.owned(self.scope, element),
                    _ => quote!(_),
                };
                match copy {
                    Copy::Private => quote!(elements::<#element>(#length, #limit, &mut #room)),
                    _ => quote!(vec_of::<#element>(#length, #limit)),
                }
            }
            (Form::Marshalled, copy) if counted.is_some() => match copy {
                Copy::Private => quote!(counted::<#counted>(#length, &mut #room)),
                _ => quote!(vec_of_counted::<#counted>(#length)),
            },
            (Form::Marshalled, copy) => {
                let declared = self.owned(place);
                match copy {
                    Copy::Private => quote!(unmarshal_kept::<#declared>(#length)),
                    _ => quote!(unmarshal::<#declared>(#length)),
                }
            }
        };
        let value = self.judged(quote!(#incoming.#taken));
        let value = if is_lent && self.is_outlived { quote!(#value.to_vec()) } else { value };
        let room = room.map(|room| quote!(let mut #room = ::nearcall::raw::Room::new();));
        let bound = self.bind(place, value);
        quote!(#room #bound)
    }

    fn check_inside(&mut self, place: &Place, checks: &[LimitCheck]) -> TokenStream {
        let local = self.local(place, "");
        let refused = match self.side {
            Side::Client => {
                let reply = self.fixed("reply");
                quote!(.map_err(|malformed| #reply.malformed(malformed))?;)
            }
            Side::Server => quote!(?;),
        };
        let judgement = Judgement {
            at_most: &|count, limit| {
                let check = quote!(::nearcall::raw::check_received);
                quote!(#check(#count, #limit) #refused)
            },
            beyond: &|range| {
                let word = word(&range.of);
                quote! {
                    ::core::result::Result::<(), _>::Err(
                        ::nearcall::raw::Malformed::range(#word),
                    ) #refused
                }
            },
        };
        self.rust.limits(self.scope, &Subject::value(quote!(#local)), checks, &judgement)
    }

    /// A struct made of the locals of its members.
    fn assembled(&mut self, place: &Place) -> TokenStream {
        let declared = self.place_type(place);
        match shape(self.rust.model, declared) {
            Shape::Leaves(id) => {
                let path = self.rust.names.path(self.scope, id);
                let fields = self.rust.field_names(id);
                let values: Vec<TokenStream> = (0..fields.len() as u32)
                    .map(|index| self.assembled(&place.member(index)))
                    .collect();
                literal(&path, &fields, &values)
            }
            _ => {
                let local = self.local(place, "");
                quote!(#local)
            }
        }
    }
}
