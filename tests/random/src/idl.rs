//! A random interface as an interface file.

use std::fmt::Write as _;

use super::{Definition, Direction, RandomInterface, Resolved, Scalar, Shape};

impl RandomInterface {
    /// The interface file. Everything is in module `name`, the interface is `Random`.
    pub fn idl(&self, name: &str) -> String {
        let mut text = format!("module {name} {{\n");
        for (index, definition) in self.definitions.iter().enumerate() {
            self.definition(index, definition, &mut text);
        }
        for (index, members) in self.exceptions.iter().enumerate() {
            let members = self.members(members, self.definitions.len());
            line(&mut text, format_args!("exception X{index} {{ {members} }};"));
        }
        line(&mut text, format_args!("interface Random {{"));
        for (index, operation) in self.operations.iter().enumerate() {
            let all = self.definitions.len();
            let mut parameters = vec![String::from("in unsigned long round")];
            for (index, parameter) in operation.parameters.iter().enumerate() {
                let opaque = if parameter.is_opaque { "@opaque " } else { "" };
                let direction = match parameter.direction {
                    Direction::In => "in",
                    Direction::Inout => "inout",
                    Direction::Out => "out",
                };
                let shape = self.idl_type(&parameter.shape, all);
                parameters.push(format!("{opaque}{direction} {shape} p{index}"));
            }
            let returns = operation.returns.as_ref().map(|shape| self.idl_type(shape, all));
            let returns = returns.unwrap_or_else(|| String::from("void"));
            let raises = self.raises(operation);
            let raises: Vec<String> = raises.iter().map(|index| format!("X{index}")).collect();
            let raises = match raises.as_slice() {
                [] => String::new(),
                all => format!(" raises ({})", all.join(", ")),
            };
            let parameters = parameters.join(", ");
            line(&mut text, format_args!("    {returns} op{index}({parameters}){raises};"));
        }
        text.push_str("};\n};\n");
        text
    }

    fn definition(&self, index: usize, definition: &Definition, text: &mut String) {
        match definition {
            Definition::Struct(members) => {
                let all = self.members(members, index);
                let appendable = appendable(index);
                line(text, format_args!("{appendable}struct D{index} {{ {all}}};"));
            }
            Definition::Tree(shape) => {
                let shape = self.idl_type(shape, index);
                line(text, format_args!("struct D{index};"));
                line(text, format_args!("typedef sequence<D{index}> D{index}List;"));
                let all = format!("{shape} m0; D{index}List m1; ");
                let appendable = appendable(index);
                line(text, format_args!("{appendable}struct D{index} {{ {all}}};"));
            }
            Definition::Enum { count, is_narrow } => {
                let names: Vec<String> =
                    (0..*count).map(|number| format!("D{index}_V{number}")).collect();
                let bound = if *is_narrow { "@bit_bound(8) " } else { "" };
                line(text, format_args!("{bound}enum D{index} {{ {} }};", names.join(", ")));
            }
            Definition::Bitmask(count) => {
                let names: Vec<String> =
                    (0..*count).map(|number| format!("D{index}_F{number}")).collect();
                let bound = format!("@bit_bound({count}) ");
                line(text, format_args!("{bound}bitmask D{index} {{ {} }};", names.join(", ")));
            }
            Definition::Bitset(widths) => {
                let fields = widths.iter().enumerate();
                let fields: String = fields
                    .map(|(number, width)| format!("bitfield<{width}, unsigned long> f{number}; "))
                    .collect();
                line(text, format_args!("bitset D{index} {{ {fields}}};"));
            }
            Definition::Union { .. } => self.union(index, definition, text),
            Definition::Array { element, count } => {
                let element = self.idl_type(element, index);
                line(text, format_args!("typedef {element} D{index}[{count}];"));
            }
        }
    }

    fn union(&self, index: usize, definition: &Definition, text: &mut String) {
        let Definition::Union { cases, has_default, is_boolean } = definition else {
            return;
        };
        let discriminator = if *is_boolean { "boolean" } else { "long" };
        line(text, format_args!("union D{index} switch ({discriminator}) {{"));
        for (number, shape) in cases.iter().enumerate().take(super::values::cases_max(definition)) {
            let shape = self.idl_type(shape, index);
            let labels = match (is_boolean, number) {
                (true, 0) => String::from("case TRUE:"),
                (true, _) => String::from("case FALSE:"),
                (false, 0) => String::from("case 0: case 1:"),
                (false, number) => format!("case {}:", number + 1),
            };
            line(text, format_args!("    {labels} {shape} m{number};"));
        }
        if *has_default && !is_boolean {
            line(text, format_args!("    default: string last;"));
        }
        line(text, format_args!("}};"));
    }

    fn members(&self, members: &[(Shape, bool)], from: usize) -> String {
        let members = members.iter().enumerate().map(|(number, (shape, is_optional))| {
            let optional = if *is_optional { "@optional " } else { "" };
            format!("{optional}{} m{number}; ", self.idl_type(shape, from))
        });
        members.collect()
    }

    fn idl_type(&self, shape: &Shape, from: usize) -> String {
        let bounded = |bound: Option<u64>| bound.map(|n| format!(", {n}")).unwrap_or_default();
        match self.resolved(shape, from) {
            Resolved::Definition(index) => format!("D{index}"),
            Resolved::Shape(Shape::Scalar(scalar)) => scalar_name(*scalar).to_owned(),
            Resolved::Shape(Shape::Text { is_wide, bound }) => {
                let wide = if *is_wide { "w" } else { "" };
                let bound = bound.map(|bound| format!("<{bound}>")).unwrap_or_default();
                format!("{wide}string{bound}")
            }
            Resolved::Shape(Shape::Octets { bound }) => {
                format!("sequence<octet{}>", bounded(bound.map(u64::from)))
            }
            Resolved::Shape(Shape::Sequence { element, bound }) => {
                let element = self.idl_type(element, from);
                format!("sequence<{element}{}>", bounded(bound.map(u64::from)))
            }
            Resolved::Shape(Shape::Map { key, value, bound }) => {
                let (key, value) = (scalar_name(*key), self.idl_type(value, from));
                format!("map<{key}, {value}{}>", bounded(bound.map(u64::from)))
            }
            Resolved::Shape(Shape::Named(_)) => String::from("long"),
        }
    }
}

/// Every other struct may grow.
fn appendable(index: usize) -> &'static str {
    if index % 2 == 1 { "@appendable " } else { "" }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{line}");
}

fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Boolean => "boolean",
        Scalar::Octet => "octet",
        Scalar::Char => "char",
        Scalar::WideChar => "wchar",
        Scalar::Int8 => "int8",
        Scalar::Uint8 => "uint8",
        Scalar::Int16 => "short",
        Scalar::Uint16 => "unsigned short",
        Scalar::Int32 => "long",
        Scalar::Uint32 => "unsigned long",
        Scalar::Int64 => "long long",
        Scalar::Uint64 => "unsigned long long",
        Scalar::Float => "float",
        Scalar::Double => "double",
        Scalar::LongDouble => "long double",
    }
}
