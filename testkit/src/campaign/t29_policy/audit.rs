//! What servers write down, as lines of JSON, and whether that is one record for each decision and
//! one for each end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use serde::Deserialize;

use super::importers::Importer;
use super::places::Place;
use super::policies::{self, Outcome};
use crate::effects::effects::EFFECTS;

/// Name of the file, in the directory of names.
const FILE: &str = "audit";

/// A record, as far as it is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(default)]
pub struct Record {
    pub event: String,
    pub name: String,
    pub interface: String,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    pub pid: Option<u32>,
    pub groups: Option<String>,
    pub cgroup: Option<String>,
    pub giver_uid: Option<u32>,
    pub rule: Option<String>,
    pub reason: Option<String>,
    pub dropped: u64,
    target: String,
}

/// Has this process write its audit records into a file of the directory, and nothing anywhere
/// else.
pub fn write_to(directory: &Path) {
    let file = File::options().create(true).append(true).open(directory.join(FILE));
    let writer = Mutex::new(file.expect("the file of records"));
    tracing_subscriber::fmt().json().flatten_event(true).without_time().with_writer(writer).init();
}

/// The records of a directory.
pub fn read(directory: &Path) -> io::Result<Vec<Record>> {
    let text = std::fs::read_to_string(directory.join(FILE))?;
    let records: Result<Vec<Record>, _> = text.lines().map(serde_json::from_str).collect();
    let mut records = records?;
    records.retain(|record| record.target == "nearcall::audit");
    Ok(records)
}

/// What must be written down of what came of an import.
pub fn wanted(
    name: &str,
    outcome: Outcome,
    importer: Importer,
    pid: u32,
    place: &Place,
) -> Vec<Record> {
    let groups = importer.group.and_then(|group| policies::seen(group, place));
    let record = |event: &str, rule: Option<&str>| Record {
        event: event.to_owned(),
        name: name.to_owned(),
        interface: EFFECTS.name.to_owned(),
        uid: policies::seen(importer.uid, place),
        gid: policies::seen(importer.gid, place),
        pid: place.knows_pids.then_some(pid),
        groups: groups.map(|group| group.to_string()),
        cgroup: policies::control_group(importer, place),
        rule: rule.map(str::to_owned),
        ..Record::default()
    };
    match outcome {
        Outcome::Admitted(rule) => vec![record("bound", Some(rule)), record("revoked", None)],
        Outcome::Refused(rule) => vec![record("refused", Some(rule))],
        Outcome::Barred => Vec::new(),
    }
}

/// What is there too often, or not as often as it is wanted. Why something happened is for people.
pub fn differences(found: &[Record], wanted: &[Record]) -> Vec<String> {
    let mut missing: BTreeMap<Record, i32> = BTreeMap::new();
    let plain = |record: &Record| {
        let (reason, target) = (None, String::new());
        Record { reason, target, ..record.clone() }
    };
    for record in wanted {
        *missing.entry(plain(record)).or_default() += 1;
    }
    for record in found {
        *missing.entry(plain(record)).or_default() -= 1;
    }
    missing.retain(|_, count| *count != 0);
    let say = |(record, count): (Record, i32)| match count > 0 {
        true => format!("{count} times not written down: {record:?}"),
        false => format!("{} times too often written down: {record:?}", -count),
    };
    missing.into_iter().map(say).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(rule: &str, pid: u32) -> Record {
        Record { rule: Some(rule.to_owned()), pid: Some(pid), ..Record::default() }
    }

    #[test]
    fn what_is_missing_or_too_much_or_says_something_else_is_a_difference() {
        let wanted = [record("a", 1), record("b", 1)];
        let reason = Some("for people".to_owned());
        let found = [record("b", 1), Record { reason, ..record("a", 1) }];
        assert_eq!(differences(&found, &wanted), [""; 0]);
        assert_eq!(differences(&found[1..], &wanted).len(), 1);
        assert_eq!(differences(&[&found[..], &found[..1]].concat(), &wanted).len(), 1);
        assert_eq!(differences(&[record("a", 1), record("b", 2)], &wanted).len(), 2);
        let dropped = Record { dropped: 1, ..record("b", 1) };
        assert_eq!(differences(&[record("a", 1), dropped], &wanted).len(), 2);
    }
}
