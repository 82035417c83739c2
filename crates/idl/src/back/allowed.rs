//! What a value may be, in the words that errors of stubs say it in.

use crate::layout::Range;
use crate::model::{DeclarationId, Kind, Model, Union, Value};

/// Most parts that are told one by one. An error is to fit a line or two.
const PARTS_MAX: usize = 8;

/// `-1.5 to 2.5`, `0 or more`, `'z' or less`.
pub fn within(model: &Model, range: &Range) -> String {
    let word = |value: &Value| word(model, value);
    match (range.least.as_ref().map(word), range.greatest.as_ref().map(word)) {
        (Some(least), Some(greatest)) => format!("{least} to {greatest}"),
        (Some(least), None) => format!("{least} or more"),
        (None, Some(greatest)) => format!("{greatest} or less"),
        (None, None) => String::from("any value"),
    }
}

/// What selects one case of a union, or with `None` what selects none of its members.
pub fn selecting(model: &Model, union: &Union, case: Option<usize>) -> String {
    let labelled = case.map(|index| union.cases[index].labels.as_slice()).unwrap_or_default();
    let is_default =
        case.is_some_and(|index| union.default == crate::model::UnionDefault::Case(index as u32));
    if !is_default && !labelled.is_empty() {
        return one_of(model, labelled);
    }
    let others = union.cases.iter().enumerate().filter(|(index, _)| Some(*index) != case);
    let labels: Vec<Value> = others.flat_map(|(_, case)| case.labels.clone()).collect();
    format!("anything but {}", one_of(model, &labels))
}

/// The discriminators of a oneof of a .proto file, 0 if it is not set.
pub fn set_or_not(model: &Model, union: &Union) -> String {
    let labels = union.cases.iter().flat_map(|case| case.labels.clone());
    one_of(model, &[Value::Integer(0)].into_iter().chain(labels).collect::<Vec<_>>())
}

/// What selects any case of a union whose labels leave nothing over.
pub fn labelled(model: &Model, union: &Union) -> String {
    let labels: Vec<Value> = union.cases.iter().flat_map(|case| case.labels.clone()).collect();
    one_of(model, &labels)
}

/// Every enumerator.
pub fn enumerators(model: &Model, id: DeclarationId) -> String {
    match &model.declaration(id).kind {
        Kind::Enum(shape) => {
            let all = (0..shape.enumerators.len() as u32).map(|at| Value::Enumerator(id, at));
            one_of(model, &all.collect::<Vec<_>>())
        }
        _ => String::from("any value"),
    }
}

/// `1, 2 or 5`; what stands in a row by its ends, and of many parts the first.
fn one_of(model: &Model, values: &[Value]) -> String {
    let mut values = values.to_vec();
    values.sort_by_key(|value| ordinal(model, value));
    let runs = values.chunk_by(|one, next| ordinal(model, one) + 1 == ordinal(model, next));
    let parts = runs.flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{} to {}", word(model, first), word(model, last))],
        few => few.iter().map(|value| word(model, value)).collect(),
    });
    let mut parts: Vec<String> = parts.collect();
    if parts.len() > PARTS_MAX {
        let more = parts.len() - (PARTS_MAX - 1);
        parts.truncate(PARTS_MAX - 1);
        parts.push(format!("one of {more} more"));
    }
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::from("nothing"),
    }
}

fn word(model: &Model, value: &Value) -> String {
    match value {
        Value::Boolean(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Char(value) => format!("{value:?}"),
        Value::String(value) => format!("{value:?}"),
        Value::Enumerator(id, index) => match &model.declaration(*id).kind {
            Kind::Enum(shape) => {
                let one = &shape.enumerators[*index as usize];
                format!("{} ({})", one.name, one.value)
            }
            _ => index.to_string(),
        },
    }
}

/// Where a value stands among those of its type.
fn ordinal(model: &Model, value: &Value) -> i128 {
    match value {
        Value::Boolean(value) => i128::from(*value),
        Value::Integer(value) => *value,
        Value::Char(value) => i128::from(u32::from(*value)),
        Value::Enumerator(id, index) => match &model.declaration(*id).kind {
            Kind::Enum(shape) => shape.enumerators[*index as usize].value.into(),
            _ => i128::from(*index),
        },
        // No labels are of these.
        Value::Float(_) | Value::String(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::front::compile_from;
    use crate::front::options::Options;
    use crate::front::preprocessor::files::InMemory;
    use crate::layout::range;
    use crate::source::SourceMap;

    const TYPES: &str = "
        enum Size { @value(-1) TINY, @value(2) BIG, HUGE };
        union Few switch (long) { case 7: case 1: case 2: case 3: long a; case 9: long b; };
        union Rest switch (char) { case 'a': long a; default: long b; };
        union Many switch (octet) {
            case 2: case 4: case 6: case 8: case 10: case 12: case 14: case 16: case 18: long a;
        };
        struct Ranged {
            @range(min = -1.5, max = 2.5) float both;
            @min(3) long least;
            @max('z') char greatest;
            @max(BIG) Size size;
        };";

    /// What is said of the declaration of this name.
    fn said(name: &str, say: impl Fn(&Model, DeclarationId, &Kind) -> String) -> String {
        let mut files = InMemory::default();
        files.insert("a.idl", TYPES);
        let mut sources = SourceMap::default();
        let path = Path::new("a.idl");
        let compilation = compile_from(&files, path, &Options::default(), &mut sources);
        let model = compilation.model.unwrap_or_else(|| panic!("{:?}", compilation.diagnostics));
        let mut all = (0..).map(DeclarationId);
        let id =
            all.find(|id| model.declaration(*id).name.to_string() == name).expect("it is declared");
        say(&model, id, &model.declaration(id).kind)
    }

    #[test]
    fn ranges_are_told_by_the_ends_that_they_have() {
        let told = said("Ranged", |model, _, kind| {
            let Kind::Struct(shape) = kind else { panic!("a struct") };
            let told = shape.members.iter().map(|member| {
                let range = range(model, &member.annotations, &member.declared);
                within(model, &range.expect("it has one"))
            });
            told.collect::<Vec<_>>().join("; ")
        });
        assert_eq!(told, "-1.5 to 2.5; 3 or more; 'z' or less; BIG (2) or less");
    }

    #[test]
    fn enumerators_are_told_by_name_and_number() {
        let told = said("Size", |model, id, _| enumerators(model, id));
        assert_eq!(told, "TINY (-1), BIG (2) or HUGE (3)");
    }

    #[test]
    fn labels_in_a_row_are_told_by_their_ends_and_of_many_the_first() {
        let told = |name, case| {
            said(name, |model, _, kind| match kind {
                Kind::Union(union) => selecting(model, union, case),
                _ => panic!("a union"),
            })
        };
        assert_eq!(told("Few", Some(0)), "1 to 3 or 7");
        assert_eq!(told("Few", None), "anything but 1 to 3, 7 or 9");
        assert_eq!(told("Rest", Some(0)), "'a'");
        assert_eq!(told("Rest", Some(1)), "anything but 'a'");
        assert_eq!(told("Many", Some(0)), "2, 4, 6, 8, 10, 12, 14 or one of 2 more");
    }
}
