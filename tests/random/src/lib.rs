//! Random interfaces, and programs whose two sides know which values must arrive.
//!
//! ```text
//! interfaces()  strategy ─▶ RandomInterface ─┬─ idl(name)      what the compiler is given
//!                                            └─ program(name)  a server and a client in Rust
//! ```
//!
//! Decides what is in an interface and which values cross; the strategies shrink, and names are
//! chosen only when text is written. Knows the language and its Rust mapping, but neither the
//! compiler nor the runtime. IDL4's `-dtest` is the model.

#![forbid(unsafe_code)]

mod idl;
mod program;
mod values;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// An interface without names.
#[derive(Clone, Debug)]
pub struct RandomInterface {
    definitions: Vec<Definition>,
    /// Members of each, and whether each is optional.
    exceptions: Vec<Vec<(Shape, bool)>>,
    operations: Vec<Operation>,
    values_seed: u64,
    /// About how many scalars a value of each definition has.
    weights: Vec<u64>,
}

/// A heavier definition is not referred to: programs spell values out.
const WEIGHT_MAX: u64 = 40;

/// A type that is declared. Its members are of types declared before it.
#[derive(Clone, Debug)]
enum Definition {
    /// Members, and whether each is optional.
    Struct(Vec<(Shape, bool)>),
    /// A struct with a sequence of itself.
    Tree(Shape),
    /// Number of enumerators, and whether they fit a byte.
    Enum { count: u8, is_narrow: bool },
    /// Number of flags.
    Bitmask(u8),
    /// Widths of the fields.
    Bitset(Vec<u8>),
    /// Cases of a union by number: labels `0, 1`, then one each.
    Union { cases: Vec<Shape>, has_default: bool, is_boolean: bool },
    /// An array.
    Array { element: Shape, count: u32 },
}

/// A type as used.
#[derive(Clone, Debug)]
enum Shape {
    /// A built-in scalar.
    Scalar(Scalar),
    /// A string.
    Text { is_wide: bool, bound: Option<u8> },
    /// A sequence of octets.
    Octets { bound: Option<u16> },
    /// A sequence.
    Sequence { element: Box<Shape>, bound: Option<u8> },
    /// A map.
    Map { key: Scalar, value: Box<Shape>, bound: Option<u8> },
    /// A type declared before, if there is one.
    Named(Index),
}

/// The built-in scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    Boolean,
    Octet,
    Char,
    WideChar,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float,
    Double,
    LongDouble,
}

/// An operation.
#[derive(Clone, Debug)]
struct Operation {
    parameters: Vec<Parameter>,
    returns: Option<Shape>,
    /// Exceptions, by index.
    raises: Vec<Index>,
}

/// A parameter.
#[derive(Clone, Debug)]
struct Parameter {
    direction: Direction,
    shape: Shape,
    /// Sequences of octets only; of the results the first only.
    is_opaque: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    In,
    Inout,
    Out,
}

const KEYS: &[Scalar] = &[
    Scalar::Boolean,
    Scalar::Octet,
    Scalar::Char,
    Scalar::WideChar,
    Scalar::Int16,
    Scalar::Int32,
    Scalar::Uint64,
];

const SCALARS: &[Scalar] = &[
    Scalar::Boolean,
    Scalar::Octet,
    Scalar::Char,
    Scalar::WideChar,
    Scalar::Int8,
    Scalar::Uint8,
    Scalar::Int16,
    Scalar::Uint16,
    Scalar::Int32,
    Scalar::Uint32,
    Scalar::Int64,
    Scalar::Uint64,
    Scalar::Float,
    Scalar::Double,
    Scalar::LongDouble,
];

/// Any interface: some types, some exceptions, at least one operation.
pub fn interfaces() -> impl Strategy<Value = RandomInterface> {
    let exceptions = vec(vec(members(), 0..4), 1..4);
    let parts = (vec(definitions(), 0..12), exceptions, vec(operations(), 1..8), any::<u64>());
    parts.prop_map(|(definitions, exceptions, operations, values_seed)| {
        let weights = Vec::new();
        let mut made =
            RandomInterface { definitions, exceptions, operations, values_seed, weights };
        for index in 0..made.definitions.len() {
            made.weights.push(made.definition_weight(index));
        }
        made
    })
}

/// So many interfaces, the same for the same seed.
pub fn batch(seed: u64, count: usize) -> Vec<RandomInterface> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = interfaces();
    let mut next = || strategy.new_tree(&mut runner).map(|tree| tree.current());
    (0..count).map(|_| next().expect("nothing is filtered out")).collect()
}

/// Octets of a length, the same for the same seed: long values are not spelled out in programs.
pub fn octets(seed: u64, count: usize) -> Vec<u8> {
    let mut word = seed | 1;
    let step = || {
        // Xorshift: any sequence that does not repeat soon will do.
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        word as u8
    };
    std::iter::repeat_with(step).take(count).collect()
}

fn definitions() -> impl Strategy<Value = Definition> {
    prop_oneof![
        4 => vec(members(), 0..6).prop_map(Definition::Struct),
        1 => vec(fixed_shapes(), 1..5).prop_map(|members| {
            Definition::Struct(members.into_iter().map(|member| (member, false)).collect())
        }),
        1 => shapes().prop_map(Definition::Tree),
        1 => (1..6u8, any::<bool>())
            .prop_map(|(count, is_narrow)| Definition::Enum { count, is_narrow }),
        1 => (1..=64u8).prop_map(Definition::Bitmask),
        1 => vec(1..=20u8, 1..4).prop_map(Definition::Bitset),
        2 => (vec(shapes(), 1..4), any::<bool>(), proptest::bool::weighted(0.2)).prop_map(
            |(cases, has_default, is_boolean)| Definition::Union { cases, has_default, is_boolean }
        ),
        1 => (shapes(), 1..4u32)
            .prop_map(|(element, count)| Definition::Array { element, count }),
        1 => (proptest::sample::select(SCALARS), 1..100u32)
            .prop_map(|(element, count)| {
                let element = Shape::Scalar(element);
                Definition::Array { element, count }
            }),
    ]
}

/// Members, and whether each is optional.
fn members() -> impl Strategy<Value = (Shape, bool)> {
    (shapes(), proptest::bool::weighted(0.15))
}

fn fixed_shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        4 => proptest::sample::select(SCALARS).prop_map(Shape::Scalar),
        1 => any::<Index>().prop_map(Shape::Named),
    ]
}

fn shapes() -> impl Strategy<Value = Shape> {
    let bound = || proptest::option::of(1..9u8);
    let leaf = prop_oneof![
        6 => proptest::sample::select(SCALARS).prop_map(Shape::Scalar),
        2 => (any::<bool>(), bound()).prop_map(|(is_wide, bound)| Shape::Text { is_wide, bound }),
        1 => proptest::option::of(1..3000u16).prop_map(|bound| Shape::Octets { bound }),
        5 => any::<Index>().prop_map(Shape::Named),
    ];
    leaf.prop_recursive(3, 6, 2, move |inner| {
        let sequence = (inner.clone(), bound())
            .prop_map(|(element, bound)| Shape::Sequence { element: Box::new(element), bound });
        let map = (proptest::sample::select(KEYS), inner, bound())
            .prop_map(|(key, value, bound)| Shape::Map { key, value: Box::new(value), bound });
        prop_oneof![3 => sequence, 1 => map]
    })
}

fn operations() -> impl Strategy<Value = Operation> {
    let direction = prop_oneof![
        3 => Just(Direction::In),
        1 => Just(Direction::Inout),
        1 => Just(Direction::Out),
    ];
    let parameter = (direction, shapes(), proptest::bool::weighted(0.4))
        .prop_map(|(direction, shape, is_opaque)| Parameter { direction, shape, is_opaque });
    let raises = prop_oneof![2 => vec(any::<Index>(), 0..1), 1 => vec(any::<Index>(), 1..4)];
    let parts = (vec(parameter, 0..9), proptest::option::of(shapes()), raises);
    parts.prop_map(|(mut parameters, returns, raises)| {
        let mut has_lent_result = false;
        for parameter in &mut parameters {
            let is_result = parameter.direction != Direction::In;
            parameter.is_opaque &= matches!(parameter.shape, Shape::Octets { .. });
            parameter.is_opaque &= !(is_result && has_lent_result);
            has_lent_result |= parameter.is_opaque && is_result;
        }
        Operation { parameters, returns, raises }
    })
}

impl RandomInterface {
    /// The type that a shape comes down to, seen from definition `from` or from an operation.
    fn resolved<'i>(&'i self, shape: &'i Shape, from: usize) -> Resolved<'i> {
        match shape {
            Shape::Named(index) => {
                let index = (from > 0).then(|| index.index(from));
                let light = index.filter(|index| self.weights[*index] <= WEIGHT_MAX);
                match light {
                    Some(index) => Resolved::Definition(index),
                    None => Resolved::Shape(&Shape::Scalar(Scalar::Int32)),
                }
            }
            shape => Resolved::Shape(shape),
        }
    }

    /// Weights of the definitions before are known.
    fn definition_weight(&self, index: usize) -> u64 {
        let weight = |shape| self.weight(shape, index);
        match &self.definitions[index] {
            Definition::Struct(members) => members.iter().map(|(shape, _)| weight(shape)).sum(),
            Definition::Tree(shape) => 3 * weight(shape),
            Definition::Union { cases, .. } => cases.iter().map(weight).max().unwrap_or(1),
            // The compiler lays arrays of scalars out in one piece, however long.
            Definition::Array { element: Shape::Scalar(_), .. } => 4,
            Definition::Array { element, count } => u64::from(*count) * weight(element),
            Definition::Enum { .. } | Definition::Bitmask(_) | Definition::Bitset(_) => 1,
        }
    }

    fn weight(&self, shape: &Shape, from: usize) -> u64 {
        match self.resolved(shape, from) {
            Resolved::Definition(index) => self.weights[index],
            Resolved::Shape(Shape::Sequence { element, .. }) => 1 + 2 * self.weight(element, from),
            Resolved::Shape(Shape::Map { value, .. }) => 2 + 2 * self.weight(value, from),
            Resolved::Shape(_) => 1,
        }
    }

    /// Exceptions of an operation, each once.
    fn raises(&self, operation: &Operation) -> Vec<usize> {
        let mut raises: Vec<usize> = Vec::new();
        for index in &operation.raises {
            let index = index.index(self.exceptions.len());
            if !raises.contains(&index) {
                raises.push(index);
            }
        }
        raises
    }
}

/// What a shape is.
#[derive(Clone, Copy, Debug)]
enum Resolved<'i> {
    /// No name.
    Shape(&'i Shape),
    /// The definition of this index.
    Definition(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_batch() {
        let texts = |seed| -> Vec<String> {
            let batch = batch(seed, 3);
            batch.iter().map(|one| one.idl("a") + &one.program("a")).collect()
        };
        assert_eq!(texts(1), texts(1));
        assert_ne!(texts(1), texts(2));
    }
}
