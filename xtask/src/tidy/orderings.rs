//! Memory orderings: every one is a row of its module's table, or says why it needs none.
//!
//! In core and in the words that processors of FastThreads share, `ord!("O1", Release)` names the
//! row; rows and uses must match, the row's order must be the one that is used, and the partner
//! that a row names must stand in some table. Elsewhere a bare ordering has a comment.

use std::collections::{BTreeMap, BTreeSet};

use super::report::Report;
use super::tokens::{Token, is_at, test_ranges, text_at};
use super::tree::{File, Tree, comment_for};

const ORDERINGS: &[&str] = &["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// The protocol, and the words of FastThreads that kernel threads share: their orderings are rows.
const TABLED: &[&str] = &[
    "crates/core/src/",
    "crates/threads/src/inbox.rs",
    "crates/threads/src/join.rs",
    "crates/threads/src/latch.rs",
    "crates/threads/src/team.rs",
    "crates/threads/src/unbegun.rs",
];

/// The one file of the protocol that may name orderings freely: it wraps the atomics.
const FREE: &str = "crates/core/src/sync.rs";

/// Where a bare ordering needs a comment.
const COMMENTED: &[&str] = &["crates/os/src/", "crates/nearcall/src/", "crates/threads/src/"];

pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("orderings");
    let is_tabled = |file: &&File| TABLED.iter().any(|place| file.path.starts_with(place));
    let core: Vec<_> = tree.rust().filter(is_tabled).collect();
    let tables: BTreeMap<_, _> = core.iter().map(|file| (&file.path, table(file))).collect();
    let known: BTreeSet<_> = tables.values().flat_map(BTreeMap::keys).cloned().collect();
    let (mut uses, mut bare) = (0, 0);
    for file in &core {
        uses += rows(file, &tables[&file.path], &known, &mut report);
        if file.path != FREE && !file.is_test() {
            bare += bare_in_core(file, &mut report);
        }
    }
    for file in tree.rust().filter(|file| !file.is_test()) {
        if COMMENTED.iter().any(|place| file.path.starts_with(place)) {
            bare += bare_elsewhere(file, &mut report);
        }
    }
    report.counted(&[(known.len(), "rows"), (uses, "uses of rows"), (bare, "bare orderings")])
}

/// What a row of a table says.
struct Row {
    order: String,
    partners: Vec<String>,
}

/// The rows of the tables in the module's documentation and in that of its items, by name.
fn table(file: &File) -> BTreeMap<String, Row> {
    let mut rows = BTreeMap::new();
    let (mut order_column, mut partner_column) = (None, None);
    for line in file.text.lines() {
        let line = line.trim_start();
        let row = line.strip_prefix("//! |").or(line.strip_prefix("/// |"));
        let Some(row) = row else { continue };
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let column = |title: &str| cells.iter().position(|cell| *cell == title);
        order_column = column("order").or(order_column);
        partner_column = column("pairs with").or(partner_column);
        if is_row(cells[0]) {
            let cell = |column: Option<usize>| column.and_then(|column| cells.get(column)).copied();
            let partners = cell(partner_column).unwrap_or("").split([',', ' ']);
            let partners = partners.filter(|word| is_row(word)).map(str::to_owned).collect();
            let order = cell(order_column).unwrap_or("").to_owned();
            rows.insert(cells[0].to_owned(), Row { order, partners });
        }
    }
    rows
}

/// `O1`: a capital letter and a number.
fn is_row(cell: &str) -> bool {
    let mut letters = cell.chars();
    letters.next().is_some_and(|first| first.is_ascii_uppercase())
        && cell.len() > 1
        && letters.all(|digit| digit.is_ascii_digit())
}

/// Compares the table with the uses; returns how many uses there are.
fn rows(
    file: &File,
    table: &BTreeMap<String, Row>,
    known: &BTreeSet<String>,
    report: &mut Report,
) -> usize {
    let uses = uses_of_rows(&file.tokens);
    for Use { row, order, line } in &uses {
        let message = match table.get(edge(row)) {
            None => format!("row {row} is not in this module's table"),
            Some(_) if edge(row) != row && order != "Relaxed" => {
                format!("{row} prepares an edge and is used as {order}, not Relaxed")
            }
            Some(_) if edge(row) != row => continue,
            Some(said) if !says(&said.order, order) => {
                format!("row {row} is used as {order}, its table says `{}`", said.order)
            }
            Some(_) => continue,
        };
        report.find(&file.path, *line, message);
    }
    for (row, said) in table {
        if !uses.iter().any(|used| used.row == *row) {
            let message = format!("row {row} of the table is never used");
            report.find(&file.path, 0, message);
        }
        let partners = said.partners.iter();
        for partner in partners.filter(|partner| !known.contains(*partner)) {
            let message = format!("row {row} pairs with {partner}, which is in no table");
            report.find(&file.path, 0, message);
        }
    }
    uses.len()
}

/// One `ord!("O1", Release)`.
struct Use {
    row: String,
    order: String,
    line: usize,
}

fn uses_of_rows(tokens: &[Token]) -> Vec<Use> {
    let calls = (0..tokens.len()).filter(|i| is_at(tokens, *i, &["ord", "!", "("]));
    let named = calls.filter(|i| text_at(tokens, i + 3).starts_with('"'));
    let uses = named.map(|i| Use {
        row: text_at(tokens, i + 3).trim_matches('"').to_owned(),
        order: text_at(tokens, i + 5).to_owned(),
        line: tokens[i].line,
    });
    uses.collect()
}

/// The row's edge: a small letter after it names what only prepares the edge, and orders nothing.
fn edge(row: &str) -> &str {
    row.trim_end_matches(|letter: char| letter.is_ascii_lowercase())
}

/// Whether the order column names this ordering as a word. An edge that only `on failure` needs an
/// ordering succeeds with none.
fn says(cell: &str, order: &str) -> bool {
    if cell.ends_with("on failure") && order == "Relaxed" {
        return true;
    }
    cell.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == order)
}

/// The orderings that no `ord!` names, each with its line. `use` declarations name nothing yet.
fn bare_orderings(file: &File) -> Vec<(&str, usize)> {
    let tokens = &file.tokens;
    let tests = test_ranges(tokens);
    let mut found = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        if let Some(range) = tests.iter().find(|range| range.start == i) {
            i = range.end;
        } else if is_at(tokens, i, &["ord", "!"]) {
            i = tokens.get(i + 2).and_then(|open| open.mate).unwrap_or(i);
        } else if text_at(tokens, i) == "use" {
            i += tokens[i..].iter().position(|token| token.text == ";").unwrap_or(0);
        } else if ORDERINGS.contains(&text_at(tokens, i)) {
            found.push((tokens[i].text.as_str(), tokens[i].line));
        }
        i += 1;
    }
    found
}

fn bare_in_core(file: &File, report: &mut Report) -> usize {
    let found = bare_orderings(file);
    for (ordering, line) in &found {
        if *ordering != "Relaxed" {
            let message = format!("bare `{ordering}`: name a row with `ord!`");
            report.find(&file.path, *line, message);
        } else if comment_for(&file.text, *line).is_empty() {
            report.find(&file.path, *line, "bare `Relaxed` without a comment saying why");
        }
    }
    found.len()
}

fn bare_elsewhere(file: &File, report: &mut Report) -> usize {
    let found = bare_orderings(file);
    let explained = explained_at_use(file);
    // A comment also explains the lines that follow without a break.
    let mut explained_line = 0;
    for (ordering, line) in &found {
        let is_explained = explained.contains(ordering)
            || *line <= explained_line + 1
            || !comment_for(&file.text, *line).is_empty();
        if is_explained {
            explained_line = *line;
        } else {
            let message = format!("bare `{ordering}` without a comment saying why");
            report.find(&file.path, *line, message);
        }
    }
    found.len()
}

/// The orderings whose `use` declaration has a comment: it says why for the whole file.
fn explained_at_use(file: &File) -> BTreeSet<&str> {
    let tokens = &file.tokens;
    let mut explained = BTreeSet::new();
    for i in (0..tokens.len()).filter(|i| text_at(tokens, *i) == "use") {
        let names = tokens[i..].iter().take_while(|token| token.text != ";");
        let names = names.map(|token| token.text.as_str());
        if !comment_for(&file.text, tokens[i].line).is_empty() {
            explained.extend(names.filter(|name| ORDERINGS.contains(name)));
        }
    }
    explained
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::canary;

    const TABLE: &str = "//! | row | order | pairs with |\n//! |---|---|---|\n";

    #[track_caller]
    fn finds(rest: &str, words: &str) {
        let text = format!("{TABLE}{rest}");
        canary::finds(check, &[("crates/core/src/turn.rs", &text)], words);
    }

    #[test]
    fn a_row_that_is_in_no_table_is_found() {
        finds("fn a() { ord!(\"O1\", Release) }", "row O1 is not in this module's table");
    }

    #[test]
    fn a_row_that_is_never_used_is_found() {
        finds("//! | O1 | Release | - |\n", "row O1 of the table is never used");
    }

    #[test]
    fn a_partner_that_does_not_exist_is_found() {
        let text = "//! | O1 | Release | O7 |\nfn a() { ord!(\"O1\", Release) }";
        finds(text, "row O1 pairs with O7");
    }

    #[test]
    fn an_order_that_is_not_the_tables_is_found() {
        let text = "//! | O1 | Release | - |\nfn a() { ord!(\"O1\", Relaxed) }";
        finds(text, "row O1 is used as Relaxed, its table says `Release`");
    }

    #[test]
    fn what_prepares_an_edge_is_relaxed_and_its_row_exists() {
        let row = "//! | O1 | Release | - |\nfn a() { b(ord!(\"O1\", Release), ";
        finds(&format!("{row}ord!(\"O1h\", Acquire)) }}"), "O1h prepares an edge");
        finds(&format!("{row}ord!(\"O2h\", Relaxed)) }}"), "row O2h is not in");
        let text = format!("{TABLE}{row}ord!(\"O1h\", Relaxed)) }}");
        canary::passes(check, &[("crates/core/src/turn.rs", &text)]);
    }

    #[test]
    fn rows_that_match_their_uses_pass() {
        let text = format!(
            "{TABLE}//! | O1 | Release | O2 |\n//! | O2 | Acquire on failure | O1 |\n\
             fn a() {{ b(ord!(\"O1\", Release), ord!(\"O2\", Acquire)) }}"
        );
        canary::passes(check, &[("crates/core/src/turn.rs", &text)]);
    }

    #[test]
    fn bare_orderings_are_found() {
        finds("fn a() { b.load(Ordering::Acquire) }", "name a row");
        finds("fn a() { b.load(Ordering::Relaxed) }", "without a comment");
        let os = "fn a() {\n    b.store(1, Ordering::Release)\n}";
        canary::finds(check, &[("crates/os/src/a.rs", os)], "without a comment");
        let used = "use a::Relaxed;\n\nfn a() {\n    b.load(Relaxed)\n}";
        canary::finds(check, &[("crates/os/src/b.rs", used)], "without a comment");
    }

    #[test]
    fn an_ordering_with_a_reason_passes() {
        let os = "fn a() {\n    // Nothing else is read.\n    b.load(Ordering::Relaxed)\n}";
        canary::passes(check, &[("crates/os/src/a.rs", os), ("crates/core/src/a.rs", os)]);
        let used = "// Nothing else is read.\nuse a::Relaxed;\nfn a() {\n    b.load(Relaxed)\n}";
        canary::passes(check, &[("crates/os/src/b.rs", used)]);
        let free = "fn a() { b.load(Ordering::SeqCst) }";
        canary::passes(check, &[("crates/core/src/sync.rs", free)]);
    }
}
