//! A user that is refused without end: few records are written of it, the others are counted, and
//! nobody else loses one.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nearcall::{BindError, Binding, Domain};

use super::importers::{Importer, Manner};
use super::places::PLACES;
use super::{Part, audit};
use crate::campaign::report::{Report, Stopped};
use crate::effects::effects::EFFECTS;
use crate::server::import_options;

/// Imports that are refused in a row.
const REFUSALS: u64 = 1_000;

/// Records that may come at once, and so many more a second (SECURITY.md).
const BURST: f64 = 64.0;
const A_SECOND: f64 = 10.0;

/// After which another record is written, which has the number of those that were not.
const UNTIL_NEXT: Duration = Duration::from_millis(250);

const FLOODER: Importer = Importer { uid: 1001, gid: 1001, group: None, manner: Manner::Plain };
const BYSTANDER: Importer = Importer { uid: 1000, gid: 1000, group: None, manner: Manner::Plain };

/// Floods a server with imports that it refuses, beside an honest importer.
pub fn run(report: &mut Report) -> Result<(), Stopped> {
    let directory = tempfile::tempdir()?;
    std::fs::set_permissions(directory.path(), Permissions::from_mode(0o755))?;
    let mut judge = PLACES[0].start(directory.path())?;
    let begin = Instant::now();
    let rest = REFUSALS.to_string();
    let mut flooder = FLOODER.start(&[], Part::Flood, directory.path(), &rest)?;
    let heard = BYSTANDER.ask(&[], directory.path())?;
    let flooded = flooder.wait()?;
    let took = begin.elapsed();
    report.violations.extend(flooded.wrong(None));
    report.violations.extend(judge.end()?.wrong(None));
    let records = audit::read(directory.path())?;

    let refused: u64 = flooded.said.trim_end().parse()?;
    if refused != REFUSALS + 1 {
        report.violation(format!("{refused} of the flood were refused"));
    }
    let of = |uid| records.iter().filter(move |record| record.uid == Some(uid));
    let written = of(FLOODER.uid).count() as u64;
    let dropped: u64 = of(FLOODER.uid).map(|record| record.dropped).sum();
    report.count += 1;
    if written + dropped != refused {
        let adds = format!("{written} written and {dropped} counted");
        report.violation(format!("{adds} are not {refused} refusals"));
    }
    report.at_most(
        "records of a flood",
        written as f64,
        (BURST + A_SECOND * took.as_secs_f64()).ceil(),
        "",
    );
    let lost: u64 = of(BYSTANDER.uid).map(|record| record.dropped).sum();
    let decided = heard.verdicts.iter().filter(|(_, said)| said != "barred").count();
    let decisions = of(BYSTANDER.uid).filter(|record| record.event != "revoked").count();
    report.count += 1;
    if lost > 0 || decisions != decided {
        let found = format!("{decisions} records of {decided} decisions, {lost} were dropped");
        report.violation(format!("beside a flood {found}"));
    }
    Ok(())
}

/// Imports what it is refused, so many times in a row and once more; says how often it was;
/// [`Part::Flood`].
pub fn flood(directory: &Path, times: &str) {
    println!("ready");
    let times: u64 = times.parse().expect("a number of times");
    let domain = Domain::new().expect("a domain");
    let is_refused = |_: &u64| {
        let bound = Binding::import_with(&domain, "thousand", &EFFECTS, import_options(directory));
        matches!(bound, Err(BindError::NotAdmitted { .. }))
    };
    let refused = (0..times).filter(is_refused).count();
    std::thread::sleep(UNTIL_NEXT);
    println!("{}", refused + usize::from(is_refused(&times)));
}
