//! Policy files: who may bind to what, in TOML, for [`nearcall::Policy::Rules`].
//!
//! ```toml
//! # The first rule that fits decides. If none does, the importer is refused.
//! [[rule]]
//! id = "operators"                  # what audit records call it
//! interface = "files::Files"        # what is not said fits everybody
//! group = 27                        # or uid, gid, cgroup, label: all that are said have to fit
//! verdict = "admit"
//!
//! [[rule]]
//! id = "stranger"
//! uid = 1004
//! verdict = "refuse"
//!
//! [[rule]]
//! id = "readers"
//! cgroup = "/user.slice"
//! operations = ["open", "read"]     # and no others
//! priority = "background"           # or "normal", "urgent": whose calls go first
//! trust_class = "sandboxed"         # a bell of their own, apart from others' of their user
//! verdict = "admit"
//!
//! [rule.user]                       # what a user may hold, over all its bindings to the domain
//! handshakes_max = 4                # binds that are not complete
//! bindings_max = 8
//! astacks_max = 500
//! mapped_bytes_max = 268_435_456    # of its own memory that the server maps
//! own_bytes_max = 16_777_216        # of the server's memory
//! descriptors_max = 16              # that came with calls and were not taken yet
//!
//! [rule.binding]                    # what one binding may hold
//! astacks_max = 100
//! mapped_bytes_max = 67_108_864
//! own_bytes_max = 4_194_304
//! descriptors_max = 4
//! ```
//!
//! A limit is below a user's share or without effect (`nearcall::DomainOptions`): it gives nobody
//! more.
//!
//! A file that was changed takes effect when the program reads it again, on a signal for example;
//! bindings of which it says something else are revoked ([`nearcall::Clerk::set_policy`]):
//!
//! ```no_run
//! # fn reload(clerk: &nearcall::Clerk) -> Result<usize, Box<dyn std::error::Error>> {
//! let path = std::path::Path::new("/etc/files.policy");
//! let rules = nearcall_policy::load(path).map_err(|wrong| wrong.in_file(path))?;
//! let revoked = clerk.set_policy(nearcall::Policy::Rules(rules))?;
//! # Ok(revoked) }
//! ```
//!
//! Apart from `nearcall`, which parses no text. A key that is not known is an error: a policy that
//! says something must not be taken for one that does not.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod file;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};

use nearcall::{BindingLimits, Limits, Priority, Rule, Rules, UserLimits, Verdict, Who};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use toml::Spanned;

pub use file::FILE_BYTES_MAX;

/// Why a file is no policy.
#[derive(Debug)]
#[non_exhaustive]
pub enum PolicyError {
    /// It cannot be read, is no regular file, or may be another's than root's and this process's
    /// user's.
    File {
        /// The file.
        path: PathBuf,
        /// The system's word.
        reason: io::Error,
    },
    /// It is not TOML, or has a key or a value that a policy does not have.
    Text {
        /// Where, from 1.
        line: usize,
        /// What is there, in one line.
        reason: String,
    },
    /// A rule has a name by which no audit record tells it: none, or a word of
    /// [`Rule::RESERVED_IDS`].
    Id {
        /// Where, from 1.
        line: usize,
        /// The name.
        id: String,
    },
    /// Two rules have one name.
    Repeated {
        /// Where the later one has it, from 1.
        line: usize,
        /// The name.
        id: String,
        /// Where the other one has it.
        first_line: usize,
    },
    /// A rule refuses and names what may be called.
    RefusedOperations {
        /// The rule.
        id: String,
    },
    /// A rule refuses and says whose calls go first.
    RefusedPriority {
        /// The rule.
        id: String,
    },
    /// A rule refuses and says what may be held.
    RefusedLimits {
        /// The rule.
        id: String,
    },
    /// A rule refuses and says with whom a bell is shared.
    RefusedTrustClass {
        /// The rule.
        id: String,
    },
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, deserialize_with = "entries")]
    rule: Vec<Entry>,
}

/// A list of rules: one bracket where there are to be two is the first mistake to be made.
fn entries<'de, D: Deserializer<'de>>(text: D) -> Result<Vec<Entry>, D::Error> {
    struct Entries;

    impl<'de> Visitor<'de> for Entries {
        type Value = Vec<Entry>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("rules, each behind `[[rule]]`")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, rules: A) -> Result<Vec<Entry>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(rules))
        }
    }

    text.deserialize_seq(Entries)
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: Spanned<String>,
    interface: Option<String>,
    uid: Option<u32>,
    gid: Option<u32>,
    group: Option<u32>,
    cgroup: Option<String>,
    label: Option<String>,
    operations: Option<Vec<String>>,
    priority: Option<Urgency>,
    trust_class: Option<String>,
    user: Option<UserEntry>,
    binding: Option<BindingEntry>,
    verdict: Decided,
}

/// Nobody is admitted to hold nothing.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(expecting = "a table of what a user may hold; which user a rule is for is said by `uid`")]
struct UserEntry {
    handshakes_max: Option<NonZeroU32>,
    bindings_max: Option<NonZeroU32>,
    astacks_max: Option<NonZeroU32>,
    mapped_bytes_max: Option<NonZeroU64>,
    own_bytes_max: Option<NonZeroU64>,
    descriptors_max: Option<NonZeroU32>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(expecting = "a table of what a binding may hold")]
struct BindingEntry {
    astacks_max: Option<NonZeroU32>,
    mapped_bytes_max: Option<NonZeroU64>,
    own_bytes_max: Option<NonZeroU64>,
    descriptors_max: Option<NonZeroU32>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Decided {
    Admit,
    Refuse,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Urgency {
    Urgent,
    Normal,
    Background,
}

/// The rules in a regular file of at most [`FILE_BYTES_MAX`]: reading another one may never end.
/// Root owns it or the user that this process is of (the effective one), and nobody else may write
/// it: who can decides who may bind. Who may write its directory is not looked at.
///
/// # Errors: see [`PolicyError`].
pub fn load(path: &Path) -> Result<Rules, PolicyError> {
    let bytes =
        file::read(path).map_err(|reason| PolicyError::File { path: path.to_owned(), reason })?;
    let text = str::from_utf8(&bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        PolicyError::Text { line, reason: "it is not UTF-8".to_owned() }
    })?;
    parse(text)
}

/// The rules in a text.
///
/// # Errors: see [`PolicyError`].
pub fn parse(text: &str) -> Result<Rules, PolicyError> {
    let file: File = toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let (before, line) = (text.get(..start).unwrap_or_default(), line_of(text, start));
        let reason = error.message().replace('\n', ", ");
        let reason = match key_of(before) {
            // Names of groups are in a directory that may be anywhere, and change.
            Some(key @ ("uid" | "gid" | "group")) => {
                format!("{key}: {reason}, the number: names are not looked up")
            }
            Some(key) => format!("{key}: {reason}"),
            None => reason,
        };
        PolicyError::Text { line, reason }
    })?;
    check_ids(text, &file.rule)?;
    let rules = file.rule.into_iter().map(rule);
    rules.collect::<Result<_, _>>().map(|rules| Rules { rules })
}

/// Whether records tell each rule from all else. An export asks it of rules once more, wherever
/// they come from, and knows no lines.
fn check_ids(text: &str, entries: &[Entry]) -> Result<(), PolicyError> {
    let mut lines = HashMap::new();
    entries.iter().try_for_each(|Entry { id, .. }| {
        let (line, id) = (line_of(text, id.span().start), id.as_ref());
        if id.is_empty() || Rule::RESERVED_IDS.contains(&id.as_str()) {
            return Err(PolicyError::Id { line, id: id.clone() });
        }
        match lines.insert(id, line) {
            None => Ok(()),
            Some(first_line) => Err(PolicyError::Repeated { line, id: id.clone(), first_line }),
        }
    })
}

/// Which line, from 1, a byte of a text is in.
fn line_of(text: &str, start: usize) -> usize {
    text.get(..start).unwrap_or_default().matches('\n').count() + 1
}

/// The key of a value, by what stands before that; `None`: it is no value of a key. A value begins
/// in the line of its key, and a `=` within a comment or a text is behind no key.
fn key_of(before: &str) -> Option<&str> {
    let line = before.rsplit('\n').next()?;
    if line.contains(['#', '"', '\'']) {
        return None;
    }
    let blank = [' ', '\t'];
    let key = line.trim_end_matches(blank).strip_suffix('=')?.trim_end_matches(blank);
    key.rsplit([' ', '\t', '{', ',']).next()
}

fn rule(entry: Entry) -> Result<Rule, PolicyError> {
    let Entry { id, interface, uid, gid, group, cgroup, label, .. } = entry;
    let id = id.into_inner();
    let Entry { operations, priority, trust_class, user, binding, verdict, .. } = entry;
    let verdict = match (verdict, operations) {
        (Decided::Admit, None) => Verdict::Admit,
        (Decided::Admit, Some(operations)) => Verdict::AdmitOnly(operations),
        (Decided::Refuse, None) => Verdict::Refuse,
        (Decided::Refuse, Some(_)) => return Err(PolicyError::RefusedOperations { id }),
    };
    let priority = match priority {
        Some(_) if verdict == Verdict::Refuse => return Err(PolicyError::RefusedPriority { id }),
        Some(Urgency::Urgent) => Priority::Urgent,
        Some(Urgency::Background) => Priority::Background,
        Some(Urgency::Normal) | None => Priority::Normal,
    };
    if verdict == Verdict::Refuse && (user.is_some() || binding.is_some()) {
        return Err(PolicyError::RefusedLimits { id });
    }
    if verdict == Verdict::Refuse && trust_class.is_some() {
        return Err(PolicyError::RefusedTrustClass { id });
    }
    let user = user.map(user_limits).unwrap_or_default();
    let binding = binding.map(binding_limits).unwrap_or_default();
    let who = Who { interface, uid, gid, group, cgroup, label };
    Ok(Rule { id, who, verdict, priority, limits: Limits { user, binding }, trust_class })
}

fn user_limits(entry: UserEntry) -> UserLimits {
    UserLimits {
        handshakes_max: entry.handshakes_max.map(NonZeroU32::get),
        bindings_max: entry.bindings_max.map(NonZeroU32::get),
        astacks_max: entry.astacks_max.map(NonZeroU32::get),
        mapped_bytes_max: entry.mapped_bytes_max.map(NonZeroU64::get),
        own_bytes_max: entry.own_bytes_max.map(NonZeroU64::get),
        descriptors_max: entry.descriptors_max.map(NonZeroU32::get),
    }
}

fn binding_limits(entry: BindingEntry) -> BindingLimits {
    BindingLimits {
        astacks_max: entry.astacks_max.map(NonZeroU32::get),
        mapped_bytes_max: entry.mapped_bytes_max.map(NonZeroU64::get),
        own_bytes_max: entry.own_bytes_max.map(NonZeroU64::get),
        descriptors_max: entry.descriptors_max.map(NonZeroU32::get),
    }
}

impl PolicyError {
    /// The same in a line that names the file.
    pub fn in_file(&self, path: &Path) -> String {
        match self {
            PolicyError::File { .. } => self.to_string(),
            error => format!("{}: {error}", path.display()),
        }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicyError::File { path, reason } => write!(f, "{}: {reason}", path.display()),
            PolicyError::Text { line, reason } => write!(f, "line {line}: {reason}"),
            PolicyError::Id { line, id } if id.is_empty() => {
                write!(f, "line {line}: a rule has the id \"\"; an id is not empty")
            }
            PolicyError::Id { line, id } => {
                let why = "records have that word where no rule has decided";
                write!(f, "line {line}: a rule has the id {id:?}; {why}")
            }
            PolicyError::Repeated { line, id, first_line } => {
                write!(f, "line {line}: a rule has the id {id:?}, as the one of line {first_line}")
            }
            PolicyError::RefusedOperations { id } => {
                write!(f, "rule {id:?} refuses and has operations; only one that admits has them")
            }
            PolicyError::RefusedPriority { id } => {
                write!(f, "rule {id:?} refuses and has a priority; only one that admits has one")
            }
            PolicyError::RefusedLimits { id } => {
                write!(f, "rule {id:?} refuses and has limits; only one that admits has them")
            }
            PolicyError::RefusedTrustClass { id } => {
                write!(f, "rule {id:?} refuses and has a trust_class; only one that admits has one")
            }
        }
    }
}

impl std::error::Error for PolicyError {}

#[cfg(test)]
mod tests {
    use super::file::tests::own_file;
    use super::*;

    #[track_caller]
    fn check_refused(text: &str, says: &str) {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }

    #[test]
    fn rules_come_in_the_order_of_the_file() {
        let rules = parse(
            r#"
            [[rule]]
            id = "out"
            uid = 7
            verdict = "refuse"
            [[rule]]
            id = "in"
            interface = "files::Files"
            gid = 8
            group = 9
            cgroup = "/system.slice"
            label = "system_u:r:backup_t:s0"
            operations = ["open", "read"]
            priority = "background"
            trust_class = "sandboxed"
            verdict = "admit"
            [rule.user]
            handshakes_max = 1
            bindings_max = 2
            astacks_max = 3
            mapped_bytes_max = 4
            own_bytes_max = 5
            descriptors_max = 6
            [rule.binding]
            astacks_max = 7
            mapped_bytes_max = 8
            own_bytes_max = 9
            descriptors_max = 10
            "#,
        );
        let user = UserLimits {
            handshakes_max: Some(1),
            bindings_max: Some(2),
            astacks_max: Some(3),
            mapped_bytes_max: Some(4),
            own_bytes_max: Some(5),
            descriptors_max: Some(6),
        };
        let binding = BindingLimits {
            astacks_max: Some(7),
            mapped_bytes_max: Some(8),
            own_bytes_max: Some(9),
            descriptors_max: Some(10),
        };
        let who = Who {
            interface: Some("files::Files".to_owned()),
            uid: None,
            gid: Some(8),
            group: Some(9),
            cgroup: Some("/system.slice".to_owned()),
            label: Some("system_u:r:backup_t:s0".to_owned()),
        };
        let only = Verdict::AdmitOnly(vec!["open".to_owned(), "read".to_owned()]);
        let out = Who { uid: Some(7), ..Who::default() };
        let (id, verdict, priority) = ("out".to_owned(), Verdict::Refuse, Priority::Normal);
        let limits = Limits::default();
        let out = Rule { id, who: out, verdict, priority, limits, trust_class: None };
        let (id, priority) = ("in".to_owned(), Priority::Background);
        let (limits, trust_class) = (Limits { user, binding }, Some("sandboxed".to_owned()));
        let want = [out, Rule { id, who, verdict: only, priority, limits, trust_class }];
        assert_eq!(rules.unwrap().rules, want);
    }

    #[test]
    fn what_the_guide_shows_is_a_policy() {
        let guide = include_str!("../../../SECURITY.md");
        let (_, block) = guide.split_once("```toml\n").unwrap();
        let (text, _) = block.split_once("```").unwrap();
        let rules = parse(text).unwrap().rules;
        let only =
            |rule: &Rule| matches!(&rule.verdict, Verdict::AdmitOnly(names) if names.len() == 2);
        assert_eq!(rules.iter().map(|rule| rule.who.uid).collect::<Vec<_>>(), [Some(1004), None]);
        assert!(only(&rules[0]) && rules[1].limits.user.bindings_max == Some(8));
    }

    #[test]
    fn an_empty_policy_admits_nobody() {
        assert_eq!(parse("").unwrap(), Rules::default());
    }

    #[test]
    fn what_is_misspelt_is_not_passed_over() {
        check_refused("[[rule]]\nid = \"a\"\nuserid = 1\nverdict = \"admit\"", "userid");
        check_refused("[[rules]]\nid = \"a\"\nverdict = \"admit\"", "rules");
        check_refused("[[rule]]\nid = \"a\"\nverdict = \"allow\"", "allow");
        check_refused("[[rule]]\nid = \"a\"", "verdict");
        let minus = "line 3: uid: invalid value: integer `-1`, expected u32";
        check_refused("[[rule]]\nid = \"a\"\nuid = -1\nverdict = \"admit\"", minus);
        let named = "line 3: uid: invalid type: string \"root\", expected u32, \
            the number: names are not looked up";
        check_refused("[[rule]]\nid = \"a\"\nuid =\"root\"\nverdict = \"admit\"", named);
        let within = "line 4: bindings_max: invalid value: integer `0`, expected a nonzero u32";
        let table = "[[rule]]\nid = \"a\"\nverdict = \"admit\"\nuser = { bindings_max = 0 }";
        check_refused(table, within);
        let list = "[[rule]]\nid = \"a\"\nverdict = \"admit\"\noperations = [\n7]";
        check_refused(list, "line 5: invalid type: integer `7`, expected a string");
        check_refused("[[rule]]\nid = \"a\"\npriority = \"high\"\nverdict = \"admit\"", "high");
        check_refused("rule", "line 1");
        let (blank, dotted) = ("uid\t= \t-1", "user.bindings_max=0");
        let keyed = |line: &str| format!("[[rule]]\nid = \"a\"\n{line}\nverdict = \"admit\"");
        check_refused(&keyed(blank), "line 3: uid: invalid value");
        check_refused(&keyed(dotted), "line 3: user.bindings_max: invalid value");
        check_refused("[rule]\nid = \"a\"\nverdict = \"admit\"", "behind `[[rule]]`");
        let held = |key: &str| format!("[[rule]]\nid = \"a\"\nverdict = \"admit\"\n{key} = 7");
        check_refused(&held("user"), "which user a rule is for is said by `uid`");
        check_refused(&held("binding"), "expected a table of what a binding may hold");
        let limited = |limit: &str| {
            format!("[[rule]]\nid = \"a\"\nverdict = \"admit\"\n[rule.user]\n{limit}")
        };
        check_refused(&limited("astack_max = 1"), "astack_max");
        check_refused(&limited("bindings_max = 0"), "expected a nonzero u32");
        check_refused(&limited("own_bytes_max = -1"), "expected a nonzero u64");
        check_refused(&limited("own_bytes_max = \"1 GiB\""), "expected a nonzero u64");
        let of_binding = limited("").replace("user", "binding") + "bindings_max = 1";
        check_refused(&of_binding, "bindings_max");
    }

    #[test]
    fn a_comment_is_no_key() {
        let header = "# =======\n# Backup\n# =======\n[[rule]]\nid = \"a\"\n";
        assert_eq!(parse(header).unwrap_err().to_string(), "line 4: missing field `verdict`");
        let above = "[[rule]]\n# the uid =\nuids = 3\n";
        let error = parse(above).unwrap_err().to_string();
        assert!(error.starts_with("line 3: unknown field `uids`"), "{error}");
        // What is wrong stands within a text, behind one, or within a comment.
        for line in ["label = \"uid =\\q\"", "label = \"uid =\" =", "# uid =\u{7f}"] {
            let error = parse(&format!("[[rule]]\n{line}\n")).unwrap_err().to_string();
            assert!(error.starts_with("line 2: ") && !error.contains("uid:"), "{error}");
        }
    }

    #[test]
    fn a_name_is_one_rules_and_only_admission_has_operations() {
        let a = "[[rule]]\nid = \"a\"\nverdict = \"admit\"\n";
        let repeated = "line 5: a rule has the id \"a\", as the one of line 2";
        check_refused(&format!("{a}{a}"), repeated);
        let inline =
            "rule = [{ id = \"a\", verdict = \"admit\" },\n{ verdict = \"admit\", id = 'a' }]";
        check_refused(inline, "line 2: a rule has the id \"a\", as the one of line 1");
        let refused = "[[rule]]\nid = \"a\"\nverdict = \"refuse\"\noperations = []";
        check_refused(refused, "refuses and has operations");
        let refused = "[[rule]]\nid = \"a\"\nverdict = \"refuse\"\npriority = \"urgent\"";
        check_refused(refused, "refuses and has a priority");
        let refused = "[[rule]]\nid = \"a\"\nverdict = \"refuse\"\nuser.bindings_max = 1";
        check_refused(refused, "refuses and has limits");
        let refused = "[[rule]]\nid = \"a\"\nverdict = \"refuse\"\ntrust_class = \"b\"";
        check_refused(refused, "refuses and has a trust_class");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = load(Path::new("/no/such/policy.toml")).unwrap_err();
        assert!(error.to_string().starts_with("/no/such/policy.toml: "), "{error}");
    }

    #[test]
    fn what_is_not_utf_8_is_told_with_its_line() {
        let path = own_file("bytes", b"[[rule]]\nid = \"\xff\"\n");
        let error = load(&path).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(error.to_string(), "line 2: it is not UTF-8");
    }

    #[test]
    fn a_rule_has_a_name() {
        check_refused("[[rule]]\nid = \"\"\nverdict = \"admit\"", "line 2: a rule has the id \"\"");
    }

    #[test]
    fn a_rule_has_no_name_that_records_have_for_none() {
        for id in Rule::RESERVED_IDS {
            let text = format!("[[rule]]\nverdict = \"admit\"\nid = {id:?}\n");
            let says = format!("line 3: a rule has the id {id:?}; records have that word");
            check_refused(&text, &says);
        }
    }
}
