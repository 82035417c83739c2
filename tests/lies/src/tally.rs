//! What was sent and what came of it, counted by kind; and what was wrong.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::Kind;
use crate::messages::{Case, Form, Purpose};

/// Who reads the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Requests.
    Server,
    /// Replies and exceptions.
    Client,
}

impl Side {
    pub const BOTH: [Side; 2] = [Side::Server, Side::Client];

    /// As reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Side::Server => "server",
            Side::Client => "client",
        }
    }
}

/// What a program made of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It took it for a value.
    Accepted,
    /// It refused it, with the error that is there for that.
    Refused,
    /// Anything else.
    Other(String),
}

/// The counts of one language.
#[derive(Debug)]
pub struct Tally {
    language: &'static str,
    sides: Vec<Side>,
    forms: Vec<Form>,
    /// Lies that it takes for values, and may.
    taken: Vec<Kind>,
    valid: BTreeMap<Side, usize>,
    mutations: BTreeMap<Side, [usize; 2]>,
    lies: BTreeMap<(Side, Kind), usize>,
    /// Those about values, by what they were told in.
    told: BTreeMap<(Side, Form), usize>,
    /// Those about descriptors, by what those went with.
    passed: BTreeMap<(Side, Form), usize>,
    wrong: Vec<String>,
}

/// Of what is wrong, so much is shown.
const SHOWN_MAX: usize = 20;

impl Tally {
    pub fn new(language: &'static str) -> Tally {
        Tally {
            language,
            sides: Side::BOTH.to_vec(),
            forms: Form::ALL.to_vec(),
            taken: Vec::new(),
            valid: BTreeMap::new(),
            mutations: BTreeMap::new(),
            lies: BTreeMap::new(),
            told: BTreeMap::new(),
            passed: BTreeMap::new(),
            wrong: Vec::new(),
        }
    }

    /// Lies of this kind are values to the language.
    pub fn taking(mut self, kind: Kind) -> Tally {
        self.taken.push(kind);
        self
    }

    /// Only these sides, and calls of these forms, are there: all else is left out.
    pub fn of(mut self, sides: &[Side], forms: &[Form]) -> Tally {
        (self.sides, self.forms) = (sides.to_vec(), forms.to_vec());
        self
    }

    /// Whether such a message is to be sent.
    pub fn asks_for(&self, side: Side, form: Form) -> bool {
        self.sides.contains(&side) && self.forms.contains(&form)
    }

    /// The kinds of lies that a side has to be told.
    fn kinds(&self, side: Side) -> impl Iterator<Item = Kind> {
        let has_feeds = self.forms.contains(&Form::Batch);
        let kinds = Kind::ALL.into_iter().filter(move |kind| is_told_to(*kind, side));
        kinds.filter(move |kind| has_feeds || *kind != Kind::Feed)
    }

    /// The forms of calls that a side has to be lied to in.
    fn forms(&self, side: Side) -> impl Iterator<Item = Form> {
        self.forms.iter().copied().filter(move |form| is_sent_to(*form, side))
    }

    /// The forms of calls that a side has to be lied to in about the descriptors that go with them.
    fn passing(&self, side: Side) -> impl Iterator<Item = Form> {
        self.forms.iter().copied().filter(move |form| is_passed_with(*form, side))
    }

    /// Counts one message; `place` says where to look if it is wrong.
    pub fn count(&mut self, side: Side, place: &str, case: &Case, verdict: &Verdict) {
        let purpose = &case.purpose;
        let is_taken = matches!(purpose, Purpose::Lie(lie) if self.taken.contains(&lie.kind));
        let of_lies = if is_taken { &Verdict::Accepted } else { &Verdict::Refused };
        match (purpose, verdict) {
            (Purpose::Valid, Verdict::Accepted) => *self.valid.entry(side).or_default() += 1,
            (Purpose::Mutation, Verdict::Accepted) => {
                self.mutations.entry(side).or_default()[0] += 1;
            }
            (Purpose::Mutation, Verdict::Refused) => {
                self.mutations.entry(side).or_default()[1] += 1;
            }
            (Purpose::Lie(lie), verdict) if verdict == of_lies => {
                *self.lies.entry((side, lie.kind)).or_default() += 1;
                if is_about_a_value(lie.kind) {
                    *self.told.entry((side, case.form)).or_default() += 1;
                }
                if lie.kind == Kind::Descriptor {
                    *self.passed.entry((side, case.form)).or_default() += 1;
                }
            }
            _ => self.wrong.push(format!(
                "{} {}, {place}: {purpose:?}: {verdict:?}",
                self.language,
                side.name()
            )),
        }
    }

    /// Something that is wrong whatever was sent.
    pub fn fail(&mut self, what: String) {
        self.wrong.push(what);
    }

    /// A line a side.
    pub fn report(&self) -> String {
        let mut text = String::new();
        for side in self.sides.iter().copied() {
            let valid = self.valid.get(&side).copied().unwrap_or_default();
            let [accepted, refused] = self.mutations.get(&side).copied().unwrap_or_default();
            // Writing to a string does not fail.
            let _ = write!(
                text,
                "{} {}: {valid} valid accepted, {} mutations ({refused} refused), lies refused{}:",
                self.language,
                side.name(),
                accepted + refused,
                self.taken.iter().map(|kind| format!(", but of {kind:?}")).collect::<String>()
            );
            for kind in self.kinds(side) {
                let _ = write!(text, " {kind:?} {}", self.lies_told(side, kind));
            }
            text.push_str("; about values in");
            for form in self.forms(side) {
                let _ = write!(text, " {} {}", form.name(), self.told_in(side, form));
            }
            text.push_str("; about descriptors in");
            for form in self.passing(side) {
                let _ = write!(text, " {} {}", form.name(), self.passed_in(side, form));
            }
            text.push('\n');
        }
        text
    }

    fn lies_told(&self, side: Side, kind: Kind) -> usize {
        self.lies.get(&(side, kind)).copied().unwrap_or_default()
    }

    fn told_in(&self, side: Side, form: Form) -> usize {
        self.told.get(&(side, form)).copied().unwrap_or_default()
    }

    fn passed_in(&self, side: Side, form: Form) -> usize {
        self.passed.get(&(side, form)).copied().unwrap_or_default()
    }

    /// # Panics
    ///
    /// If anything was wrong, or nothing of some kind was there.
    pub fn judge(&self) {
        let mut wrong = self.wrong.clone();
        let count = wrong.len();
        wrong.truncate(SHOWN_MAX);
        for side in self.sides.iter().copied() {
            let (language, name) = (self.language, side.name());
            let [accepted, refused] = self.mutations.get(&side).copied().unwrap_or_default();
            if !self.valid.contains_key(&side) || accepted == 0 || refused == 0 {
                wrong.push(format!("{language} {name}: too little was sent"));
            }
            for kind in self.kinds(side) {
                if self.lies_told(side, kind) == 0 {
                    wrong.push(format!("{language} {name}: no lie about {kind:?} was told"));
                }
            }
            for form in self.forms(side) {
                if self.told_in(side, form) == 0 {
                    wrong.push(format!(
                        "{language} {name}: no lie about a value in {} was told",
                        form.name()
                    ));
                }
            }
            for form in self.passing(side) {
                if self.passed_in(side, form) == 0 {
                    wrong.push(format!(
                        "{language} {name}: no lie about descriptors in {} was told",
                        form.name()
                    ));
                }
            }
        }
        assert!(wrong.is_empty(), "{count} wrong:\n{}\n{}", wrong.join("\n"), self.report());
    }
}

/// Whether a side can be told such a lie.
fn is_told_to(kind: Kind, side: Side) -> bool {
    kind != Kind::Exception || side == Side::Client
}

/// Whether a side reads values in such calls.
fn is_sent_to(form: Form, side: Side) -> bool {
    match form {
        Form::Oneway => side == Side::Server,
        // All that clients say then is the number of the feed.
        Form::Ending => side == Side::Client,
        _ => true,
    }
}

/// Whether descriptors come to a side with such calls.
fn is_passed_with(form: Form, side: Side) -> bool {
    match form {
        Form::Descriptors => true,
        Form::Oneway | Form::Opening => side == Side::Server,
        Form::Call | Form::Batch | Form::Exchange | Form::Ending => false,
    }
}

/// Whether it stands where a value of the interface file's should.
fn is_about_a_value(kind: Kind) -> bool {
    !matches!(kind, Kind::Exception | Kind::Descriptor | Kind::Absence | Kind::Feed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Around, Lie, Message};

    /// Everything once, as it should be, but for lies of one kind and those about values in one
    /// form of calls.
    fn tally_without(kind_left_out: Option<Kind>, form_left_out: Option<Form>) -> Tally {
        let mut tally = Tally::new("a language");
        for side in Side::BOTH {
            tally.count(side, "", &case(Purpose::Valid), &Verdict::Accepted);
            tally.count(side, "", &case(Purpose::Mutation), &Verdict::Accepted);
            tally.count(side, "", &case(Purpose::Mutation), &Verdict::Refused);
            for kind in Kind::ALL.into_iter().filter(|kind| Some(*kind) != kind_left_out) {
                tally.count(side, "", &lie(kind), &Verdict::Refused);
            }
            for form in Form::ALL.into_iter().filter(|form| Some(*form) != form_left_out) {
                tally.count(side, "", &Case { form, ..lie(Kind::Text) }, &Verdict::Refused);
            }
            if kind_left_out != Some(Kind::Descriptor) {
                for form in [Form::Oneway, Form::Descriptors, Form::Opening] {
                    let lie = lie(Kind::Descriptor);
                    tally.count(side, "", &Case { form, ..lie }, &Verdict::Refused);
                }
            }
        }
        tally
    }

    fn case(purpose: Purpose) -> Case {
        let (message, around) = (Message::default(), Around::Nothing);
        Case { message, purpose, form: Form::Call, number: 0, around }
    }

    fn lie(kind: Kind) -> Case {
        case(Purpose::Lie(Lie { kind, place: String::new(), variant: 0 }))
    }

    #[test]
    fn what_is_complete_passes() {
        tally_without(None, None).judge();
    }

    #[test]
    #[should_panic(expected = "a language server: no lie about Boolean was told")]
    fn a_kind_that_was_not_told_fails() {
        tally_without(Some(Kind::Boolean), None).judge();
    }

    #[test]
    #[should_panic(expected = "a language server: no lie about a value in oneways was told")]
    fn a_form_of_calls_without_lies_fails() {
        tally_without(None, Some(Form::Oneway)).judge();
    }

    #[test]
    #[should_panic(expected = "server: no lie about descriptors in openings of feeds was told")]
    fn openings_without_lies_about_descriptors_fail() {
        let mut tally = tally_without(None, None);
        tally.passed.remove(&(Side::Server, Form::Opening));
        tally.judge();
    }

    #[test]
    fn what_is_left_out_is_not_missed() {
        let mut tally = tally_without(Some(Kind::Feed), Some(Form::Batch));
        tally = tally.of(&[Side::Client], &[Form::Call]);
        assert!(tally.asks_for(Side::Client, Form::Call));
        assert!(!tally.asks_for(Side::Client, Form::Batch));
        tally.judge();
    }

    #[test]
    #[should_panic(expected = "Accepted")]
    fn a_lie_that_is_accepted_fails() {
        let mut tally = tally_without(None, None);
        tally.count(Side::Client, "", &lie(Kind::Boolean), &Verdict::Accepted);
        tally.judge();
    }

    #[test]
    #[should_panic(expected = "Refused")]
    fn a_lie_that_a_language_takes_and_refuses_fails() {
        let mut tally = tally_without(None, None).taking(Kind::Key);
        tally.count(Side::Server, "", &lie(Kind::Key), &Verdict::Refused);
        tally.judge();
    }

    #[test]
    #[should_panic(expected = "Refused")]
    fn what_is_valid_and_refused_fails() {
        let mut tally = tally_without(None, None);
        tally.count(Side::Server, "", &case(Purpose::Valid), &Verdict::Refused);
        tally.judge();
    }
}
