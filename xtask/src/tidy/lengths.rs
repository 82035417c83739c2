//! Functions, files and lines that are short enough to be read.

use super::report::Report;
use super::tokens::functions;
use super::tree::Tree;

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 600;
const COLUMNS_MAX: usize = 100;

/// Goldens are as long as what they show; they are not read here.
pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("lengths");
    let (mut files, mut lines, mut found) = (0, 0, 0);
    for file in tree.rust() {
        files += 1;
        let mut count = 0;
        for (i, line) in file.text.lines().enumerate() {
            count += 1;
            let columns = line.chars().count();
            if columns > COLUMNS_MAX {
                let message = format!("{columns} columns, limit {COLUMNS_MAX}");
                report.find(&file.path, i + 1, message);
            }
        }
        lines += count;
        if count > FILE_LINES_MAX {
            report.find(&file.path, 0, format!("{count} lines, limit {FILE_LINES_MAX}"));
        }
        for function in functions(&file.tokens) {
            found += 1;
            if function.lines > FUNCTION_LINES_MAX {
                let (name, lines) = (function.name, function.lines);
                let message = format!("`{name}` has {lines} lines, limit {FUNCTION_LINES_MAX}");
                report.find(&file.path, function.line, message);
            }
        }
    }
    report.counted(&[(files, "files"), (lines, "lines"), (found, "functions")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::canary;

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    a();\n".repeat(lines - 2))
    }

    #[test]
    fn a_long_function_is_found() {
        canary::finds(check, &[("a.rs", &function(71))], "`long` has 71 lines, limit 70");
        canary::passes(check, &[("a.rs", &function(70))]);
    }

    #[test]
    fn a_long_file_is_found() {
        canary::finds(check, &[("a.rs", &"// a\n".repeat(601))], "601 lines, limit 600");
        canary::passes(check, &[("a.rs", &"// a\n".repeat(600))]);
        canary::passes(check, &[("tests/idl/a.rs", &"// a\n".repeat(601))]);
    }

    #[test]
    fn a_long_line_is_found() {
        let line = format!("// {}\n", "é".repeat(98));
        canary::finds(check, &[("a.rs", &line)], "101 columns, limit 100");
        canary::passes(check, &[("a.rs", &line.replacen('é', "", 1))]);
    }
}
