//! Who may bind, as rules: data that a policy file or a program gives, and how it is judged.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::fmt;

use nearcall_abi::InterfaceDescriptor;
use nearcall_core::Priority;
use nearcall_core::admission::Permitted;

use super::importer::Importer;
use super::limits::Limits;
use crate::audit::no_rule;

/// Rules in order: the first that fits an importer decides; if none does, it is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// In order.
    pub rules: Vec<Rule>,
}

/// One rule. What it does not say fits everybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What audit records call it: no other rule of the policy, and nothing of
    /// [`Rule::RESERVED_IDS`].
    pub id: String,
    /// Whom it is for.
    pub who: Who,
    /// What is decided.
    pub verdict: Verdict,
    /// Whose calls go first, of those that it admits.
    pub priority: Priority,
    /// What those may hold that it admits.
    pub limits: Limits,
    /// Those that it admits share the server's bell with others of their user that are admitted to
    /// a class of this name, and with nobody else: what shares a bell can lose or flood it. `None`:
    /// with all others of their user of whom no rule says anything else.
    pub trust_class: Option<String>,
}

/// What a rule says of those whom it fits. All that is given has to be so. What the system does not
/// tell of an importer (a user that is not mapped here, a process of another pid namespace, a
/// control group where this process reads no `/proc`) may be anything: a rule that asks for it
/// admits nobody by it, and yet takes what it would take, of procedures, of limits, and of
/// priority, and keeps it out of others' trust classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// The interface that is imported, by its scoped name.
    pub interface: Option<String>,
    /// The importer's user.
    pub uid: Option<u32>,
    /// Its own group.
    pub gid: Option<u32>,
    /// A group that it is in, its own or a further one.
    pub group: Option<u32>,
    /// Its control group, or one above it.
    pub cgroup: Option<String>,
    /// Its security label, whole: what SELinux or another module of the system says that it is.
    pub label: Option<String>,
}

/// What a rule decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may bind and call every procedure.
    Admit,
    /// It may bind, and call these procedures.
    AdmitOnly(Vec<String>),
    /// It may not.
    Refuse,
}

/// Why a rule is none for an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleError {
    /// Records could not tell the rule from another one, or from what no rule has decided.
    Id {
        /// The rule.
        rule: String,
        /// What is wrong with its name.
        wrong: &'static str,
    },
    /// It names a procedure that the interface does not have.
    UnknownProcedure {
        /// The rule.
        rule: String,
        /// The name.
        procedure: String,
        /// The interface.
        interface: &'static str,
    },
    /// It allows less than a binding begins with: nobody whom it admits could ever bind.
    TooLittle {
        /// The rule.
        rule: String,
        /// What it allows too little of.
        what: String,
        /// How much it allows.
        limit: u64,
        /// How much a binding begins with.
        needed: u64,
        /// The interface.
        interface: &'static str,
    },
    /// It asks for what nobody can be, or for nothing where it seems to ask: one that refuses would
    /// be passed over, and one that admits would admit others than it says.
    NobodyIs {
        /// The rule.
        rule: String,
        /// What it asks for: `cgroup`, `label`, `uid`, `gid` or `group`.
        key: &'static str,
        /// What is given.
        value: String,
        /// What can be.
        wanted: &'static str,
    },
}

/// What the policy says of an importer.
pub(crate) struct Decision {
    /// The rule that decided, for the record.
    pub rule: String,
    /// The procedures it may call; `None`: all. Or why it is refused.
    pub verdict: Result<Option<Permitted>, String>,
    pub priority: Priority,
    pub limits: Limits,
    /// Of its user.
    pub trust_class: Option<String>,
}

impl Rules {
    /// Whether every procedure that is named is one of the interface, and somebody can bind within
    /// the limits, for rules that are about it.
    pub(crate) fn check(&self, interface: &InterfaceDescriptor) -> Result<(), RuleError> {
        self.check_ids()?;
        let mut about = self.rules.iter().filter(|rule| rule.who.is_about(interface.name));
        about.try_for_each(|rule| rule.check(interface))
    }

    /// Whether records tell each rule from all others. Those about other interfaces, too: one
    /// policy may serve several.
    fn check_ids(&self) -> Result<(), RuleError> {
        let mut ids = HashSet::new();
        self.rules.iter().try_for_each(|Rule { id, .. }| {
            let wrong = match id.as_str() {
                "" => "an id is not empty",
                id if Rule::RESERVED_IDS.contains(&id) => {
                    "records have that word where no rule has decided"
                }
                id if !ids.insert(id) => "another rule has that id, too",
                _ => return Ok(()),
            };
            Err(RuleError::Id { rule: id.clone(), wrong })
        })
    }

    /// Whether how many binds may be under way depends on the rule.
    pub(crate) fn limit_handshakes(&self) -> bool {
        self.rules.iter().any(|rule| rule.limits.user.handshakes_max.is_some())
    }

    pub(crate) fn judge(&self, importer: &Importer, interface: &InterfaceDescriptor) -> Decision {
        // One answer for all rules: an importer may move from one group to another meanwhile.
        let cgroup = OnceCell::new();
        // Rules that may be about it: it has no more than each of them gives.
        let mut maybe: Vec<Decision> = Vec::new();
        let mut lacking = "";
        for rule in &self.rules {
            match (rule.who.fit(importer, &cgroup, interface.name), &rule.verdict) {
                (Fit::No, _) => {}
                (Fit::Unknown(what), Verdict::Refuse) => {
                    let id = &rule.id;
                    let reason =
                        format!("rule {id:?} refuses it: the system does not tell its {what}");
                    return Decision::of(id, Err(reason));
                }
                (Fit::Unknown(what), verdict) => {
                    if matches!(verdict, Verdict::AdmitOnly(_)) {
                        lacking = what;
                    }
                    maybe.push(rule.decide(interface));
                }
                (Fit::Yes, _) => {
                    return rule.decide(interface).within(&maybe).unless_empty(lacking);
                }
            }
        }
        Decision::of(no_rule::OTHERWISE, Err("no rule admits it".to_owned()))
    }
}

/// Whom a rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Yes,
    No,
    /// It may be for this importer: the system does not tell this of it.
    Unknown(&'static str),
}

impl Fit {
    fn known(fits: bool) -> Fit {
        if fits { Fit::Yes } else { Fit::No }
    }

    /// Both have to fit.
    fn and(self, other: impl FnOnce() -> Fit) -> Fit {
        match self {
            Fit::Yes => other(),
            Fit::No => Fit::No,
            Fit::Unknown(what) if other() != Fit::No => Fit::Unknown(what),
            Fit::Unknown(_) => Fit::No,
        }
    }
}

/// The procedures of both; `None` is all.
fn narrowed(one: Option<Permitted>, other: Option<Permitted>) -> Option<Permitted> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(&other)),
        (one, other) => one.or(other),
    }
}

impl Rule {
    /// What audit records have for the rule where none of a policy's has decided: no rule is called
    /// so.
    pub const RESERVED_IDS: [&'static str; 8] = no_rule::ALL;

    /// What it says of those whom it fits.
    fn decide(&self, interface: &InterfaceDescriptor) -> Decision {
        let verdict = match &self.verdict {
            Verdict::Admit => Ok(None),
            Verdict::AdmitOnly(names) => Ok(Some(permitted(interface, names))),
            Verdict::Refuse => Err(format!("rule {:?} refuses it", self.id)),
        };
        let (rule, trust_class) = (self.id.clone(), self.trust_class.clone());
        Decision { rule, verdict, priority: self.priority, limits: self.limits, trust_class }
    }

    fn check(&self, interface: &InterfaceDescriptor) -> Result<(), RuleError> {
        let rule = || self.id.clone();
        if let Some((key, value, wanted)) = self.who.nobody() {
            return Err(RuleError::NobodyIs { rule: rule(), key, value, wanted });
        }
        if let Verdict::AdmitOnly(names) = &self.verdict
            && let Some(name) = names.iter().find(|name| !has_operation(interface, name))
        {
            let (rule, procedure, interface) = (rule(), name.clone(), interface.name);
            return Err(RuleError::UnknownProcedure { rule, procedure, interface });
        }
        if let Some((what, limit, needed)) = self.limits.too_small_for(interface) {
            let (rule, what, interface) = (rule(), what.to_string(), interface.name);
            return Err(RuleError::TooLittle { rule, what, limit, needed, interface });
        }
        Ok(())
    }
}

impl Decision {
    /// The same for one whom each of these rules may be about instead: what the least of them all
    /// gives, and a bell that it shares with nobody of whom it is certain which of them is.
    fn within(mut self, maybe: &[Decision]) -> Decision {
        let mut classes = vec![&self.trust_class];
        for other in maybe {
            self.verdict = match (self.verdict, &other.verdict) {
                (Ok(one), Ok(other)) => Ok(narrowed(one, other.clone())),
                (refused, _) => refused,
            };
            self.priority = self.priority.max(other.priority);
            self.limits = self.limits.least(&other.limits);
            if !classes.contains(&&other.trust_class) {
                classes.push(&other.trust_class);
            }
        }
        if classes.len() > 1 {
            self.trust_class = Some(format!("one of {classes:?}"));
        }
        self
    }

    /// Whom nothing is left, because the system does not tell this of it, is refused.
    fn unless_empty(self, lacking: &str) -> Decision {
        match &self.verdict {
            Ok(Some(left)) if !lacking.is_empty() && left.are_none() => {
                let before = "so that rules before it leave it nothing to call";
                let reason = format!("the system does not tell its {lacking}, {before}");
                Decision { verdict: Err(reason), ..self }
            }
            _ => self,
        }
    }

    /// Of what is no rule, and says nothing else.
    pub fn of(rule: &str, verdict: Result<Option<Permitted>, String>) -> Decision {
        let (priority, limits) = (Priority::default(), Limits::default());
        Decision { rule: rule.to_owned(), verdict, priority, limits, trust_class: None }
    }
}

/// The procedures of these names, those that the interface has, and those that carry the batches
/// of their feeds (design note 0020).
pub(crate) fn permitted(interface: &InterfaceDescriptor, names: &[String]) -> Permitted {
    let procedures = (0..).zip(interface.procedures);
    let named =
        procedures.filter(|(_, one)| names.iter().any(|name| *name == one.told().operation()));
    Permitted::of(named.map(|(index, _)| index))
}

fn has_operation(interface: &InterfaceDescriptor, name: &str) -> bool {
    interface.procedures.iter().any(|procedure| procedure.told().operation() == name)
}

impl Who {
    fn is_about(&self, interface: &str) -> bool {
        self.interface.as_deref().is_none_or(|name| name == interface)
    }

    /// What it asks for that no importer is: the key, what is given, and what can be.
    fn nobody(&self) -> Option<(&'static str, String, &'static str)> {
        let numbers = [("uid", self.uid), ("gid", self.gid), ("group", self.group)];
        if let Some((key, _)) = numbers.into_iter().find(|(_, given)| *given == Some(u32::MAX)) {
            return Some((key, u32::MAX.to_string(), "a number below that"));
        }
        if let Some(cgroup) = self.cgroup.as_deref().filter(|cgroup| !is_cgroup_path(cgroup)) {
            let wanted = "a path from the root, as `/user.slice`, as /proc/PID/cgroup has it";
            return Some(("cgroup", format!("{cgroup:?}"), wanted));
        }
        let is_empty = self.label.as_deref() == Some("");
        is_empty.then(|| ("label", "\"\"".to_owned(), "the whole label of a process"))
    }

    fn fit(&self, importer: &Importer, cgroup: &OnceCell<Option<String>>, interface: &str) -> Fit {
        let is = |given: Option<u32>, known: Option<u32>, what| match (given, known) {
            (None, _) => Fit::Yes,
            (Some(_), None) => Fit::Unknown(what),
            (Some(given), Some(known)) => Fit::known(given == known),
        };
        let is_below = |above: &str| match cgroup.get_or_init(|| importer.cgroup()) {
            Some(cgroup) => Fit::known(is_below(cgroup, above)),
            None => Fit::Unknown("control group"),
        };
        let is_labelled = self.label.is_none() || self.label.as_deref() == importer.label();
        Fit::known(self.is_about(interface) && is_labelled)
            .and(|| is(self.uid, importer.uid(), "user"))
            .and(|| is(self.gid, importer.gid(), "group"))
            .and(|| self.group.map_or(Fit::Yes, |group| is_in(importer, group)))
            // Last: it costs some system calls.
            .and(|| self.cgroup.as_deref().map_or(Fit::Yes, is_below))
    }
}

/// Whether an importer is in a group, its own or a further one.
fn is_in(importer: &Importer, group: u32) -> Fit {
    match importer.gid() {
        Some(gid) if gid == group => Fit::Yes,
        _ if importer.is_in_group(group) => Fit::Yes,
        Some(_) if importer.are_groups_all() => Fit::No,
        _ => Fit::Unknown("groups"),
    }
}

/// Whether a control group may be called so, but for `/` at its end. One outside of our namespace
/// begins with `..`.
fn is_cgroup_path(path: &str) -> bool {
    let is_below_root = |below: &str| {
        let mut parts = below.trim_end_matches('/').split('/').skip_while(|part| *part == "..");
        parts.all(|part| !matches!(part, "" | "." | ".."))
    };
    path == "/" || path.strip_prefix('/').is_some_and(is_below_root)
}

/// Whether a control group is `above` or lies below it.
fn is_below(cgroup: &str, above: &str) -> bool {
    let rest = cgroup.strip_prefix(above.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleError::Id { rule, wrong } => write!(f, "a rule has the id {rule:?}; {wrong}"),
            RuleError::UnknownProcedure { rule, procedure, interface } => {
                write!(f, "rule {rule:?} names {procedure:?}, which {interface} does not have")
            }
            RuleError::TooLittle { rule, what, limit, needed, interface } => {
                let begins = format!("a binding of {interface} begins with {needed}");
                write!(f, "rule {rule:?} limits {what} to {limit}, and {begins}")
            }
            RuleError::NobodyIs { rule, key, value, wanted } => {
                write!(f, "rule {rule:?} has {key} = {value}, which nobody has; {key} is {wanted}")
            }
        }
    }
}

impl std::error::Error for RuleError {}

#[cfg(test)]
mod tests {
    use nearcall_abi::AStackClass;

    use super::super::limits::{BindingLimits, UserLimits};
    use super::*;

    #[test]
    fn a_control_group_is_below_itself_and_those_above() {
        assert!(is_below("/a/b", "/a/b") && is_below("/a/b", "/a") && is_below("/a/b", "/a/"));
        assert!(is_below("/a/b", "/"));
        assert!(!is_below("/ab", "/a") && !is_below("/a", "/a/b"));
    }

    #[test]
    fn a_rule_that_nobody_can_fit_is_none() {
        let cgroup = |path: &str| Who { cgroup: Some(path.to_owned()), ..Who::default() };
        for path in ["", "user.slice", "./a", "/a/../b", "/a//b", "/.", "//", "//a"] {
            let (key, value, _) = cgroup(path).nobody().unwrap();
            assert_eq!((key, value), ("cgroup", format!("{path:?}")));
        }
        for path in ["/", "/a", "/a/", "/..", "/../../a", "/a/b..c", "/user.slice/user-7.slice"] {
            assert_eq!(cgroup(path).nobody(), None, "{path}");
        }
        let label = |label: &str| Who { label: Some(label.to_owned()), ..Who::default() };
        assert_eq!(label("").nobody().unwrap().0, "label");
        assert_eq!(label("a").nobody(), None);
        for (key, max) in [("uid", u32::MAX), ("gid", u32::MAX), ("group", u32::MAX)] {
            let who = |number| match key {
                "uid" => Who { uid: Some(number), ..Who::default() },
                "gid" => Who { gid: Some(number), ..Who::default() },
                _ => Who { group: Some(number), ..Who::default() },
            };
            assert_eq!(who(max).nobody().unwrap().0, key);
            assert_eq!(who(max - 1).nobody(), None);
        }
    }

    #[test]
    fn what_nobody_is_is_said_with_the_rule_the_value_and_what_can_be() {
        let who = Who { cgroup: Some("user.slice".to_owned()), ..Who::default() };
        let (id, limits, trust_class) = ("out".to_owned(), Limits::default(), None);
        let (verdict, priority) = (Verdict::Refuse, Priority::Normal);
        let rule = Rule { id, who, verdict, priority, limits, trust_class };
        let interface = crate::testing::null_interface(&[]);
        let error = Rules { rules: vec![rule] }.check(&interface).unwrap_err().to_string();
        let says = "rule \"out\" has cgroup = \"user.slice\", which nobody has; cgroup is a";
        assert!(error.starts_with(says), "{error}");
    }

    #[test]
    fn a_label_fits_whole_and_only_where_the_system_has_labels() {
        let given = |label: &str| Who { label: Some(label.to_owned()), ..Who::default() };
        let (here, _there) = nearcall_os::socket::Stream::pair().unwrap();
        let mut importer = Importer::of(&here).unwrap();
        importer.set_label(Some("system_u:r:backup_t:s0"));
        let fit = |who: Who, importer: &Importer| who.fit(importer, &OnceCell::new(), "I");
        assert_eq!(fit(given("system_u:r:backup_t:s0"), &importer), Fit::Yes);
        assert_eq!(fit(given("system_u:r:backup_t"), &importer), Fit::No);
        assert_eq!(fit(given(""), &importer), Fit::No);
        assert_eq!(fit(Who::default(), &importer), Fit::Yes);
        importer.set_label(None);
        assert_eq!(fit(given("system_u:r:backup_t:s0"), &importer), Fit::No);
        assert_eq!(fit(given(""), &importer), Fit::No);
    }

    #[track_caller]
    fn check_judged(rules: &[(Who, Verdict)], importer: &Importer, want: Result<&[&str], &str>) {
        static INTERFACE: InterfaceDescriptor = crate::testing::null_interface(&[]);
        let rules = rules.iter().cloned().map(|(who, verdict)| {
            let (id, priority, limits) = ("r".to_owned(), Priority::Normal, Limits::default());
            Rule { id, who, verdict, priority, limits, trust_class: None }
        });
        let rules = Rules { rules: rules.collect() };
        let want = want.map(|names| {
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            (names != ["*"]).then(|| permitted(&INTERFACE, &names))
        });
        let judged = rules.judge(importer, &INTERFACE).verdict;
        assert_eq!(judged, want.map_err(str::to_owned));
    }

    #[test]
    fn what_the_system_does_not_tell_takes_what_it_may_take_and_gives_nothing() {
        let (here, _there) = nearcall_os::socket::Stream::pair().unwrap();
        let mut importer = Importer::of(&here).unwrap();
        importer.forget_identity();
        let any = Who::default;
        let only = || Verdict::AdmitOnly(vec!["null".to_owned()]);
        let none = || Verdict::AdmitOnly(vec![]);
        let asked = [
            ("user", Who { uid: Some(7), ..any() }),
            ("group", Who { gid: Some(7), ..any() }),
            ("groups", Who { group: Some(7), ..any() }),
            ("control group", Who { cgroup: Some("/a".to_owned()), ..any() }),
        ];
        for (what, who) in asked {
            let refused = format!("rule \"r\" refuses it: the system does not tell its {what}");
            let refuse = [(who.clone(), Verdict::Refuse), (any(), Verdict::Admit)];
            check_judged(&refuse, &importer, Err(&refused));
            check_judged(&[(who.clone(), Verdict::Admit)], &importer, Err("no rule admits it"));
            let admit = [(who.clone(), Verdict::Admit), (any(), only())];
            check_judged(&admit, &importer, Ok(&["null"]));
            let some = [(who.clone(), only()), (any(), Verdict::Admit)];
            check_judged(&some, &importer, Ok(&["null"]));
            let both = [(who.clone(), none()), (any(), only())];
            let reason =
                format!("the system does not tell its {what}, so that rules before it leave");
            check_judged(&both, &importer, Err(&format!("{reason} it nothing to call")));
            let other = Who { interface: Some("other".to_owned()), ..who };
            check_judged(
                &[(other, Verdict::Refuse), (any(), Verdict::Admit)],
                &importer,
                Ok(&["*"]),
            );
        }
    }

    /// A rule of this name that admits everybody.
    fn called(id: &str) -> Rule {
        let (id, who, limits) = (id.to_owned(), Who::default(), Limits::default());
        let (verdict, priority) = (Verdict::Admit, Priority::Normal);
        Rule { id, who, verdict, priority, limits, trust_class: None }
    }

    #[test]
    fn records_tell_each_rule_from_all_else() {
        static CLASSES: [AStackClass; 1] = [AStackClass { block_bytes: 64, count: 1 }];
        let interface = crate::testing::null_interface(&CLASSES);
        let check = |rules: &[Rule]| Rules { rules: rules.to_vec() }.check(&interface);
        check(&[called("a"), called("b")]).unwrap();
        for id in Rule::RESERVED_IDS {
            let error = check(&[called("a"), called(id)]).unwrap_err().to_string();
            let want = "records have that word where no rule has decided";
            assert_eq!(error, format!("a rule has the id {id:?}; {want}"));
        }
        // One policy may serve several interfaces, whose records have one reader.
        let mut elsewhere = called("a");
        elsewhere.who.interface = Some("other".to_owned());
        let error = check(&[called("a"), elsewhere]).unwrap_err().to_string();
        assert_eq!(error, "a rule has the id \"a\"; another rule has that id, too");
        let error = check(&[called("")]).unwrap_err().to_string();
        assert_eq!(error, "a rule has the id \"\"; an id is not empty");
    }

    #[test]
    fn whom_a_rule_may_be_about_has_no_more_than_it_gives() {
        let interface = crate::testing::null_interface(&[]);
        let (here, _there) = nearcall_os::socket::Stream::pair().unwrap();
        let mut importer = Importer::of(&here).unwrap();
        let uid = importer.uid();
        importer.forget_identity();
        let (mut maybe, mut all) = (called("maybe"), called("all"));
        maybe.who.uid = uid;
        maybe.priority = Priority::Background;
        maybe.trust_class = Some("apart".to_owned());
        maybe.limits.user.bindings_max = Some(2);
        maybe.limits.binding.astacks_max = Some(9);
        all.limits.user.bindings_max = Some(3);
        all.limits.binding.astacks_max = Some(8);
        all.limits.binding.descriptors_max = Some(7);
        let judged = |rules: [&Rule; 2]| {
            let rules = Rules { rules: rules.map(Rule::clone).to_vec() };
            rules.judge(&importer, &interface)
        };
        let decision = judged([&maybe, &all]);
        assert_eq!((&*decision.rule, decision.verdict), ("all", Ok(None)));
        assert_eq!(decision.priority, Priority::Background);
        let Limits { user, binding } = decision.limits;
        assert_eq!(user, UserLimits { bindings_max: Some(2), ..UserLimits::default() });
        let (astacks_max, descriptors_max) = (Some(8), Some(7));
        let least = BindingLimits { astacks_max, descriptors_max, ..BindingLimits::default() };
        assert_eq!(binding, least);
        // Neither of the two classes has a bell that it could ring.
        let class = decision.trust_class;
        assert!(class.is_some() && class != maybe.trust_class, "{class:?}");
        // A rule behind the one that decides says nothing, nor does an urgent one that may be.
        maybe.priority = Priority::Urgent;
        maybe.trust_class = None;
        let decision = judged([&maybe, &all]);
        assert_eq!((decision.priority, decision.trust_class), (Priority::Normal, None));
        let decision = judged([&all, &maybe]);
        assert_eq!(decision.limits, all.limits);
    }
}
