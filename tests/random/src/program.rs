//! A random interface as a program: both sides call the same functions for what must arrive.
//!
//! ```text
//! fn op0_p1(round) -> T          what the client sends, and the server demands
//! fn op0_p1_after(round) -> T    what the server makes of an inout parameter
//! fn op0_result(round) -> R      what the server returns or raises, and the client demands
//! ```

use std::fmt::Write as _;

use super::values::Values;
use super::{
    Definition, Direction, Operation, Parameter, RandomInterface, Resolved, Scalar, Shape,
};

/// Calls of each operation, each with values of its own.
const ROUNDS: u32 = 4;

impl RandomInterface {
    /// Rust for a module: `Server`, which serves the interface whose stubs are at `path`, and
    /// `run`, which calls each of its operations a few times.
    pub fn program(&self, path: &str) -> String {
        let mut writer = Writer {
            interface: self,
            values: Values::new(self),
            functions: String::new(),
            server: String::new(),
            client: String::new(),
        };
        for (index, operation) in self.operations.iter().enumerate() {
            writer.operation(index, operation);
        }
        let Writer { functions, server, client, .. } = writer;
        format!(
            "use {path}::*;\n\
             {functions}\n\
             /// Demands the arguments it knows, returns the results it knows.\n\
             #[derive(Debug)]\n\
             pub struct Server;\n\
             impl RandomServer for Server {{\n{server}}}\n\
             /// Calls every operation, and demands the results.\n\
             pub fn run(client: &RandomClient) {{\n    \
             for round in 0..{ROUNDS} {{\n{client}    }}\n}}\n"
        )
    }

    fn rust_type(&self, shape: &Shape) -> String {
        match self.resolved(shape, self.definitions.len()) {
            Resolved::Definition(index) => format!("D{index}"),
            Resolved::Shape(Shape::Scalar(scalar)) => rust_scalar(*scalar).to_owned(),
            Resolved::Shape(Shape::Text { .. }) => String::from("String"),
            Resolved::Shape(Shape::Octets { .. }) => String::from("Vec<u8>"),
            Resolved::Shape(Shape::Sequence { element, .. }) => {
                format!("Vec<{}>", self.rust_type(element))
            }
            Resolved::Shape(Shape::Map { key, value, .. }) => {
                let (key, value) = (rust_scalar(*key), self.rust_type(value));
                format!("::std::collections::BTreeMap<{key}, {value}>")
            }
            Resolved::Shape(Shape::Named(_)) => String::from("i32"),
        }
    }

    fn borrowed_type(&self, shape: &Shape) -> String {
        match self.resolved(shape, self.definitions.len()) {
            Resolved::Shape(Shape::Text { .. }) => String::from("&str"),
            Resolved::Shape(Shape::Octets { .. }) => String::from("&[u8]"),
            Resolved::Shape(Shape::Sequence { element, .. }) => {
                format!("&[{}]", self.rust_type(element))
            }
            _ => format!("&{}", self.rust_type(shape)),
        }
    }

    /// Is it passed by value?
    fn is_word(&self, shape: &Shape) -> bool {
        match self.resolved(shape, self.definitions.len()) {
            Resolved::Definition(index) => matches!(
                self.definitions[index],
                Definition::Enum { .. } | Definition::Bitmask(_) | Definition::Bitset(_)
            ),
            Resolved::Shape(Shape::Scalar(scalar)) => *scalar != Scalar::LongDouble,
            Resolved::Shape(Shape::Named(_)) => true,
            Resolved::Shape(_) => false,
        }
    }
}

struct Writer<'i> {
    interface: &'i RandomInterface,
    values: Values<'i>,
    functions: String,
    server: String,
    client: String,
}

/// Adds a line; writing to a string does not fail.
macro_rules! line {
    ($text:expr, $($arguments:tt)*) => {{
        let _ = writeln!($text, $($arguments)*);
    }};
}

impl Writer<'_> {
    fn operation(&mut self, index: usize, operation: &Operation) {
        for (number, parameter) in operation.parameters.iter().enumerate() {
            if parameter.direction != Direction::Out {
                self.function(&format!("op{index}_p{number}"), &parameter.shape);
            }
            if parameter.direction == Direction::Inout {
                self.function(&format!("op{index}_p{number}_after"), &parameter.shape);
            }
            if parameter.direction == Direction::Out && parameter.is_opaque {
                self.function(&format!("op{index}_p{number}_after"), &parameter.shape);
            }
        }
        self.result(index, operation);
        self.serve(index, operation);
        self.call(index, operation);
        self.post(index, operation);
    }

    /// A function that knows a value for each round.
    fn function(&mut self, name: &str, shape: &Shape) {
        let declared = self.interface.rust_type(shape);
        line!(self.functions, "#[allow(clippy::type_complexity)]");
        line!(self.functions, "fn {name}(round: u32) -> {declared} {{\n    match round {{");
        for round in 1..ROUNDS {
            let value = self.values.value(shape);
            line!(self.functions, "        {round} => {value},");
        }
        let value = self.values.value(shape);
        line!(self.functions, "        _ => {value},\n    }}\n}}");
    }

    fn results<'o>(&self, operation: &'o Operation) -> Vec<&'o Shape> {
        let out = operation
            .parameters
            .iter()
            .filter(|parameter| parameter.direction == Direction::Out && !parameter.is_opaque);
        operation.returns.iter().chain(out.map(|parameter| &parameter.shape)).collect()
    }

    fn result_type(&self, index: usize, operation: &Operation) -> String {
        let types: Vec<String> =
            self.results(operation).into_iter().map(|one| self.interface.rust_type(one)).collect();
        let results = match types.as_slice() {
            [one] => one.clone(),
            all => format!("({})", all.join(", ")),
        };
        match self.interface.raises(operation).is_empty() {
            true => results,
            false => format!("Result<{results}, RandomOp{index}Exception>"),
        }
    }

    fn result(&mut self, index: usize, operation: &Operation) {
        let declared = self.result_type(index, operation);
        line!(self.functions, "#[allow(clippy::type_complexity)]");
        line!(
            self.functions,
            "fn op{index}_result(round: u32) -> {declared} {{\n    match round {{"
        );
        for round in (1..=ROUNDS).rev() {
            let value = self.outcome(index, operation);
            let pattern = if round == 1 { String::from("_") } else { (round - 1).to_string() };
            line!(self.functions, "        {pattern} => {value},");
        }
        line!(self.functions, "    }}\n}}");
    }

    /// Results, or one of the exceptions.
    fn outcome(&mut self, index: usize, operation: &Operation) -> String {
        let raises = self.interface.raises(operation);
        let which = self.values.below(raises.len() as u64 + 1) as usize;
        let interface = self.interface;
        if let Some(exception) = which.checked_sub(1).map(|which| raises[which]) {
            let members = self.values.raised(&interface.exceptions[exception]);
            let members = match members.as_str() {
                "" => String::new(),
                all => format!(" {{ {all} }}"),
            };
            return format!("Err(RandomOp{index}Exception::X{exception}(X{exception}{members}))");
        }
        let shapes = self.results(operation);
        let values: Vec<String> = shapes.into_iter().map(|one| self.values.value(one)).collect();
        let results = match values.as_slice() {
            [one] => one.clone(),
            all => format!("({})", all.join(", ")),
        };
        if raises.is_empty() { results } else { format!("Ok({results})") }
    }

    fn serve(&mut self, index: usize, operation: &Operation) {
        let mut parameters = vec![String::from("round: u32")];
        let mut body = String::new();
        for (number, parameter) in operation.parameters.iter().enumerate() {
            let name = format!("p{number}");
            let value = format!("op{index}_p{number}");
            let Parameter { direction, shape, is_opaque } = parameter;
            match (direction, is_opaque) {
                (Direction::In, true) => {
                    parameters.push(format!("{name}: ::nearcall::Opaque<'_>"));
                    line!(body, "        assert_eq!({name}.to_vec(), {value}(round));");
                }
                (Direction::In, false) if self.interface.is_word(shape) => {
                    parameters.push(format!("{name}: {}", self.interface.rust_type(shape)));
                    line!(body, "        assert_eq!({name}, {value}(round));");
                }
                (Direction::In, false) => {
                    parameters.push(format!("{name}: {}", self.interface.borrowed_type(shape)));
                    line!(body, "        assert_eq!(*{name}, {value}(round));");
                }
                (Direction::Inout, false) => {
                    parameters.push(format!("{name}: &mut {}", self.interface.rust_type(shape)));
                    line!(body, "        assert_eq!(*{name}, {value}(round));");
                    line!(body, "        *{name} = {value}_after(round);");
                }
                (Direction::Inout, true) => {
                    parameters.push(format!("{name}: ::nearcall::Opaque<'_>"));
                    parameters.push(format!("mut {name}_out: ::nearcall::OpaqueOut<'_>"));
                    line!(body, "        assert_eq!({name}.to_vec(), {value}(round));");
                    line!(body, "        {name}_out.put(&{value}_after(round)).unwrap();");
                }
                (Direction::Out, true) => {
                    parameters.push(format!("mut {name}: ::nearcall::OpaqueOut<'_>"));
                    line!(body, "        {name}.put(&{value}_after(round)).unwrap();");
                }
                (Direction::Out, false) => {}
            }
        }
        let (parameters, output) = (parameters.join(", "), self.result_type(index, operation));
        line!(self.server, "    fn op{index}(&self, {parameters}) -> {output} {{");
        line!(self.server, "{body}        op{index}_result(round)\n    }}");
    }

    fn call(&mut self, index: usize, operation: &Operation) {
        let mut arguments = vec![String::from("round")];
        let (mut before, mut after) = (String::new(), String::new());
        for (number, parameter) in operation.parameters.iter().enumerate() {
            let value = format!("op{index}_p{number}");
            match (parameter.direction, parameter.is_opaque) {
                (Direction::In, _) if self.interface.is_word(&parameter.shape) => {
                    arguments.push(format!("{value}(round)"));
                }
                (Direction::In, _) => arguments.push(format!("&{value}(round)")),
                (Direction::Inout, _) => {
                    line!(before, "            let mut p{number} = {value}(round);");
                    line!(after, "                assert_eq!(p{number}, {value}_after(round));");
                    arguments.push(format!("&mut p{number}"));
                }
                (Direction::Out, true) => {
                    line!(before, "            let mut p{number} = vec![1, 2, 3];");
                    line!(after, "                assert_eq!(p{number}, {value}_after(round));");
                    arguments.push(format!("&mut p{number}"));
                }
                (Direction::Out, false) => {}
            }
        }
        let call = format!("client.op{index}({})", arguments.join(", "));
        line!(self.client, "        {{\n{before}            let got = {call};");
        if self.interface.raises(operation).is_empty() {
            line!(self.client, "            assert_eq!(got.unwrap(), op{index}_result(round));");
            line!(self.client, "            {{\n{after}            }}\n        }}");
            return;
        }
        line!(self.client, "            let got = match got {{");
        let call_error = "Err(::nearcall::Error::Call(error)) => panic!(\"{error}\")";
        line!(self.client, "                {call_error},");
        line!(
            self.client,
            "                Err(::nearcall::Error::Exception(raised)) => Err(raised),"
        );
        line!(self.client, "                Ok(results) => Ok(results),\n            }};");
        line!(self.client, "            assert_eq!(got, op{index}_result(round));");
        line!(self.client, "            if got.is_ok() {{\n{after}            }}\n        }}");
    }
}

impl Writer<'_> {
    /// The same call, posted and then collected: all that the procedure changes comes back.
    fn post(&mut self, index: usize, operation: &Operation) {
        let mut arguments = vec![String::from("round")];
        let (mut collected, mut results, mut after) = (Vec::new(), Vec::new(), String::new());
        if operation.returns.is_some() {
            collected.push(String::from("returned"));
            results.push(String::from("returned"));
        }
        for (number, parameter) in operation.parameters.iter().enumerate() {
            let value = format!("op{index}_p{number}");
            let is_word = self.interface.is_word(&parameter.shape);
            match parameter.direction {
                Direction::Out => {}
                _ if is_word => arguments.push(format!("{value}(round)")),
                _ => arguments.push(format!("&{value}(round)")),
            }
            match (parameter.direction, parameter.is_opaque) {
                (Direction::In, _) => continue,
                (Direction::Out, false) => results.push(format!("p{number}")),
                _ => line!(after, "                assert_eq!(p{number}, {value}_after(round));"),
            }
            collected.push(format!("p{number}"));
        }
        let tuple = |names: &[String]| match names {
            [one] => one.clone(),
            all => format!("({})", all.join(", ")),
        };
        let (collected, results) = (tuple(&collected), tuple(&results));
        let posted = format!("client.posting().op{index}({}).unwrap()", arguments.join(", "));
        if self.interface.raises(operation).is_empty() {
            line!(
                self.client,
                "        {{\n            let {collected} = {posted}.collect().unwrap();"
            );
            line!(self.client, "            assert_eq!({results}, op{index}_result(round));");
            line!(self.client, "{after}        }}");
            return;
        }
        line!(
            self.client,
            "        match {posted}.collect() {{\n            Ok({collected}) => {{"
        );
        line!(self.client, "                assert_eq!(Ok({results}), op{index}_result(round));");
        line!(self.client, "{after}            }}");
        line!(self.client, "            Err(::nearcall::Error::Exception(raised)) => {{");
        line!(self.client, "                assert_eq!(Err(raised), op{index}_result(round));");
        line!(self.client, "            }}");
        let call_error = "Err(::nearcall::Error::Call(error)) => panic!(\"{error}\")";
        line!(self.client, "            {call_error},\n        }}");
    }
}

fn rust_scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Boolean => "bool",
        Scalar::Octet | Scalar::Uint8 => "u8",
        Scalar::Char => "::nearcall::Char",
        Scalar::WideChar => "char",
        Scalar::Int8 => "i8",
        Scalar::Int16 => "i16",
        Scalar::Uint16 => "u16",
        Scalar::Int32 => "i32",
        Scalar::Uint32 => "u32",
        Scalar::Int64 => "i64",
        Scalar::Uint64 => "u64",
        Scalar::Float => "f32",
        Scalar::Double => "f64",
        Scalar::LongDouble => "::nearcall::LongDouble",
    }
}
