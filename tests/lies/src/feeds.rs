//! What carries a feed: the call that opens it, batches of its items either way, and its end
//! (design note 0020).
//!
//! ```text
//! to servers    open ─▶ numbers, [end of the sink], the message with a number, a valid one
//! to clients    whatever they ask, a valid reply, but where it is the message's turn
//! ```

use std::sync::Arc;

use nearcall_idl::layout::{InterfaceLayout, MessageLayout, Root};
use nearcall_idl::model::{Interface, Model};
use nearcall_idl::plan::{FeedPlan, FeedWay};
use nearcall_idl::selftest::{Answer, Round, Value};

use crate::Kind;
use crate::messages::{Around, Case, InterfaceCases, Maker, Message, Purpose, Told, Values};
use crate::mutations::Random;
use crate::opened;
use crate::writer::Lie;

/// What a server that lies says a feed and a sink are called.
const NUMBERS: [i128; 2] = [41, 42];

/// Where the reply that opens a feed has its numbers.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// The reply's fixed part.
    pub bytes: usize,
    pub feed_at: usize,
    /// Of an exchange.
    pub sink_at: Option<usize>,
}

/// What has to be done around a request of a feed that is open.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Opens one.
    pub opening: Message,
    pub numbers: Numbers,
    /// Whether the request is of the sink of an exchange, not of its feed.
    pub is_of_sink: bool,
    /// What ends the sink: before it is over no item comes.
    pub end: Option<Message>,
    /// What has to be accepted after a request that was refused: nothing has changed.
    pub valid: Message,
}

/// Values by where they stand.
type Roots = Vec<(Root, Value)>;

/// Which procedure carries what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Next,
    Put,
    End,
}

/// Makes the cases of one feed.
pub struct Feeding<'m> {
    pub model: &'m Model,
    pub interface: &'m Interface,
    pub layout: &'m InterfaceLayout,
    pub feed: &'m FeedPlan,
    /// Which operation of the whole file.
    pub number: usize,
    pub rounds: &'m [&'m Round],
}

impl Feeding<'_> {
    /// All of them.
    pub fn cases(&self, random: &mut Random, own: &mut InterfaceCases) {
        let open = self.maker(self.feed.open);
        let layout = &self.layout.operations[self.feed.open as usize];
        let numbers = self.numbers(&layout.reply);
        let given = self.rounds.iter().map(|round| Values::Given(&round.given));
        let descriptors = opened::of_arguments(open.operation);
        let given = given.map(|values| Told::new(&layout.request, values).passing(&descriptors));
        let given: Vec<_> = given.collect();
        let opening = open.message(&given[0]);
        if !layout.request.items.is_empty() || !descriptors.is_empty() {
            let requests = open.cases(&given, random);
            own.requests.extend(around(requests, &Around::Opened(numbers)));
        }
        let answers = Around::Answers(Arc::new(self.answers()));
        let opened = self.opened();
        let returned = [Told::new(&layout.reply, Values::Roots(&opened))];
        own.replies.extend(around(open.replies(layout, &returned, self.rounds, random), &answers));
        for (part, procedure) in self.parts() {
            let maker = self.maker(procedure);
            let layout = &self.layout.operations[procedure as usize];
            let requests = self.requests(part);
            let asked = told(&layout.request, &requests);
            let carried = Around::Carried(Arc::new(Carried {
                opening: opening.clone(),
                numbers,
                is_of_sink: self.is_exchange() && part != Part::Next,
                end: (self.is_exchange() && part == Part::Next).then(|| self.end()),
                valid: maker.message(&asked[0]),
            }));
            let mut cases = maker.cases(&asked, random);
            cases.extend(self.undue(part, &maker, &layout.request));
            own.requests.extend(around(cases, &carried));
            let results = self.results(part);
            let answered = told(&layout.reply, &results);
            let mut cases = maker.replies(layout, &answered, self.rounds, random);
            cases.extend((part == Part::Next).then(|| self.endless(&maker, &layout.reply)));
            own.replies.extend(around(cases, &answers));
        }
    }

    fn is_exchange(&self) -> bool {
        self.feed.sent.is_some()
    }

    fn parts(&self) -> Vec<(Part, u32)> {
        match self.feed.way {
            FeedWay::Back { next } => vec![(Part::Next, next)],
            FeedWay::There { put, end } => vec![(Part::Put, put), (Part::End, end)],
            FeedWay::Both { next, put, end } => {
                vec![(Part::Next, next), (Part::Put, put), (Part::End, end)]
            }
        }
    }

    fn maker(&self, procedure: u32) -> Maker<'_> {
        let operation = &self.interface.operations[procedure as usize];
        Maker { model: self.model, operation, number: self.number, procedure }
    }

    fn numbers(&self, reply: &MessageLayout) -> Numbers {
        let at = |root| {
            let item = reply.items.iter().find(|item| item.place.root == root);
            item.expect("a number is in the fixed part").at as usize
        };
        let sink_at = self.is_exchange().then(|| at(self.sink()));
        Numbers { bytes: reply.fixed_bytes as usize, feed_at: at(Root::Returned), sink_at }
    }

    /// The last parameter of what opens an exchange.
    fn sink(&self) -> Root {
        let parameters = &self.interface.operations[self.feed.open as usize].parameters;
        Root::Parameter(parameters.len() as u32 - 1)
    }

    fn opened(&self) -> Roots {
        let [feed, sink] = NUMBERS.map(Value::Integer);
        let sink = self.is_exchange().then(|| (self.sink(), sink));
        std::iter::once((Root::Returned, feed)).chain(sink).collect()
    }

    /// Of a feed whose number has to be added, and of the batch that is due first.
    fn requests(&self, part: Part) -> Vec<Roots> {
        let due = of_batch(part, 0, 0);
        if part != Part::Put {
            return vec![due];
        }
        let limit = self.feed.sent.as_ref().map_or(self.feed.batch_count, |own| own.batch_count);
        let sent = |round: &&Round| {
            let items = if self.is_exchange() { &round.sent } else { &round.items };
            let items = (Root::Parameter(2), batch(items.as_ref()?, limit));
            Some(due.iter().cloned().chain([items]).collect())
        };
        self.rounds.iter().filter_map(sent).collect()
    }

    /// Another feed's, and a batch that is not due.
    fn undue(&self, part: Part, maker: &Maker<'_>, layout: &MessageLayout) -> Vec<Case> {
        let items = self.requests(part).swap_remove(0).into_iter().skip(2);
        let items: Roots = items.filter(|_| part == Part::Put).collect();
        let others = [("feed", 1, 0), ("number", 0, 1)];
        let others = others.into_iter().filter(|(place, ..)| part != Part::End || *place == "feed");
        let lies = others.map(|(place, feed, number)| {
            let roots = [of_batch(part, feed, number), items.clone()].concat();
            let message = maker.message(&Told::new(layout, Values::Roots(&roots)));
            maker.case(message, lie(place))
        });
        lies.collect()
    }

    fn results(&self, part: Part) -> Vec<Roots> {
        match part {
            Part::Put => vec![Roots::new()],
            Part::End => {
                let returned = self.rounds.iter().filter_map(|round| match &round.answer {
                    Answer::Returned { returned, .. } => Some(returned.clone()),
                    Answer::Raised { .. } => None,
                });
                let returned = returned.map(|one| one.filter(|_| !self.is_exchange()));
                returned
                    .map(|one| one.map(|one| (Root::Returned, one)).into_iter().collect())
                    .collect()
            }
            Part::Next => {
                let items = self.rounds.iter().filter_map(|round| round.items.as_ref());
                let items = items.map(|items| batch(items, self.feed.batch_count)).enumerate();
                // One that is not the last has an item, and another behind it.
                let came = items.map(|(index, items)| {
                    let is_last = index % 2 == 0 || is_empty(&items);
                    last(items, is_last)
                });
                came.collect()
            }
        }
    }

    /// A batch of nothing after which more is to come.
    fn endless(&self, maker: &Maker<'_>, layout: &MessageLayout) -> Case {
        let roots = last(Value::Items { part: Vec::new(), count: 0 }, false);
        let message = maker.message(&Told::new(layout, Values::Roots(&roots)));
        maker.case(message, lie("is_last"))
    }

    /// A valid reply of each procedure; no items, and no more.
    fn answers(&self) -> Vec<Message> {
        let reply = |procedure: u32, roots: &Roots| {
            let layout = &self.layout.operations[procedure as usize].reply;
            self.maker(procedure).message(&Told::new(layout, Values::Roots(roots)))
        };
        let parts = self.parts().into_iter().map(|(part, procedure)| match part {
            Part::Next => {
                let none = Value::Items { part: Vec::new(), count: 0 };
                reply(procedure, &last(none, true))
            }
            Part::Put | Part::End => reply(procedure, &self.results(part)[0]),
        });
        std::iter::once(reply(self.feed.open, &self.opened())).chain(parts).collect()
    }

    fn end(&self) -> Message {
        let parts = self.parts();
        let (_, procedure) = parts.iter().find(|(part, _)| *part == Part::End).expect("it ends");
        let layout = &self.layout.operations[*procedure as usize].request;
        let roots = of_batch(Part::End, 0, 0);
        self.maker(*procedure).message(&Told::new(layout, Values::Roots(&roots)))
    }
}

fn lie(place: &str) -> Purpose {
    Purpose::Lie(Lie { kind: Kind::Feed, place: place.to_owned(), variant: 0 })
}

fn told<'t>(layout: &'t MessageLayout, values: &'t [Roots]) -> Vec<Told<'t>> {
    values.iter().map(|roots| Told::new(layout, Values::Roots(roots))).collect()
}

/// The same, all around.
fn around(cases: Vec<Case>, around: &Around) -> impl Iterator<Item = Case> {
    cases.into_iter().map(|case| Case { around: around.clone(), ..case })
}

fn of_batch(part: Part, feed: i128, number: i128) -> Roots {
    let feed = (Root::Parameter(0), Value::Integer(feed));
    let number = (part != Part::End).then_some((Root::Parameter(1), Value::Integer(number)));
    std::iter::once(feed).chain(number).collect()
}

fn last(items: Value, is_last: bool) -> Roots {
    vec![(Root::Returned, items), (Root::Parameter(2), Value::Boolean(is_last))]
}

/// As many items as one batch has.
fn batch(items: &Value, limit: u32) -> Value {
    let Value::Items { part, count } = items else { panic!("{items:?} are no items") };
    Value::Items { part: part.clone(), count: (*count).min(limit) }
}

fn is_empty(items: &Value) -> bool {
    matches!(items, Value::Items { count: 0, .. })
}
