//! The policies, and what each must say of an importer: worked out here from what the importer is,
//! not from what the library makes of it.

use std::collections::BTreeMap;

use nearcall::{Limits, Priority, Rule, Verdict, Who};

use super::importers::{Importer, Manner};
use super::places::Place;

/// What the kernel shows for a user or a group that a namespace has no number for.
const UNKNOWN: u32 = 65534;

/// The control group that some importers are in.
pub const GROUP: &str = "/nearcall-t29";

/// What becomes of an importer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is bound, by this rule.
    Admitted(&'static str),
    /// It is refused, by this rule.
    Refused(&'static str),
    /// The kernel lets it not connect: no policy is asked.
    Barred,
}

impl Outcome {
    /// As an importer says it.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Admitted(_) => "admitted",
            Outcome::Refused(_) => "refused",
            Outcome::Barred => "barred",
        }
    }
}

/// The policies, by the name that they are exported under: rules, or the owner alone.
pub fn all() -> BTreeMap<&'static str, Option<Vec<Rule>>> {
    let any = Who::default;
    let uid = |uid| Who { uid: Some(uid), ..any() };
    let gid = |gid| Who { gid: Some(gid), ..any() };
    let group = |group| Who { group: Some(group), ..any() };
    let cgroup = |path: &str| Who { cgroup: Some(path.to_owned()), ..any() };
    let named = |name: &str| Who { interface: Some(name.to_owned()), ..any() };
    let admit = |who| rule("admits", who, Verdict::Admit);
    let refuse = |who| rule("refuses", who, Verdict::Refuse);
    BTreeMap::from([
        ("owner", None),
        ("nobody", Some(vec![])),
        ("anybody", Some(vec![admit(any())])),
        ("root", Some(vec![admit(uid(0))])),
        ("thousand", Some(vec![admit(uid(1000))])),
        ("unknown-user", Some(vec![admit(uid(UNKNOWN))])),
        ("own-group", Some(vec![admit(gid(1000))])),
        ("unknown-group", Some(vec![admit(gid(UNKNOWN))])),
        ("further-group", Some(vec![admit(group(2000))])),
        ("any-unknown-group", Some(vec![admit(group(UNKNOWN))])),
        ("both", Some(vec![admit(Who { gid: Some(1001), ..uid(1000) })])),
        ("user-and-group", Some(vec![admit(Who { group: Some(2000), ..uid(1001) })])),
        ("all-but-one", Some(vec![refuse(uid(1000)), admit(any())])),
        ("one-before-all", Some(vec![admit(uid(1001)), refuse(any())])),
        ("other-interface", Some(vec![admit(named("other::Other"))])),
        ("this-interface", Some(vec![admit(Who { uid: Some(0), ..named("effects::Effects") })])),
        ("control-group", Some(vec![admit(cgroup(GROUP))])),
        ("all-but-control-group", Some(vec![refuse(cgroup(GROUP)), admit(any())])),
        ("known-processes", Some(vec![admit(cgroup("/"))])),
    ])
}

/// A rule that says no more than this.
pub fn rule(id: &str, who: Who, verdict: Verdict) -> Rule {
    let (priority, limits) = (Priority::default(), Limits::default());
    Rule { id: id.to_owned(), who, verdict, priority, limits, trust_class: None }
}

/// Whether the control groups of importers are what a policy is about.
pub fn is_about_control_groups(name: &str) -> bool {
    ["control-group", "all-but-control-group", "known-processes"].contains(&name)
}

/// Their names, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().into_keys()
}

/// What must come of it if an importer imports `name` from a server that is so placed.
pub fn wanted(name: &str, importer: Importer, place: &Place) -> Outcome {
    let known = |number: u32| place.knows_user(number).then_some(number);
    let (uid, gid) = (known(importer.uid), known(importer.gid));
    let is_in = |group| gid == Some(group) || importer.group.and_then(known) == Some(group);
    let knows_groups = place.knows_processes && has_control_groups();
    let is_in_control_group = importer.manner == Manner::Grouped && knows_groups;
    if importer.is_barred() || name == "owner" && importer.uid != 0 && !place.is_open_to_all {
        return Outcome::Barred;
    }
    let fits = match name {
        "owner" if uid == Some(0) => return Outcome::Admitted("owner"),
        "owner" => return Outcome::Refused("owner"),
        "all-but-one" if uid.is_none_or(|uid| uid == 1000) => return Outcome::Refused("refuses"),
        "one-before-all" if uid != Some(1001) => return Outcome::Refused("refuses"),
        "all-but-control-group" if is_in_control_group || !knows_groups => {
            return Outcome::Refused("refuses");
        }
        "anybody" | "all-but-one" | "one-before-all" | "all-but-control-group" => true,
        "root" | "this-interface" => uid == Some(0),
        "thousand" => uid == Some(1000),
        "own-group" => gid == Some(1000),
        "further-group" => is_in(2000),
        "both" => (uid, gid) == (Some(1000), Some(1001)),
        "user-and-group" => uid == Some(1001) && is_in(2000),
        "control-group" => is_in_control_group,
        "known-processes" => knows_groups,
        _ => false,
    };
    if fits { Outcome::Admitted("admits") } else { Outcome::Refused("otherwise") }
}

/// Whether processes here are in control groups of the unified hierarchy.
pub fn has_control_groups() -> bool {
    own_control_group().is_some()
}

fn own_control_group() -> Option<String> {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    own.lines().find_map(|line| line.strip_prefix("0::")).map(str::to_owned)
}

/// The control group of an importer as a server that is so placed sees it.
pub fn control_group(importer: Importer, place: &Place) -> Option<String> {
    let own = own_control_group().filter(|_| place.knows_processes)?;
    Some(if importer.manner == Manner::Grouped { GROUP.to_owned() } else { own })
}

/// A user or group as a server that is so placed sees it.
pub fn seen(number: u32, place: &Place) -> Option<u32> {
    place.knows_user(number).then_some(number)
}

/// Whether the kernel has a number for it: none has one for this one.
pub fn is_a_number(number: u32) -> bool {
    number != UNKNOWN
}
