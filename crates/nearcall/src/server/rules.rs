//! Who may bind, as rules: data that a policy file or a program gives, and how it is judged.

use std::fmt;

use nearcall_abi::InterfaceDescriptor;
use nearcall_core::Priority;
use nearcall_core::admission::Permitted;

use super::clerk::Importer;

/// Rules in order: the first that fits an importer decides; if none does, it is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// In order.
    pub rules: Vec<Rule>,
}

/// One rule. What it does not say fits everybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What audit records call it.
    pub id: String,
    /// Whom it is for.
    pub who: Who,
    /// What is decided.
    pub verdict: Verdict,
    /// Whose calls go first, of those that it admits.
    pub priority: Priority,
}

/// What a rule says of those whom it fits. All that is given has to be so; what the system does not
/// tell of an importer (a user that is not mapped here, a process of another pid namespace) fits
/// nothing that is given.
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

/// A rule names a procedure that the interface does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownProcedure {
    /// The rule.
    pub rule: String,
    /// The name.
    pub procedure: String,
    /// The interface.
    pub interface: &'static str,
}

/// What the policy says of an importer.
pub(crate) struct Decision {
    /// The rule that decided, for the record.
    pub rule: String,
    /// The procedures it may call; `None`: all. Or why it is refused.
    pub verdict: Result<Option<Permitted>, String>,
    pub priority: Priority,
}

impl Rules {
    /// Whether every procedure that is named is one of the interface, for rules that are about it.
    pub(crate) fn check(&self, interface: &InterfaceDescriptor) -> Result<(), UnknownProcedure> {
        for rule in self.rules.iter().filter(|rule| rule.who.is_about(interface.name)) {
            let Verdict::AdmitOnly(names) = &rule.verdict else {
                continue;
            };
            for name in names {
                if index_of(interface, name).is_none() {
                    let (rule, procedure) = (rule.id.clone(), name.clone());
                    return Err(UnknownProcedure { rule, procedure, interface: interface.name });
                }
            }
        }
        Ok(())
    }

    pub(crate) fn judge(&self, importer: &Importer, interface: &InterfaceDescriptor) -> Decision {
        let Some(rule) = self.rules.iter().find(|rule| rule.who.fits(importer, interface.name))
        else {
            let verdict = Err("no rule admits it".to_owned());
            return Decision::of("otherwise", verdict);
        };
        let verdict = match &rule.verdict {
            Verdict::Admit => Ok(None),
            Verdict::AdmitOnly(names) => Ok(Some(permitted(interface, names))),
            Verdict::Refuse => Err(format!("rule {:?} refuses it", rule.id)),
        };
        Decision { rule: rule.id.clone(), verdict, priority: rule.priority }
    }
}

impl Decision {
    /// Of what is no rule, and has no priority to give.
    pub fn of(rule: &str, verdict: Result<Option<Permitted>, String>) -> Decision {
        Decision { rule: rule.to_owned(), verdict, priority: Priority::default() }
    }
}

/// The procedures of these names, those that the interface has, and those that carry the batches
/// of their feeds (design note 0020).
pub(crate) fn permitted(interface: &InterfaceDescriptor, names: &[String]) -> Permitted {
    let batches = ["", "_next_", "_put_", "_end_"];
    let named = names.iter().flat_map(|name| batches.map(|batch| format!("{batch}{name}")));
    Permitted::of(named.filter_map(|name| index_of(interface, &name)))
}

fn index_of(interface: &InterfaceDescriptor, name: &str) -> Option<u32> {
    let mut procedures = (0..).zip(interface.procedures);
    procedures.find(|(_, procedure)| procedure.name == name).map(|(index, _)| index)
}

impl Who {
    fn is_about(&self, interface: &str) -> bool {
        self.interface.as_deref().is_none_or(|name| name == interface)
    }

    fn fits(&self, importer: &Importer, interface: &str) -> bool {
        let is_or_unsaid =
            |given: Option<u32>, known: Option<u32>| given.is_none_or(|given| known == Some(given));
        let is_in = |group: u32| importer.gid() == Some(group) || importer.is_in_group(group);
        self.is_about(interface)
            && is_or_unsaid(self.uid, importer.uid())
            && is_or_unsaid(self.gid, importer.gid())
            && self.group.is_none_or(is_in)
            && self.cgroup.as_deref().is_none_or(|above| {
                importer.cgroup().is_some_and(|cgroup| is_below(&cgroup, above))
            })
            && (self.label.is_none() || self.label.as_deref() == importer.label())
    }
}

/// Whether a control group is `above` or lies below it.
fn is_below(cgroup: &str, above: &str) -> bool {
    let rest = cgroup.strip_prefix(above.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl fmt::Display for UnknownProcedure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownProcedure { rule, procedure, interface } = self;
        write!(f, "rule {rule:?} names {procedure:?}, which {interface} does not have")
    }
}

impl std::error::Error for UnknownProcedure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_group_is_below_itself_and_those_above() {
        assert!(is_below("/a/b", "/a/b") && is_below("/a/b", "/a") && is_below("/a/b", "/a/"));
        assert!(is_below("/a/b", "/"));
        assert!(!is_below("/ab", "/a") && !is_below("/a", "/a/b"));
    }

    #[test]
    fn a_label_fits_whole_and_only_where_the_system_has_labels() {
        let given = |label: &str| Who { label: Some(label.to_owned()), ..Who::default() };
        let (here, _there) = nearcall_os::socket::Stream::pair().unwrap();
        let mut importer = Importer::of(&here).unwrap();
        importer.set_label(Some("system_u:r:backup_t:s0"));
        assert!(given("system_u:r:backup_t:s0").fits(&importer, "I"));
        assert!(!given("system_u:r:backup_t").fits(&importer, "I"));
        assert!(!given("").fits(&importer, "I"));
        assert!(Who::default().fits(&importer, "I"));
        importer.set_label(None);
        assert!(!given("system_u:r:backup_t:s0").fits(&importer, "I"));
        assert!(!given("").fits(&importer, "I"));
    }
}
