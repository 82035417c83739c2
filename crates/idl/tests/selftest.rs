//! The values of self-tests: each within its bounds and ranges, and between them everything that
//! an interface can say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use nearcall_idl::front::compile;
use nearcall_idl::front::options::Options;
use nearcall_idl::layout::{members, range};
use nearcall_idl::model::{
    Annotation, DeclarationId, Kind, Model, Type, UnionDefault, Value as Label,
};
use nearcall_idl::plan::FeedWay;
use nearcall_idl::selftest::{
    Answer, OPENED_BYTES_MAX, SHOWN_BYTES_MAX, Selftest, Value, element, label, shortened, shown,
};
use nearcall_idl::source::SourceMap;

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

fn model(path: &Path) -> Model {
    let options =
        Options { include_directories: vec![tests().join("idl/good")], ..Options::default() };
    let compilation = compile(path, &options, &mut SourceMap::default());
    compilation.model.unwrap_or_else(|| panic!("{} has a mistake", path.display()))
}

/// Every model that a self-test can be made of.
fn models() -> Vec<Model> {
    let mut models = Vec::new();
    for folder in ["matrix/idl", "idl/good", "idl/rust"] {
        for entry in std::fs::read_dir(tests().join(folder)).expect("it is there") {
            let path = entry.expect("it can be listed").path();
            let end = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            if end == "idl" || end == "proto" {
                models.push(model(&path));
            }
        }
    }
    models.retain(|model| Selftest::new(model, 1).is_ok());
    assert!(models.len() >= 20, "only {} models", models.len());
    models
}

/// Every value at the top of a call, with its type and the annotations of its place.
fn each(model: &Model, seed: u64, mut seen: impl FnMut(&Type, &[Annotation], &Value)) {
    let test = Selftest::new(model, seed).expect("models() has asked");
    for interface in &test.interfaces {
        let Kind::Interface(found) = &model.declaration(interface.id).kind else {
            panic!("it is no interface");
        };
        for (operation, calls) in interface.calls(found) {
            for round in &calls.rounds {
                if let (Some(feed), Some(items)) = (&calls.feed, &round.items) {
                    // However many: the bound is that of a batch.
                    let element = Box::new(feed.item.clone());
                    seen(&Type::Sequence { element, bound: None }, &[], items);
                }
                let parameters = operation.parameters.iter();
                let mut both = |values: &[Option<Value>]| {
                    for (parameter, value) in parameters.clone().zip(values) {
                        if let Some(value) = value {
                            seen(&parameter.declared, &parameter.annotations, value);
                        }
                    }
                };
                both(&round.given);
                match &round.answer {
                    Answer::Returned { returned, changed } => {
                        both(changed);
                        let ended = match calls.feed.as_ref().map(|feed| feed.way) {
                            Some(FeedWay::There { end, .. }) => &found.operations[end as usize],
                            _ => operation,
                        };
                        if let (Some(declared), Some(value)) = (&ended.returns, returned) {
                            seen(declared, &ended.annotations, value);
                        }
                    }
                    Answer::Raised { index, members } => {
                        seen(&Type::Named(operation.raises[*index]), &[], members);
                    }
                }
            }
        }
    }
}

/// A value and all that it is made of.
fn walk(
    model: &Model,
    (declared, annotations): (&Type, &[Annotation]),
    value: &Value,
    seen: &mut impl FnMut(&Type, &[Annotation], &Value),
) {
    seen(declared, annotations, value);
    let named = |declared: &Type| match declared {
        Type::Named(id) => Some(*id),
        _ => None,
    };
    if let Some(id) = named(declared)
        && let Kind::Alias(behind) = &model.declaration(id).kind
    {
        return walk(model, (behind, &model.declaration(id).annotations), value, seen);
    }
    match value {
        Value::Items { part, .. } => {
            let element = element(declared).expect("only what has elements has items");
            part.iter().for_each(|one| walk(model, (&element, &[]), one, seen));
        }
        Value::Pairs(pairs) => {
            let Type::Map { key, value: of, .. } = declared else { panic!("{declared:?}") };
            for (one, item) in pairs {
                walk(model, (key, &[]), one, seen);
                walk(model, (of, &[]), item, seen);
            }
        }
        Value::Fields(values) => {
            let all = members(model, named(declared).expect("it has a name"));
            assert_eq!(all.len(), values.len());
            for (member, value) in all.into_iter().zip(values) {
                let is_absent = *value == Value::Absent;
                assert!(!is_absent || member.is_optional, "{} is not there", member.name);
                if !is_absent {
                    walk(model, (&member.declared, &member.annotations), value, seen);
                }
            }
        }
        Value::Case { discriminator, case: Some(index), value } => {
            let id = named(declared).expect("it has a name");
            let Kind::Union(union) = &model.declaration(id).kind else { panic!("{declared:?}") };
            let member = &union.cases[*index as usize].member;
            walk(model, (&union.discriminator, &[]), discriminator, seen);
            walk(model, (&member.declared, &member.annotations), value, seen);
        }
        _ => {}
    }
}

/// Is the value one that the compiler's rules allow there?
fn judge(model: &Model, declared: &Type, annotations: &[Annotation], value: &Value) {
    if let Some(range) = range(model, annotations, declared) {
        let number = number(value);
        let end = |end: &Label| number_of(end);
        let is_within = range.least.as_ref().is_none_or(|least| number >= end(least))
            && range.greatest.as_ref().is_none_or(|greatest| number <= end(greatest));
        assert!(is_within, "{value:?} is not within {range:?}");
    }
    match (declared, value) {
        (Type::String { bound: Some(bound) }, text) => {
            assert!(text.text().len() <= *bound as usize, "{text:?} is over {bound}");
        }
        (Type::WideString { bound: Some(bound) }, text) => {
            let count = text.text().chars().count();
            assert!(count <= *bound as usize, "{text:?} is over {bound}");
        }
        (Type::Sequence { bound: Some(bound), .. }, Value::Items { count, .. }) => {
            assert!(count <= bound, "{count} are over {bound}");
        }
        (Type::Array { dimensions, .. }, Value::Items { count, .. }) => {
            assert_eq!(*count, dimensions[0]);
        }
        (Type::Map { bound: Some(bound), .. }, Value::Pairs(pairs)) => {
            assert!(pairs.len() <= *bound as usize, "{} are over {bound}", pairs.len());
        }
        (Type::Named(id), value) => judge_named(model, *id, value),
        _ => {}
    }
    if let Value::Items { part, count } = value {
        assert_eq!(part.is_empty(), *count == 0);
        assert!(part.len() <= *count as usize);
    }
}

fn judge_named(model: &Model, id: DeclarationId, value: &Value) {
    match (&model.declaration(id).kind, value) {
        (Kind::Enum(shape), Value::Enumerator(index)) => {
            assert!((*index as usize) < shape.enumerators.len());
        }
        (Kind::Bitmask(shape), Value::Bits(bits)) => {
            let all = shape.flags.iter().fold(0, |all, (_, position)| all | 1u64 << position);
            assert_eq!(bits & !all, 0);
        }
        (Kind::Bitset(shape), Value::Bits(bits)) => {
            assert!(shape.width == 64 || bits >> shape.width == 0);
        }
        (Kind::Union(union), Value::Case { discriminator, case, .. }) => {
            let of = model.resolved(&union.discriminator);
            let has = |index: usize| {
                union.cases[index].labels.iter().any(|one| label(one, of) == **discriminator)
            };
            let labelled = (0..union.cases.len()).find(|index| has(*index)).map(|it| it as u32);
            let wanted = labelled.or(match union.default {
                UnionDefault::Case(index) => Some(index),
                _ => None,
            });
            assert_eq!(*case, wanted, "{discriminator:?} selects another case");
        }
        _ => {}
    }
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Integer(value) => *value as f64,
        Value::Char(value) => f64::from(*value),
        Value::WideChar(value) => f64::from(u32::from(*value)),
        Value::Float(bits) => f64::from(f32::from_bits(*bits)),
        Value::Double(bits) => f64::from_bits(*bits),
        Value::Enumerator(index) => f64::from(*index),
        other => panic!("{other:?} has no range"),
    }
}

fn number_of(end: &Label) -> f64 {
    match end {
        Label::Integer(value) => *value as f64,
        Label::Float(value) => *value,
        Label::Char(letter) => f64::from(u32::from(*letter)),
        Label::Enumerator(_, index) => f64::from(*index),
        other => panic!("{other:?} is no end of a range"),
    }
}

#[test]
fn every_value_is_one_that_the_interface_allows() {
    let mut count = 0u64;
    for model in &models() {
        for seed in 0..20 {
            each(model, seed, |declared, annotations, value| {
                let mut seen = |declared: &Type, annotations: &[Annotation], value: &Value| {
                    judge(model, declared, annotations, value);
                    count += 1;
                };
                walk(model, (declared, annotations), value, &mut seen);
            });
        }
    }
    println!("{count} values");
    assert!(count > 100_000, "only {count} values");
}

#[test]
fn a_value_over_its_bound_is_not_allowed() {
    let (model, text) = (Model::default(), Value::Text { part: "ab".to_owned(), times: 2 });
    judge(&model, &Type::String { bound: Some(4) }, &[], &text);
    let refused =
        std::panic::catch_unwind(|| judge(&model, &Type::String { bound: Some(3) }, &[], &text));
    assert!(refused.is_err());
}

/// What a value of a named type may be, one of a few.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Choice {
    Enumerator(u32),
    /// A case, and what selects it, as text; labels that are none are all one.
    Case(Option<u32>, Option<String>),
    /// An optional member, by its place, and whether it is there.
    Optional(usize, bool),
}

/// What a value chooses among the choices of its type.
fn chosen(model: &Model, id: DeclarationId, value: &Value) -> Vec<Choice> {
    match (&model.declaration(id).kind, value) {
        (Kind::Enum(_), Value::Enumerator(index)) => vec![Choice::Enumerator(*index)],
        (Kind::Union(union), Value::Case { discriminator, case, .. }) => {
            let of = model.resolved(&union.discriminator);
            let labels = union.cases.iter().flat_map(|case| &case.labels);
            let is_label = labels.map(|one| label(one, of)).any(|one| one == **discriminator);
            let text = is_label.then(|| shown(model, of, discriminator));
            vec![Choice::Case(*case, text)]
        }
        (_, Value::Fields(values)) => {
            let optional = members(model, id).into_iter().zip(values).enumerate();
            let optional = optional.filter(|(_, (member, _))| member.is_optional);
            optional
                .map(|(index, (_, value))| Choice::Optional(index, *value != Value::Absent))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Every choice that a type has.
fn choices(model: &Model, id: DeclarationId) -> Vec<Choice> {
    let mut all = Vec::new();
    match &model.declaration(id).kind {
        Kind::Enum(shape) => {
            all.extend((0..shape.enumerators.len() as u32).map(Choice::Enumerator));
        }
        Kind::Union(union) => {
            let of = model.resolved(&union.discriminator);
            for (case, index) in union.cases.iter().zip(0..) {
                let labels = case.labels.iter().map(|one| shown(model, of, &label(one, of)));
                all.extend(labels.map(|text| Choice::Case(Some(index), Some(text))));
            }
            match union.default {
                UnionDefault::Case(index) => all.push(Choice::Case(Some(index), None)),
                UnionDefault::Implicit => all.push(Choice::Case(None, None)),
                UnionDefault::Covered => {}
            }
        }
        Kind::Struct(_) | Kind::Exception(_) => {
            for (index, member) in members(model, id).into_iter().enumerate() {
                if member.is_optional {
                    all.extend([false, true].map(|is_there| Choice::Optional(index, is_there)));
                }
            }
        }
        _ => {}
    }
    all
}

#[test]
fn every_label_enumerator_and_optional_member_comes_up() {
    let mut count = 0;
    for model in &models() {
        let mut found: BTreeMap<DeclarationId, BTreeSet<Choice>> = BTreeMap::new();
        for seed in 0..60 {
            each(model, seed, |declared, annotations, value| {
                let mut seen = |declared: &Type, _: &[Annotation], value: &Value| {
                    if let Type::Named(id) = declared {
                        found.entry(*id).or_default().extend(chosen(model, *id, value));
                    }
                };
                walk(model, (declared, annotations), value, &mut seen);
            });
        }
        for (id, found) in found {
            for one in choices(model, id) {
                let name = &model.declaration(id).name;
                assert!(found.contains(&one), "{name}: {one:?} is not in {found:?}");
                count += 1;
            }
        }
    }
    println!("{count} choices");
    assert!(count >= 150, "only {count} choices");
}

#[test]
fn lengths_lie_on_both_sides_of_where_the_form_changes() {
    let model = model(&tests().join("matrix/idl/records.idl"));
    let mut lengths = BTreeSet::new();
    each(&model, 1, |declared, _, value| {
        if let (Type::Sequence { bound, .. }, Value::Items { count, .. }) = (declared, value) {
            lengths.insert((*bound, *count));
        }
    });
    // Nothing, past the head line, past the A-stack, and the bound itself.
    for length in [(None, 0), (None, 150), (None, 3000), (Some(100), 100), (Some(4000), 4000)] {
        assert!(lengths.contains(&length), "{length:?} is not in {lengths:?}");
    }
}

#[test]
fn each_exception_is_raised_and_each_operation_returns() {
    let model = model(&tests().join("matrix/idl/records.idl"));
    let test = Selftest::new(&model, 1).expect("it has operations");
    let interface = test.interfaces.last().expect("it has interfaces");
    let operation = interface.operations.iter().find(|one| one.place.ends_with("raise_any"));
    let rounds = &operation.expect("it is there").rounds;
    let raised = rounds.iter().filter_map(|round| match round.answer {
        Answer::Raised { index, .. } => Some(index),
        Answer::Returned { .. } => None,
    });
    assert_eq!(raised.collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(rounds.len(), 5 + 3);
    let calls: usize = interface.operations.iter().map(|one| one.rounds.len()).sum();
    assert!(test.call_count() > calls && test.operation_count() > interface.operations.len());
}

#[test]
fn a_seed_always_chooses_the_same_values() {
    let model = model(&tests().join("matrix/idl/texts.idl"));
    assert_eq!(Selftest::new(&model, 7), Selftest::new(&model, 7));
    assert_ne!(Selftest::new(&model, 7), Selftest::new(&model, 8));
}

#[test]
fn a_self_test_of_nothing_is_none() {
    let found = Selftest::new(&Model::default(), 1).expect_err("there is nothing to call");
    assert!(found[0].to_string().contains("no interface"), "{}", found[0]);
}

#[test]
fn a_feed_ends_before_and_behind_a_batch_and_is_refused_at_once_and_later() {
    let model = model(&tests().join("matrix/idl/fed.idl"));
    let test = Selftest::new(&model, 1).expect("it has operations");
    let operations = test.interfaces.iter().flat_map(|interface| &interface.operations);
    let mut feeds = 0;
    for (feed, operation) in operations.filter_map(|one| one.feed.as_ref().map(|feed| (feed, one)))
    {
        let mut lengths = BTreeSet::new();
        let mut raised = Vec::new();
        for round in &operation.rounds {
            let count = match &round.items {
                Some(Value::Items { count, .. }) => Some(*count),
                _ => None,
            };
            lengths.extend(count);
            if let Answer::Raised { index, .. } = round.answer {
                raised.push((index, count));
            }
        }
        let batch = feed.batch_count;
        for length in [0, 3, batch, batch + 1, 2 * batch + 1] {
            assert!(lengths.contains(&length), "{}: {lengths:?}", operation.place);
        }
        let count = raised.len() / 2;
        let wanted = (0..count).flat_map(|index| [(index, None), (index, Some(batch + 1))]);
        assert_eq!(raised, wanted.collect::<Vec<_>>(), "{}", operation.place);
        feeds += 1;
    }
    assert!(feeds >= 40, "only {feeds} feeds");
}

#[test]
fn each_kind_of_open_file_goes_both_ways_and_keeps_no_writer_waiting() {
    let model = model(&tests().join("matrix/idl/opened.idl"));
    let test = Selftest::new(&model, 1).expect("it has operations");
    let mut seen = BTreeSet::new();
    let mut see = |way: &'static str, value: &Option<Value>| {
        if let Some(Value::Opened { kind, text, .. }) = value {
            assert!(text.len() <= OPENED_BYTES_MAX as usize, "{text:?}");
            seen.insert((way, kind.word(), text.len()));
        }
    };
    for round in test.interfaces[0].operations.iter().flat_map(|one| &one.rounds) {
        round.given.iter().for_each(|value| see("in", value));
        if let Answer::Returned { returned, changed } = &round.answer {
            see("returned", returned);
            changed.iter().for_each(|value| see("out", value));
        }
    }
    for way in ["in", "returned", "out"] {
        for kind in ["ANY", "FILE", "SEGMENT", "SOCKET"] {
            for length in [0, OPENED_BYTES_MAX as usize] {
                assert!(seen.contains(&(way, kind, length)), "{way} {kind} {length}: {seen:?}");
            }
        }
    }
}

#[test]
fn a_value_has_one_text() {
    let model = Model::default();
    let text = Value::Text { part: "a\"é".to_owned(), times: 2 };
    let string = Type::String { bound: None };
    assert_eq!(shown(&model, &string, &text), "\"a\\22\\c3\\a9a\\22\\c3\\a9\"");
    let list = Type::Sequence { element: Box::new(string), bound: None };
    let items = Value::Items {
        part: vec![text.clone(), Value::Text { part: String::new(), times: 0 }],
        count: 3,
    };
    assert!(shown(&model, &list, &items).ends_with("\", \"\", \"a\\22\\c3\\a9a\\22\\c3\\a9\"]"));
}

#[test]
fn a_longer_text_is_cut_and_hashed() {
    let long = "x".repeat(SHOWN_BYTES_MAX + 1);
    assert_eq!(shortened(&long[1..]), long[1..]);
    let cut = shortened(&long);
    assert!(cut.starts_with(&long[..100]) && cut.contains("... 301 bytes, hash "), "{cut}");
    assert_ne!(cut, shortened(&(long[1..].to_owned() + "y")));
}
