//! Types, and how each is made from C's and the other way round.

use crate::back::c::text::Text;
use crate::back::c::types::{primitive_name, signed};
use crate::back::cpp::Cpp;
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Member, Type, Union, UnionDefault};

impl Cpp<'_, '_> {
    /// What a type is called in C++.
    pub fn type_name(&self, declared: &Type) -> String {
        match declared {
            Type::Primitive(primitive) => primitive_name(*primitive).to_owned(),
            Type::String { .. } | Type::WideString { .. } => String::from("::std::string"),
            Type::Sequence { element, .. } => format!("::std::vector<{}>", self.type_name(element)),
            Type::Array { element, dimensions } => {
                let inner = self.type_name(element);
                let around = |inner, many: &u32| format!("::std::array<{inner}, {many}>");
                dimensions.iter().rev().fold(inner, around)
            }
            Type::Map { key, value, .. } => {
                format!("::std::map<{}, {}>", self.type_name(key), self.type_name(value))
            }
            Type::Named(id) => self.path(*id),
        }
    }

    fn member(&self, member: &Member) -> String {
        let name = self.type_name(&member.declared);
        if member.is_optional { format!("::std::optional<{name}>") } else { name }
    }

    /// Structs and unions by name: values of one may hold another that comes later.
    pub fn print_forwards(&self, text: &mut Text) {
        for id in self.c.ids() {
            if let Kind::Struct(_) | Kind::Union(_) = self.c.model.declaration(id).kind {
                let (space, name) = self.place(id);
                text.line(format!("namespace {space} {{ struct {name}; }}"));
            }
        }
        text.line("");
    }

    /// A declaration that is no interface.
    pub fn print_type(&self, id: DeclarationId, text: &mut Text) {
        let declaration = self.c.model.declaration(id);
        if let Kind::Constant(_) = declaration.kind {
            // A macro of C's header.
            return;
        }
        self.open_space(id, text);
        text.doc(&declaration.doc);
        let name = self.place(id).1;
        match &declaration.kind {
            Kind::Alias(behind) => text.line(format!("using {name} = {};", self.type_name(behind))),
            Kind::Enum(shape) => {
                text.open(format!("enum class {name} : ::std::int32_t {{"));
                for one in &shape.enumerators {
                    text.doc(&one.doc);
                    let name = self.c.names.plain(&one.name);
                    text.line(format!("{name} = {},", signed(one.value.into())));
                }
                text.close("};");
            }
            Kind::Bitmask(_) | Kind::Bitset(_) => {
                text.line(format!("using {name} = ::{};", self.c.names.declaration(id)));
            }
            Kind::Struct(_) => self.print_struct(id, &name, "", text),
            Kind::Exception(_) => self.print_struct(id, &name, " : ::nearcall::exception", text),
            Kind::Union(union) => self.print_union(id, &name, union, text),
            Kind::Constant(_) | Kind::Interface(_) => {}
        }
        self.close_space(text);
    }

    /// Names of the members of a struct or exception: C's, but for what an exception has itself.
    pub fn member_names(&self, id: DeclarationId) -> Vec<String> {
        let all = members(self.c.model, id);
        let is_exception = matches!(self.c.model.declaration(id).kind, Kind::Exception(_));
        let own = is_exception.then_some("what").into_iter();
        let taken = own.clone().count();
        let all = own.chain(all.iter().map(|member| &*member.name));
        self.c.names.beside(all).split_off(taken)
    }

    fn print_struct(&self, id: DeclarationId, name: &str, base: &str, text: &mut Text) {
        let (all, names) = (members(self.c.model, id), self.member_names(id));
        let pairs = || names.iter().zip(self.c.member_names(id));
        text.open(format!("struct {name}{base} {{"));
        for (member, own) in all.iter().zip(&names) {
            text.doc(&member.doc);
            let is_word = !member.is_optional && self.c.scalar(&member.declared).is_some();
            // Others are empty by themselves, and may be of what is not defined yet.
            let zero = if is_word { "{}" } else { "" };
            text.line(format!("{} {own}{zero};", self.member(member)));
        }
        if !base.is_empty() {
            self.print_constructors(&all, &names, name, text);
            let id = &self.c.model.declaration(id).name;
            text.line(format!("const char *what() const noexcept override {{ return \"{id}\"; }}"));
        }
        text.close("};");
        // With its namespace: what a parameter is called may be a type's name.
        let (own, c) = (self.path(id), self.c.names.declaration(id));
        self.open_conversion("give", (&own, c), all.is_empty(), text);
        for (own, c) in pairs() {
            text.line(format!("nc_give(value.{own}, target.{c});"));
        }
        text.close("}");
        self.open_conversion("take", (&own, c), all.is_empty(), text);
        for (own, c) in pairs() {
            text.line(format!("nc_take(value.{c}, target.{own});"));
        }
        text.close("}");
        if base.is_empty() {
            let owning = all.iter().zip(&names).filter(|(one, _)| self.c.owns(&one.declared));
            let held: Vec<String> =
                owning.map(|(_, own)| format!("nc_held_bytes(value.{own})")).collect();
            self.print_held_bytes(&own, &held, text);
        }
    }

    /// An exception with its members at once; none of it is an aggregate, since it has functions.
    fn print_constructors(&self, all: &[&Member], names: &[String], name: &str, text: &mut Text) {
        // No member of a class with constructors may be called as it is.
        if all.is_empty() || names.iter().any(|own| own == name) {
            return;
        }
        let takes: Vec<String> = all
            .iter()
            .zip(names)
            .map(|(one, own)| format!("{} nc_{own}", self.member(one)))
            .collect();
        let moves: Vec<String> =
            names.iter().map(|own| format!("{own}(::std::move(nc_{own}))")).collect();
        let explicit = if all.len() == 1 { "explicit " } else { "" };
        text.line(format!("{name}() = default;"));
        let (takes, moves) = (takes.join(", "), moves.join(", "));
        text.line(format!("{explicit}{name}({takes}) : {moves} {{}}"));
    }

    /// How much memory a value holds, of what its members hold.
    fn print_held_bytes(&self, name: &str, held: &[String], text: &mut Text) {
        let value = if held.is_empty() { "" } else { "value" };
        text.open(format!("inline ::std::size_t nc_held_bytes(const {name} &{value}) {{"));
        if !held.is_empty() {
            text.line("using ::nearcall::detail::nc_held_bytes;");
        }
        let sum = if held.is_empty() { String::from("0") } else { held.join(" +\n       ") };
        text.lines(format!("return {sum};").lines().map(String::from));
        text.close("}");
    }

    fn open_conversion(&self, verb: &str, (name, c): (&str, &str), empty: bool, text: &mut Text) {
        let (value, target) = match verb {
            "give" => (name.to_owned(), format!("::{c}")),
            _ => (format!("::{c}"), name.to_owned()),
        };
        let (value_name, target_name) = if empty { ("", "") } else { ("value", "target") };
        text.open(format!(
            "inline void nc_{verb}(const {value} &{value_name}, {target} &{target_name}) {{"
        ));
        if !empty {
            text.line(format!("using ::nearcall::detail::nc_{verb};"));
        }
    }

    /// The discriminator, and the case that it selects: alternative n + 1 is case n.
    fn print_union(&self, id: DeclarationId, name: &str, union: &Union, text: &mut Text) {
        let (own, c) = (self.path(id), self.c.names.declaration(id));
        let cases: Vec<String> = union.cases.iter().map(|case| self.member(&case.member)).collect();
        text.line(
            "/* Alternative n + 1 is the n-th case; none is for a discriminator of no case. */",
        );
        text.open(format!("struct {name} {{"));
        text.line(format!("{} _d{{}};", self.type_name(&union.discriminator)));
        text.line(format!("::std::variant<::std::monostate, {}> _u;", cases.join(", ")));
        text.close("};");
        let names = self.c.names.beside(union.cases.iter().map(|case| &*case.member.name));
        self.open_conversion("give", (&own, c), false, text);
        text.line("nc_give(value._d, target._d);");
        self.open_switch("target", union, text);
        for (own, index) in names.iter().zip(0u32..) {
            self.c.print_labels(union, index, text);
            let at = index + 1;
            text.line(format!("    if (value._u.index() != {at}) {{"));
            text.line(
                "        throw ::nearcall::call_error(NEARCALL_USAGE, \
                 \"a union's discriminator selects another case\");",
            );
            text.line("    }");
            text.line(format!("    nc_give(::std::get<{at}>(value._u), target._u.{own});"));
            text.line("    break;");
        }
        self.close_switch("", union, text);
        text.close("}");
        self.open_conversion("take", (&own, c), false, text);
        text.line("nc_take(value._d, target._d);");
        self.open_switch("value", union, text);
        for (own, index) in names.iter().zip(0u32..) {
            self.c.print_labels(union, index, text);
            let at = index + 1;
            let alternative = format!("::nearcall::detail::alternative<{at}>(target._u)");
            text.line(format!("    nc_take(value._u.{own}, {alternative});"));
            text.line("    break;");
        }
        self.close_switch("    target._u.emplace<0>();", union, text);
        text.close("}");
        let held = "::std::visit([](const auto &one) { return nc_held_bytes(one); }, value._u)";
        self.print_held_bytes(&own, &[held.to_owned()], text);
    }

    fn open_switch(&self, value: &str, union: &Union, text: &mut Text) {
        let label = self.c.label_type(&union.discriminator);
        text.line(format!("switch (static_cast<{label}>({value}._d)) {{"));
    }

    /// Where the discriminator selects no case, there is nothing but `none` to be done.
    fn close_switch(&self, none: &str, union: &Union, text: &mut Text) {
        if !matches!(union.default, UnionDefault::Case(_)) {
            let lines = ["default:", none, "    break;"];
            text.lines(lines.into_iter().filter(|line| !line.is_empty()).map(String::from));
        }
        text.line("}");
    }
}
