//! What both stubs print alike: steps that write a message and steps that read one.
//!
//! One step becomes one statement. What differs between the two sides is in [`Side`]: the names of
//! what is written to and read from, and what happens to a value that a peer sent and that is none.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::back::rust::Rust;
use crate::back::rust::casing::{Case, cased, ident};
use crate::back::rust::marshal::{counted, each};
use crate::back::rust::names::NameSet;
use crate::layout::{Form, Place, Root, Scalar, Shape, members, root_type, shape};
use crate::model::{DeclarationId, Operation, Primitive, Type};
use crate::plan::{BoundCheck, Check, Copy, Count, Passing, ProcedurePlan, Step};

/// Which stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The call stub.
    Client,
    /// The entry stub.
    Server,
}

/// Prints one stub.
pub struct Printer<'p, 'm> {
    pub rust: &'p Rust<'m>,
    pub scope: usize,
    pub operation: &'m Operation,
    pub plan: &'p ProcedurePlan,
    pub side: Side,
    /// The exception whose members are written or read.
    pub exception: Option<DeclarationId>,
    /// Names of parameters, in the signature of this stub or of the procedure.
    pub parameters: Vec<String>,
    taken: NameSet,
    locals: BTreeMap<(Place, &'static str), Ident>,
    fixed: BTreeMap<&'static str, Ident>,
}

/// Names of the parameters of an operation, no two alike.
pub fn parameter_names(operation: &Operation) -> Vec<String> {
    let mut taken = NameSet::with(&["self_"]);
    let names = operation.parameters.iter().map(|one| cased(&one.name, Case::Snake));
    names.map(|name| taken.take(&name)).collect()
}

impl<'p, 'm> Printer<'p, 'm> {
    /// A printer for one side. Parameters keep their names; locals get out of their way.
    pub fn new(
        rust: &'p Rust<'m>,
        scope: usize,
        operation: &'m Operation,
        plan: &'p ProcedurePlan,
        side: Side,
    ) -> Printer<'p, 'm> {
        let parameters = parameter_names(operation);
        let mut taken = NameSet::default();
        for name in &parameters {
            taken.take(name);
        }
        Printer {
            rust,
            scope,
            operation,
            plan,
            side,
            exception: None,
            parameters,
            taken,
            locals: BTreeMap::new(),
            fixed: BTreeMap::new(),
        }
    }

    /// From here on members are those of this exception.
    pub fn enter_exception(&mut self, id: DeclarationId) {
        self.exception = Some(id);
        self.locals.retain(|(place, _), _| !matches!(place.root, Root::Member(_)));
    }

    /// A local that every stub has once.
    pub fn fixed(&mut self, name: &'static str) -> Ident {
        let taken = &mut self.taken;
        self.fixed.entry(name).or_insert_with(|| ident(&taken.take(name))).clone()
    }

    /// A local that belongs to a place.
    pub fn local(&mut self, place: &Place, suffix: &'static str) -> Ident {
        let key = (place.clone(), suffix);
        if let Some(local) = self.locals.get(&key) {
            return local.clone();
        }
        let name = self.place_name(place) + suffix;
        // On the server a parameter is a local of the same name.
        let is_parameter = matches!(place.root, Root::Parameter(_)) && place.path.is_empty();
        let name = if self.side == Side::Server && is_parameter && suffix.is_empty() {
            name
        } else {
            self.taken.take(&name)
        };
        self.locals.insert(key, ident(&name));
        ident(&name)
    }

    fn place_name(&self, place: &Place) -> String {
        let mut names = vec![self.root_name(place.root)];
        let mut declared = self.root_type(place.root);
        for index in &place.path {
            let Type::Named(id) = self.rust.model.resolved(declared) else { break };
            let member = members(self.rust.model, *id)[*index as usize];
            names.push(cased(&member.name, Case::Snake));
            declared = &member.declared;
        }
        names.join("_")
    }

    fn root_name(&self, root: Root) -> String {
        match (root, self.exception) {
            (Root::Returned, _) => String::from("returned"),
            (Root::Parameter(index), _) => self.parameters[index as usize].clone(),
            (Root::Member(index), Some(id)) => {
                cased(&members(self.rust.model, id)[index as usize].name, Case::Snake)
            }
            (Root::Member(_), None) => String::from("member"),
        }
    }

    /// The interface file's name for what an error is about.
    fn reported_name(&self, root: Root) -> String {
        match (root, self.exception) {
            (Root::Parameter(index), _) => self.operation.parameters[index as usize].name.clone(),
            (Root::Member(index), Some(id)) => {
                members(self.rust.model, id)[index as usize].name.clone()
            }
            _ => String::from("returned"),
        }
    }

    /// The type of a root.
    pub fn root_type(&self, root: Root) -> &'m Type {
        static NOTHING: Type = Type::Primitive(Primitive::Octet);
        // A plan names only roots that the operation has.
        root_type(self.rust.model, self.operation, self.exception, root).unwrap_or(&NOTHING)
    }

    fn place_type(&self, place: &Place) -> &'m Type {
        let mut declared = self.root_type(place.root);
        for index in &place.path {
            let Type::Named(id) = self.rust.model.resolved(declared) else { break };
            declared = &members(self.rust.model, *id)[*index as usize].declared;
        }
        declared
    }

    fn owned(&self, place: &Place) -> TokenStream {
        self.rust.owned(self.scope, self.place_type(place))
    }

    fn passing(&self, root: Root) -> Option<Passing> {
        let Root::Parameter(parameter) = root else { return None };
        let arguments = self.plan.arguments.iter();
        arguments.into_iter().find(|one| one.parameter == parameter).map(|one| one.passing)
    }

    /// Is the root's name, where its value is written, a reference?
    fn is_reference(&self, root: Root) -> bool {
        let passing = self.passing(root);
        self.side == Side::Client && passing.is_some() && passing != Some(Passing::Value)
    }

    /// The place as what a method is called on.
    fn receiver(&mut self, place: &Place) -> TokenStream {
        let mut path = match place.root {
            Root::Member(_) => {
                let raised = self.fixed("raised");
                let field = self.member_name(place.root);
                quote!(#raised.#field)
            }
            Root::Parameter(index) if self.side == Side::Client => {
                let name = ident(&self.parameters[index as usize]);
                quote!(#name)
            }
            root => {
                let local = self.local(&Place::whole(root), "");
                quote!(#local)
            }
        };
        let mut declared = self.root_type(place.root);
        for index in &place.path {
            let Type::Named(id) = self.rust.model.resolved(declared) else { break };
            let field = &self.rust.field_names(*id)[*index as usize];
            path = quote!(#path.#field);
            declared = &members(self.rust.model, *id)[*index as usize].declared;
        }
        path
    }

    fn member_name(&self, root: Root) -> Ident {
        match (root, self.exception) {
            (Root::Member(index), Some(id)) => {
                self.rust.field_names(id)[index as usize].clone()
            }
            _ => ident("member"),
        }
    }

    /// The place as a value that is copied.
    fn copied(&mut self, place: &Place) -> TokenStream {
        let receiver = self.receiver(place);
        let is_reference = place.path.is_empty() && self.is_reference(place.root);
        if is_reference { quote!(*#receiver) } else { receiver }
    }

    /// The place as a reference.
    fn reference(&mut self, place: &Place) -> TokenStream {
        let receiver = self.receiver(place);
        let is_reference = place.path.is_empty() && self.is_reference(place.root);
        if is_reference { receiver } else { quote!(&#receiver) }
    }

    /// What is written to.
    pub fn target(&mut self) -> Ident {
        match self.side {
            Side::Client => self.fixed("call"),
            Side::Server => self.fixed("results"),
        }
    }

    /// What is read from.
    fn source(&mut self) -> Ident {
        match self.side {
            Side::Client => self.fixed("reply"),
            Side::Server => self.fixed("arguments"),
        }
    }

    /// Goes on with the value of a check, or refuses the peer's message.
    fn judged(&mut self, result: TokenStream) -> TokenStream {
        match self.side {
            Side::Client => {
                let reply = self.fixed("reply");
                quote!(#result.map_err(|malformed| #reply.malformed(malformed))?)
            }
            Side::Server => quote!(#result?),
        }
    }

    /// Steps that write a message.
    pub fn write(&mut self, step: &Step) -> TokenStream {
        let target = self.target();
        match step {
            Step::CheckBound { place, count, limit } => self.check_bound(place, *count, *limit),
            Step::Marshal { place, checks } => self.marshal(place, checks),
            Step::PutScalar { place, at, scalar } => {
                let put = format_ident!("put_u{}", scalar.width() * 8);
                let (at, word) = (number(*at), self.word(place, *scalar));
                quote!(#target.#put::<#at>(#word);)
            }
            Step::PutBlock { place, at, .. } => {
                let (at, bytes) = (number(*at), self.element_bytes(place));
                quote!(#target.put_bytes::<#at>(#bytes);)
            }
            Step::PutImage { place, at, .. } => {
                let (at, value) = (number(*at), self.reference(place));
                quote!(#target.put_image::<#at, _>(#value);)
            }
            Step::PutLength { place, at, form } => {
                let (at, length) = (number(*at), self.length(place, *form));
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
            Step::PutPayload { place, form } => {
                let (variable, bytes) = (self.fixed("variable"), self.payload(place, *form));
                quote!(#variable.put(#bytes);)
            }
            _ => TokenStream::new(),
        }
    }

    fn check_bound(&mut self, place: &Place, count: Count, limit: u32) -> TokenStream {
        let check = match self.side {
            Side::Client => quote!(check_bound),
            Side::Server => quote!(check_result),
        };
        let (name, value) = (self.reported_name(place.root), self.receiver(place));
        let (count, limit) = (counted(value, count), number(limit));
        quote!(::nearcall::raw::#check(#name, #count, #limit)?;)
    }

    fn marshal(&mut self, place: &Place, checks: &[BoundCheck]) -> TokenStream {
        let (bytes, name) = (self.local(place, "_bytes"), self.reported_name(place.root));
        let (receiver, value) = (self.receiver(place), self.reference(place));
        let writer = self.fixed("writer");
        let bounds = self.rust.put_bounds(&writer, receiver, &name, checks);
        let is_slice = self.passing(place.root) == Some(Passing::Shared)
            && matches!(self.rust.model.resolved(self.place_type(place)), Type::Sequence { .. });
        let put = if is_slice {
            quote!(#writer.slice(#value);)
        } else {
            quote!(::nearcall::raw::Marshal::marshal(#value, &mut #writer);)
        };
        let finish = match self.side {
            Side::Client => quote!(finish(#name)),
            Side::Server => quote!(finish_results()),
        };
        quote! {
            let #bytes = {
                let mut #writer = ::nearcall::raw::Writer::new();
                #bounds
                #put
                #writer.#finish?
            };
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
            Form::Marshalled => {
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

    /// Steps that read a message.
    pub fn read(&mut self, step: &Step) -> TokenStream {
        let source = self.source();
        match step {
            Step::GetScalar { place, at, scalar, check } => {
                let get = format_ident!("get_u{}", scalar.width() * 8);
                let at = number(*at);
                let value = self.value(quote!(#source.#get::<#at>()), *scalar, *check);
                self.bind(place, value)
            }
            Step::GetBlock { place, at, .. } => {
                let (at, declared) = (number(*at), self.owned(place));
                self.bind(place, quote!(#source.get_element::<#at, #declared>()))
            }
            Step::GetImage { place, at, bytes } => {
                let (at, bytes, declared) = (number(*at), number(*bytes), self.owned(place));
                let value =
                    self.judged(quote!(#source.get_image::<#at, #bytes, #declared>()));
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

    fn bind(&mut self, place: &Place, value: TokenStream) -> TokenStream {
        let is_changed = self.side == Side::Server
            && place.path.is_empty()
            && self.passing(place.root) == Some(Passing::Exclusive);
        let (changed, local) = (is_changed.then(|| quote!(mut)), self.local(place, ""));
        quote!(let #changed #local = #value;)
    }

    /// A word as the value it stands for, judged.
    fn value(&mut self, word: TokenStream, scalar: Scalar, check: Check) -> TokenStream {
        let declared = match scalar {
            Scalar::Enum { id, .. } | Scalar::Bits { id, .. } => self.rust.names.path(self.scope, id),
            Scalar::Primitive(primitive) => super::types::primitive_type(primitive),
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
        let taken = match (form, copy) {
            (Form::Text | Form::WideText, Copy::Private) => quote!(text(#length, #limit)),
            (Form::Text | Form::WideText, _) => quote!(string(#length, #limit)),
            (_, Copy::None) => quote!(lend(#length, #limit)),
            (_, Copy::Into) => {
                let target = self.receiver(place);
                let taken = quote!(#incoming.vec_into(#length, #limit, #target));
                let taken = self.judged(taken);
                return quote!(#taken;);
            }
            (Form::Octets, Copy::Private) => quote!(bytes(#length, #limit)),
            (Form::Octets | Form::Lent, _) => quote!(vec(#length, #limit)),
            (Form::Elements { .. }, _) => {
                let element = match self.rust.model.resolved(self.place_type(place)) {
                    Type::Sequence { element, .. } => self.rust.owned(self.scope, element),
                    _ => quote!(_),
                };
                quote!(elements::<#element>(#length, #limit))
            }
            (Form::Marshalled, _) => {
                let declared = self.owned(place);
                quote!(unmarshal::<#declared>(#length))
            }
        };
        let value = self.judged(quote!(#incoming.#taken));
        self.bind(place, value)
    }

    fn check_inside(&mut self, place: &Place, checks: &[BoundCheck]) -> TokenStream {
        let local = self.local(place, "");
        let mut all = TokenStream::new();
        for check in checks {
            let limit = number(check.limit);
            let one = |item: TokenStream| {
                let count = counted(item, check.count);
                quote!(::nearcall::raw::check_received(#count, #limit))
            };
            let refused = match self.side {
                Side::Client => {
                    let reply = self.fixed("reply");
                    quote!(.map_err(|malformed| #reply.malformed(malformed))?;)
                }
                Side::Server => quote!(?;),
            };
            all.extend(each(quote!(#local), &check.hops, &|item| {
                let result = one(item);
                quote!(#result #refused)
            }));
        }
        all
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
                if fields.is_empty() { quote!(#path) } else { quote!(#path { #(#fields: #values),* }) }
            }
            _ => {
                let local = self.local(place, "");
                quote!(#local)
            }
        }
    }
}

/// A number without its type.
pub fn number(value: u32) -> TokenStream {
    let literal = Literal::u32_unsuffixed(value);
    quote!(#literal)
}
