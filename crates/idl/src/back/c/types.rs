//! Types: what each is called, and their definitions.
//!
//! Every array is a struct with the array in it, so that arrays are values like any other: they
//! can be assigned, returned, and pointed to as constants.

use std::collections::BTreeSet;

use crate::back::c::C;
use crate::back::c::guards::print_guarded;
use crate::back::c::text::Text;
use crate::layout::{Scalar, Shape, members, shape};
use crate::model::{
    Constant, DeclarationId, Enum, Kind, Member, Operation, Primitive, Type, Union, Value,
};

/// The member of a caller's memory that makes it longer.
const GROW: &str = "void *(*_grow)(void *_own, uint32_t count);";

/// Types on their way out.
struct Printed<'t> {
    text: &'t mut Text,
    done: BTreeSet<String>,
    /// Only pointed to so far; defined after what points to them.
    later: Vec<Type>,
}

impl C<'_> {
    /// What a type is called in C.
    pub fn type_name(&self, declared: &Type) -> String {
        match declared {
            Type::Primitive(primitive) => primitive_name(*primitive).to_owned(),
            Type::String { .. } | Type::WideString { .. } => String::from("char *"),
            Type::Named(id) => format!("{}{}", self.global, self.names.declaration(*id)),
            _ => format!("nearcall_{}", self.tag(declared)),
        }
    }

    /// A declarator.
    pub fn declarator(&self, declared: &Type, name: &str) -> String {
        let mut text = self.type_name(declared);
        if !text.ends_with('*') {
            text.push(' ');
        }
        text + name
    }

    /// What a type is called in the names of functions; the same whatever its aliases and bounds.
    pub fn tag(&self, declared: &Type) -> String {
        match self.resolved(declared) {
            Type::Primitive(primitive) => primitive_tag(*primitive).to_owned(),
            Type::String { .. } | Type::WideString { .. } => String::from("text"),
            Type::Sequence { element, .. } => format!("sequence_{}", self.tag(element)),
            Type::Array { element, dimensions } => {
                let all: Vec<String> = dimensions.iter().map(u32::to_string).collect();
                format!("array_{}_{}", all.join("x"), self.tag(element))
            }
            Type::Map { key, value, .. } => {
                format!("map_{}_{}", self.tag(key), self.tag(value))
            }
            Type::Named(id) => self.names.declaration(*id).to_owned(),
        }
    }

    /// Does a type come down to text?
    pub fn is_text(&self, declared: &Type) -> bool {
        matches!(self.resolved(declared), Type::String { .. } | Type::WideString { .. })
    }

    /// The type of a member: a pointer if it is optional, or lies elsewhere.
    pub fn member_declarator(&self, member: &Member, is_boxed: bool, name: &str) -> String {
        match member.is_optional || is_boxed {
            true => format!("{} *{name}", self.type_name(&member.declared)),
            false => self.declarator(&member.declared, name),
        }
    }

    /// Names of the members of a struct or exception.
    pub fn member_names(&self, id: DeclarationId) -> Vec<String> {
        self.names.beside(members(self.model, id).iter().map(|member| &*member.name))
    }

    /// Names of the cases of a union.
    pub fn case_names(&self, union: &Union) -> Vec<String> {
        self.names.beside(union.cases.iter().map(|case| &*case.member.name))
    }

    /// Whether each member lies elsewhere.
    pub fn boxed(&self, id: DeclarationId) -> Vec<bool> {
        match &self.model.declaration(id).kind {
            Kind::Exception(own) => vec![false; own.len()],
            _ => self.type_plan(id).members.iter().map(|member| member.is_boxed).collect(),
        }
    }

    /// Every type, in the order of the text as far as what they hold is there.
    pub fn print_types(&self, text: &mut Text) {
        let mut printed = Printed { text, done: BTreeSet::new(), later: Vec::new() };
        for id in self.order.iter().copied() {
            let declaration = self.model.declaration(id);
            match &declaration.kind {
                Kind::Interface(interface) => {
                    // Parameters may have types without a name.
                    for operation in &interface.operations {
                        let parameters = operation.parameters.iter().map(|one| &one.declared);
                        for declared in parameters.chain(&operation.returns) {
                            self.by_value(&mut printed, declared);
                        }
                        self.print_prealloc(operation, &mut printed);
                    }
                }
                Kind::Constant(constant) => self.print_constant(id, constant, printed.text),
                _ => self.print_declared(id, &mut printed),
            }
            self.catch_up(&mut printed);
        }
    }

    /// Defines what was only pointed to, as far as all that it holds is defined by now.
    fn catch_up(&self, printed: &mut Printed<'_>) {
        let (ready, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut printed.later).into_iter().partition(|declared| {
                let held: Vec<&Type> = match self.resolved(declared) {
                    Type::Map { key, value, .. } => vec![key, value],
                    other => vec![other],
                };
                held.into_iter().all(|held| self.is_defined(printed, held))
            });
        printed.later = waiting;
        for declared in ready {
            match self.resolved(&declared) {
                Type::Map { key, value, .. } => self.print_pair(printed, &declared, (key, value)),
                _ => self.by_value(printed, &declared),
            }
            self.catch_up(printed);
        }
    }

    /// Are the structs and unions that a value holds in itself defined by now?
    fn is_defined(&self, printed: &Printed<'_>, declared: &Type) -> bool {
        match self.resolved(declared) {
            Type::Array { element, .. } => self.is_defined(printed, element),
            Type::Named(id) => match &self.model.declaration(*id).kind {
                Kind::Struct(_) | Kind::Union(_) => {
                    printed.done.contains(self.names.declaration(*id))
                }
                _ => true,
            },
            _ => true,
        }
    }

    fn print_declared(&self, id: DeclarationId, printed: &mut Printed<'_>) {
        let (declaration, name) = (self.model.declaration(id), self.names.declaration(id));
        for (member, is_boxed) in self.held(id) {
            match is_boxed {
                true => self.by_pointer(printed, &member),
                false => self.by_value(printed, &member),
            }
        }
        let mut text = Text::default();
        text.doc(&declaration.doc);
        match &declaration.kind {
            Kind::Alias(behind) => {
                let declarator = self.declarator(behind, name);
                text.line(format!("typedef {declarator};"));
            }
            Kind::Struct(_) | Kind::Exception(_) => self.print_struct(id, &mut text),
            Kind::Union(union) => self.print_union(id, union, &mut text),
            Kind::Enum(shape) => self.print_enum(id, shape, &mut text),
            Kind::Bitmask(shape) => {
                let word = self.word(id);
                text.line(format!("typedef {word} {name};"));
                let names = self.names.beside(shape.flags.iter().map(|(flag, _)| &**flag));
                for ((_, position), flag) in shape.flags.iter().zip(names) {
                    let value = format!("(({name})UINT64_C({}))", 1u64 << position);
                    text.line(format!("#define {name}_{flag} {value}"));
                }
            }
            Kind::Bitset(_) => {
                text.line(format!("typedef {} {name};", self.word(id)));
                self.print_fields(id, &mut text);
            }
            Kind::Constant(_) | Kind::Interface(_) => {}
        }
        print_guarded(name, text, printed.text);
        printed.done.insert(name.to_owned());
    }

    /// Types that values of a declared type hold, and whether only by a pointer.
    fn held(&self, id: DeclarationId) -> Vec<(Type, bool)> {
        match &self.model.declaration(id).kind {
            Kind::Alias(behind) => vec![(behind.clone(), false)],
            Kind::Struct(_) | Kind::Exception(_) => {
                let all = members(self.model, id).into_iter().zip(self.boxed(id));
                all.map(|(member, is_boxed)| {
                    (member.declared.clone(), is_boxed || member.is_optional)
                })
                .collect()
            }
            Kind::Union(union) => {
                let all = union.cases.iter().zip(self.boxed(id));
                all.map(|(case, is_boxed)| {
                    let member = &case.member;
                    (member.declared.clone(), is_boxed || member.is_optional)
                })
                .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Has a type that has no name of its own defined.
    fn by_value(&self, printed: &mut Printed<'_>, declared: &Type) {
        let (tag, resolved) = (self.tag(declared), self.resolved(declared).clone());
        let is_new = |printed: &mut Printed<'_>| printed.done.insert(tag.clone());
        let name = format!("nearcall_{tag}");
        match &resolved {
            Type::Sequence { element, .. } if is_new(printed) => {
                self.by_pointer(printed, element);
                let buffer = format!("{} *_buffer;", self.type_name(self.resolved(element)));
                self.anonymous(printed.text, &name, &["uint32_t _length;", &buffer]);
            }
            Type::Array { element, dimensions } if is_new(printed) => {
                self.by_value(printed, element);
                let all: String = dimensions.iter().map(|many| format!("[{many}]")).collect();
                let items = self.declarator(self.resolved(element), &format!("_at{all};"));
                self.anonymous(printed.text, &name, &[&items]);
            }
            Type::Map { key, value, .. } if is_new(printed) => {
                self.by_value(printed, key);
                self.by_pointer(printed, value);
                let pair = pair_name(&tag);
                printed.text.line(format!("typedef struct {pair} {pair};"));
                let buffer = format!("{pair} *_buffer;");
                self.anonymous(printed.text, &name, &["uint32_t _length;", &buffer]);
                printed.later.push(resolved.clone());
            }
            _ => {}
        }
    }

    /// What a map has many of. A map that is named again does not need it yet.
    fn print_pair(&self, printed: &mut Printed<'_>, map: &Type, (key, value): (&Type, &Type)) {
        self.by_value(printed, value);
        let key = self.declarator(self.resolved(key), "key;");
        let value = self.declarator(self.resolved(value), "value;");
        self.anonymous(printed.text, &pair_name(&self.tag(map)), &[&key, &value]);
    }

    /// Has the records defined that a caller's memory for results is passed in.
    fn print_prealloc(&self, operation: &Operation, printed: &mut Printed<'_>) {
        let passed = operation.parameters.iter().filter_map(|one| self.prealloc(one));
        for (name, element) in passed.chain(self.returned_prealloc(operation)) {
            if printed.done.insert(name.clone()) {
                let buffer = format!("{element} *_buffer;");
                let others = ["uint32_t _length;", "uint32_t _maximum;", GROW, "void *_own;"];
                let members = [&[&*buffer][..], &others].concat();
                self.anonymous(printed.text, &name, &members);
            }
        }
    }

    /// Has a type declared, and later defined.
    fn by_pointer(&self, printed: &mut Printed<'_>, declared: &Type) {
        match self.resolved(declared).clone() {
            Type::Named(id) => {
                let name = self.names.declaration(id);
                if matches!(self.model.declaration(id).kind, Kind::Struct(_) | Kind::Union(_)) {
                    printed.text.line(format!("typedef struct {name} {name};"));
                }
            }
            Type::Array { .. } if !printed.done.contains(&self.tag(declared)) => {
                let name = format!("nearcall_{}", self.tag(declared));
                printed.text.line(format!("typedef struct {name} {name};"));
                printed.later.push(declared.clone());
            }
            _ => self.by_value(printed, declared),
        }
    }

    fn anonymous(&self, text: &mut Text, name: &str, members: &[&str]) {
        let mut own = Text::default();
        own.open(format!("typedef struct {name} {{"));
        own.lines(members.iter().map(|member| (*member).to_owned()));
        own.close(format!("}} {name};"));
        print_guarded(name, own, text);
    }

    fn print_struct(&self, id: DeclarationId, text: &mut Text) {
        let (all, name) = (members(self.model, id), self.names.declaration(id));
        if let Kind::Exception(_) = &self.model.declaration(id).kind {
            let repository_id = &self.model.declaration(id).repository_id;
            text.line(format!("#define ex_{name} {}", quoted(repository_id)));
        }
        text.open(format!("typedef struct {name} {{"));
        let names = self.member_names(id);
        for ((member, name), is_boxed) in all.iter().zip(&names).zip(self.boxed(id)) {
            text.doc(&member.doc);
            text.line(format!("{};", self.member_declarator(member, is_boxed, name)));
        }
        if all.is_empty() {
            text.line("char _empty;");
        }
        text.close(format!("}} {name};"));
    }

    fn print_union(&self, id: DeclarationId, union: &Union, text: &mut Text) {
        let name = self.names.declaration(id);
        text.open(format!("typedef struct {name} {{"));
        text.line(format!("{};", self.declarator(&union.discriminator, "_d")));
        text.open("union {");
        let names = self.case_names(union);
        for ((case, name), is_boxed) in union.cases.iter().zip(&names).zip(self.boxed(id)) {
            text.doc(&case.member.doc);
            text.line(format!("{};", self.member_declarator(&case.member, is_boxed, name)));
        }
        text.close("} _u;");
        text.close(format!("}} {name};"));
    }

    fn print_enum(&self, id: DeclarationId, shape: &Enum, text: &mut Text) {
        let name = self.names.declaration(id);
        text.open(format!("typedef enum {name} {{"));
        for (one, index) in shape.enumerators.iter().zip(0u32..) {
            text.doc(&one.doc);
            let comma = if index as usize + 1 == shape.enumerators.len() { "" } else { "," };
            let enumerator = self.names.enumerator(id, index);
            text.line(format!("{enumerator} = {}{comma}", signed(one.value.into())));
        }
        text.close(format!("}} {name};"));
    }

    /// The word of a bitmask or bitset.
    pub fn word(&self, id: DeclarationId) -> &'static str {
        let width = match shape(self.model, &Type::Named(id)) {
            Shape::Scalar(scalar) => Scalar::width(scalar),
            _ => 8,
        };
        match width {
            1 => "uint8_t",
            2 => "uint16_t",
            4 => "uint32_t",
            _ => "uint64_t",
        }
    }

    fn print_fields(&self, id: DeclarationId, text: &mut Text) {
        let Kind::Bitset(shape) = &self.model.declaration(id).kind else { return };
        let (name, word) = (self.names.declaration(id), self.word(id));
        let names = self.names.beside(shape.fields.iter().map(|field| &*field.name));
        let bits = cast((word, "uint64_t"), "bits");
        for (field, own) in shape.fields.iter().zip(names) {
            let mask = u64::MAX >> (64 - u32::from(field.width.clamp(1, 64)));
            let (declared, at) = (primitive_name(field.declared), field.position);
            let up = 64 - field.position - field.width;
            text.open(format!("NEARCALL_INLINE {declared} {name}_get_{own}({name} bits) {{"));
            let signed = ["int8_t", "int16_t", "int32_t", "int64_t"].contains(&declared);
            match signed {
                // To the top and down again, so that the sign goes with it.
                true => {
                    let shifted = format!("NEARCALL_CAST(int64_t, {bits} << {up})");
                    let down = format!("{shifted} >> {}", 64 - field.width);
                    text.line(format!("return {};", cast(("int64_t", declared), &down)));
                }
                false => {
                    let masked = format!("({bits} >> {at}) & UINT64_C({mask})");
                    text.line(format!("return {};", cast(("uint64_t", declared), &masked)));
                }
            }
            text.close("}");
            let head = format!("NEARCALL_INLINE {name} {name}_set_{own}({name} bits,");
            text.open(format!("{head} {declared} value) {{"));
            let others = format!("({bits} & ~(UINT64_C({mask}) << {at}))");
            let value = cast((declared, "uint64_t"), "value");
            let all = format!("{others} | (({value} & UINT64_C({mask})) << {at})");
            text.line(format!("return {};", cast(("uint64_t", word), &all)));
            text.close("}");
        }
    }

    fn print_constant(&self, id: DeclarationId, constant: &Constant, text: &mut Text) {
        let name = self.names.declaration(id);
        let mut own = Text::default();
        own.doc(&self.model.declaration(id).doc);
        let value = self.value(&constant.declared, &constant.value);
        own.line(format!("#define {name} {value}"));
        print_guarded(name, own, text);
    }

    /// A value as a constant expression.
    pub fn value(&self, declared: &Type, value: &Value) -> String {
        let cast = |text: String| format!("(({})({text}))", self.type_name(declared));
        match value {
            Value::Boolean(value) => value.to_string(),
            Value::Integer(value) => cast(signed(*value)),
            Value::Float(value) => match self.resolved(declared) {
                // Carried and not interpreted: as a double, which its reader may convert.
                Type::Primitive(Primitive::LongDouble) => format!("({value:?})"),
                _ => cast(format!("{value:?}")),
            },
            Value::Char(value) => cast((*value as u32).to_string()),
            Value::String(value) => quoted(value),
            Value::Enumerator(id, index) => self.names.enumerator(*id, *index).to_owned(),
        }
    }

    /// What a discriminator is switched on as.
    pub fn label_type(&self, declared: &Type) -> &'static str {
        match self.resolved(declared) {
            Type::Primitive(Primitive::Uint64) => "uint64_t",
            Type::Primitive(Primitive::Char) => "uint8_t",
            _ => "int64_t",
        }
    }

    /// What chooses among the labels of a union, in functions of a header.
    pub fn chosen(&self, union: &crate::model::Union) -> String {
        let declared = self.type_name(self.resolved(&union.discriminator));
        cast((&declared, self.label_type(&union.discriminator)), "value->_d")
    }

    /// A label of a union as a number.
    pub fn label(&self, value: &Value) -> String {
        match value {
            Value::Boolean(value) => u8::from(*value).to_string(),
            Value::Integer(value) => signed(*value),
            Value::Char(value) => (*value as u32).to_string(),
            Value::Enumerator(id, index) => self.names.enumerator(*id, *index).to_owned(),
            Value::Float(_) | Value::String(_) => String::from("0"),
        }
    }
}

/// A value of one type as one of another, in functions of a header.
fn cast((from, to): (&str, &str), value: &str) -> String {
    match from == to {
        true => String::from(value),
        false => format!("NEARCALL_CAST({to}, {value})"),
    }
}

/// A number as a constant of C, which has no negative ones.
pub fn signed(value: i128) -> String {
    match value {
        -0x8000_0000_0000_0000 => String::from("(-INT64_C(9223372036854775807) - 1)"),
        ..-0x8000_0000 => format!("(-INT64_C({}))", -value),
        -0x8000_0000 => String::from("(-2147483647 - 1)"),
        -0x7fff_ffff..=0x7fff_ffff => value.to_string(),
        0x8000_0000..=0x7fff_ffff_ffff_ffff => format!("INT64_C({value})"),
        _ => format!("UINT64_C({value})"),
    }
}

/// Text as a literal.
pub fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for byte in value.bytes() {
        match byte {
            b'"' | b'\\' => text.extend(['\\', byte as char]),
            // Not followed by a digit that would belong to it: three digits are all there can be.
            b'?' | 0..=31 | 127.. => text += &format!("\\{byte:03o}"),
            _ => text.push(byte as char),
        }
    }
    text.push('"');
    text
}

/// The struct of a key and a value of the map that is called so.
fn pair_name(tag: &str) -> String {
    format!("nearcall_{}", tag.replacen("map_", "pair_", 1))
}

/// A built-in scalar.
pub fn primitive_name(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Boolean => "bool",
        Primitive::Octet | Primitive::Uint8 => "uint8_t",
        Primitive::Char => "char",
        Primitive::WideChar | Primitive::Uint32 => "uint32_t",
        Primitive::Int8 => "int8_t",
        Primitive::Int16 => "int16_t",
        Primitive::Uint16 => "uint16_t",
        Primitive::Int32 => "int32_t",
        Primitive::Int64 => "int64_t",
        Primitive::Uint64 => "uint64_t",
        Primitive::Float => "float",
        Primitive::Double => "double",
        Primitive::LongDouble => "nearcall_long_double",
    }
}

fn primitive_tag(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Boolean => "boolean",
        Primitive::Octet => "octet",
        Primitive::Char => "char",
        Primitive::WideChar => "wchar",
        Primitive::Int8 => "int8",
        Primitive::Uint8 => "uint8",
        Primitive::Int16 => "int16",
        Primitive::Uint16 => "uint16",
        Primitive::Int32 => "int32",
        Primitive::Uint32 => "uint32",
        Primitive::Int64 => "int64",
        Primitive::Uint64 => "uint64",
        Primitive::Float => "float",
        Primitive::Double => "double",
        Primitive::LongDouble => "long_double",
    }
}
