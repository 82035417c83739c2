//! Random values as Rust expressions.

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::{Definition, RandomInterface, Resolved, Scalar, Shape};

/// Deepest nesting of values; below it sequences are empty.
const DEPTH_MAX: u32 = 3;

/// Makes values, the same for the same seed.
pub struct Values<'i> {
    interface: &'i RandomInterface,
    rng: TestRng,
}

/// How many of the cases of a union are declared: a boolean has but two values.
pub fn cases_max(definition: &Definition) -> usize {
    match definition {
        Definition::Union { is_boolean: true, .. } => 2,
        _ => usize::MAX,
    }
}

impl<'i> Values<'i> {
    /// Values for an interface.
    pub fn new(interface: &'i RandomInterface) -> Values<'i> {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&interface.values_seed.to_le_bytes());
        Values { interface, rng: TestRng::from_seed(RngAlgorithm::ChaCha, &bytes) }
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.rng.next_u64() % limit
    }

    /// A value of a parameter, a result or a member of an exception.
    pub fn value(&mut self, shape: &Shape) -> String {
        self.at_depth(shape, self.interface.definitions.len(), 0)
    }

    fn at_depth(&mut self, shape: &Shape, from: usize, depth: u32) -> String {
        match self.interface.resolved(shape, from) {
            Resolved::Definition(index) => self.defined(index, depth),
            Resolved::Shape(Shape::Scalar(scalar)) => self.scalar(*scalar),
            Resolved::Shape(Shape::Text { is_wide, bound }) => self.text(*is_wide, *bound),
            Resolved::Shape(Shape::Octets { bound }) => self.octets(*bound),
            Resolved::Shape(Shape::Sequence { element, bound }) => {
                let count = self.count(*bound, depth);
                let all: Vec<String> =
                    (0..count).map(|_| self.at_depth(element, from, depth + 1)).collect();
                format!("vec![{}]", all.join(", "))
            }
            Resolved::Shape(Shape::Map { key, value, bound }) => {
                let count = self.count(*bound, depth);
                let all: Vec<String> = (0..count)
                    .map(|_| {
                        let key = self.scalar(*key);
                        format!("({key}, {})", self.at_depth(value, from, depth + 1))
                    })
                    .collect();
                format!("::std::collections::BTreeMap::from([{}])", all.join(", "))
            }
            Resolved::Shape(Shape::Named(_)) => self.scalar(Scalar::Int32),
        }
    }

    fn count(&mut self, bound: Option<u8>, depth: u32) -> u64 {
        if depth >= DEPTH_MAX { 0 } else { self.below(u64::from(bound.unwrap_or(2).min(2)) + 1) }
    }

    fn text(&mut self, is_wide: bool, bound: Option<u8>) -> String {
        let alphabet = ['a', 'Z', ' ', '"', '\\', '\n', 'é', '€', '😀'];
        let mut text = String::new();
        let count = self.below(bound.map_or(40, u64::from) + 1);
        for _ in 0..count {
            let letter = alphabet[self.below(alphabet.len() as u64) as usize];
            let bytes =
                if is_wide { text.chars().count() + 1 } else { text.len() + letter.len_utf8() };
            if bound.is_none_or(|bound| bytes <= usize::from(bound)) {
                text.push(letter);
            }
        }
        format!("::std::string::String::from({text:?})")
    }

    fn octets(&mut self, bound: Option<u16>) -> String {
        let longest = bound.map_or(20_000, u64::from);
        // Mostly short, now and then past the A-stack, now and then the most there may be.
        let count = match self.below(4) {
            0 => longest,
            1 => self.below(longest + 1),
            _ => self.below(longest.min(60) + 1),
        };
        format!("random_interface::octets({}, {count})", self.rng.next_u64())
    }

    /// Values of an exception's members, each behind its name.
    pub fn raised(&mut self, members: &[(Shape, bool)]) -> String {
        self.members(members, self.interface.definitions.len(), 0)
    }

    fn members(&mut self, members: &[(Shape, bool)], from: usize, depth: u32) -> String {
        let mut all = Vec::new();
        for (number, (shape, is_optional)) in members.iter().enumerate() {
            let is_absent = *is_optional && self.below(2) == 0;
            let value = self.at_depth(shape, from, depth);
            all.push(match (is_absent, is_optional) {
                (true, _) => format!("m{number}: None"),
                (false, true) => format!("m{number}: Some({value})"),
                (false, false) => format!("m{number}: {value}"),
            });
        }
        all.join(", ")
    }

    fn defined(&mut self, index: usize, depth: u32) -> String {
        let definition = &self.interface.definitions[index];
        match definition {
            Definition::Struct(members) if members.is_empty() => format!("D{index}"),
            Definition::Struct(members) => {
                let all = self.members(members, index, depth + 1);
                format!("D{index} {{ {all} }}")
            }
            Definition::Tree(shape) => {
                let value = self.at_depth(shape, index, depth + 1);
                let count = self.count(None, depth);
                let below: Vec<String> =
                    (0..count).map(|_| self.defined(index, depth + 1)).collect();
                format!("D{index} {{ m0: {value}, m1: vec![{}] }}", below.join(", "))
            }
            Definition::Enum { count, .. } => {
                format!("D{index}::D{index}V{}", self.below((*count).into()))
            }
            Definition::Bitmask(count) => {
                let bits = self.rng.next_u64() >> (64 - u32::from(*count));
                format!("D{index}::from_bits({bits}).unwrap()")
            }
            Definition::Bitset(widths) => {
                let mut text = format!("{{ let mut bits = D{index}::default(); ");
                for (number, width) in widths.iter().enumerate() {
                    let value = self.rng.next_u64() >> (64 - u32::from(*width));
                    text += &format!("bits.set_f{number}({value}); ");
                }
                text + "bits }"
            }
            Definition::Union { .. } => self.union(index, definition, depth),
            Definition::Array { element, count } => {
                let all: Vec<String> =
                    (0..*count).map(|_| self.at_depth(element, index, DEPTH_MAX)).collect();
                format!("[{}]", all.join(", "))
            }
        }
    }

    fn union(&mut self, index: usize, definition: &Definition, depth: u32) -> String {
        let Definition::Union { cases, has_default, is_boolean } = definition else {
            return String::new();
        };
        let declared = cases.len().min(cases_max(definition));
        let is_covered = *is_boolean && declared == 2;
        let number = self.below(declared as u64 + u64::from(!is_covered)) as usize;
        if number == declared {
            return match (is_boolean, has_default) {
                (true, _) => format!("D{index}::Other(false)"),
                (false, true) => format!("D{index}::Last(77, {})", self.text(false, None)),
                (false, false) => format!("D{index}::Other(-7)"),
            };
        }
        let value = self.at_depth(&cases[number], index, depth + 1);
        match (is_boolean, number) {
            (false, 0) => format!("D{index}::M0({}, {value})", self.below(2)),
            _ => format!("D{index}::M{number}({value})"),
        }
    }

    fn scalar(&mut self, scalar: Scalar) -> String {
        // The ends of a range are where mistakes are.
        let word = match self.below(4) {
            0 => 0,
            1 => u64::MAX,
            _ => self.rng.next_u64(),
        };
        match scalar {
            Scalar::Boolean => (word & 1 == 1).to_string(),
            Scalar::Octet | Scalar::Uint8 => (word as u8).to_string(),
            Scalar::Char => format!("::nearcall::Char({})", word as u8),
            Scalar::WideChar => {
                let letters = ['\0', 'a', 'é', '\u{d7ff}', '\u{e000}', '\u{10ffff}'];
                format!("{:?}", letters[(word % 6) as usize])
            }
            Scalar::Int8 => (word as i8).to_string(),
            Scalar::Int16 => (word as i16).to_string(),
            Scalar::Uint16 => (word as u16).to_string(),
            Scalar::Int32 => (word as i32).to_string(),
            Scalar::Uint32 => (word as u32).to_string(),
            Scalar::Int64 => (word as i64).to_string(),
            Scalar::Uint64 => word.to_string(),
            // Without the top bit of the exponent it is a number.
            Scalar::Float => format!("f32::from_bits({})", word as u32 & !0x4000_0000),
            Scalar::Double => format!("f64::from_bits({})", word & !0x4000_0000_0000_0000),
            Scalar::LongDouble => {
                let bytes: Vec<String> =
                    word.to_le_bytes().iter().map(ToString::to_string).collect();
                let bytes = bytes.join(", ");
                format!("::nearcall::LongDouble([{bytes}, {bytes}])")
            }
        }
    }
}
