//! The benchmark program as its users and other programs meet it. Few calls: what is checked is
//! that it measures and how it says so, never how long anything took.

#![forbid(unsafe_code)]

use std::process::{Command, Output};

use nearcall_os::processor;
use serde_json::Value;

const CASES: [&str; 7] = ["null", "add", "bigin", "biginout", "4k", "64k", "1m"];

/// Those of `paper`, each of which has a bound.
const PAPER: [&str; 8] = ["null", "add", "bigin", "biginout", "4k", "64k", "1m", "mix"];

/// Measures a table on the processors that the calling thread may use.
fn table(name: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.args([name, "--rounds", "1", "--calls", "100"]).args(arguments);
    command.output().unwrap()
}

fn paper(arguments: &[&str]) -> Output {
    table("paper", arguments)
}

/// The JSON lines of a run that went well.
fn lines_of(output: &Output) -> Vec<Value> {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The same on one processor, whatever the machine has.
fn lines_on_one_processor(arguments: &'static [&'static str]) -> Vec<Value> {
    let thread = std::thread::spawn(|| {
        processor::pin(processor::allowed()[0]).unwrap();
        lines_of(&paper(arguments))
    });
    thread.join().unwrap()
}

/// Lines whose `field` is `value`.
fn with<'l>(lines: &'l [Value], field: &str, value: impl Into<Value>) -> Vec<&'l Value> {
    let value = value.into();
    lines.iter().filter(|line| line[field] == value).collect()
}

/// Parts of the reasons for which instructions are not counted on a machine.
const CANNOT_COUNT: [&str; 4] =
    ["lets no process be stepped", "nm is not installed", "on x86_64 only", "on one processor"];

/// The names of the cases of these lines.
fn cases<'l>(lines: &[&'l Value]) -> Vec<&'l str> {
    lines.iter().map(|line| line["case"].as_str().unwrap()).collect()
}

/// The cases of Nearcall's lines that were measured, or skipped.
fn cases_of_ours(lines: &[Value]) -> Vec<&str> {
    let ours = with(lines, "subject", "nearcall");
    cases(&ours.into_iter().filter(|line| line.get("unit").is_none()).collect::<Vec<_>>())
}

/// That what was skipped of ours was so for a reason that has one of these parts.
fn must_have_excuses(lines: &[Value], excuses: &[&str]) {
    for line in with(lines, "subject", "nearcall") {
        let is_excuse = |why: &str| excuses.iter().any(|part| why.contains(part));
        assert!(line["skipped"].as_str().is_none_or(is_excuse), "{line:#?}");
    }
}

/// Lines that are cases: subjects beside something, and counts.
fn count_cases(lines: &[Value]) -> usize {
    lines.iter().filter(|line| line["against"].is_string() || line["unit"].is_string()).count()
}

/// That the seven parts of a call were counted, unless `case` says why this machine cannot.
fn must_have_counted(lines: &[Value], case: &str) {
    let counted = with(lines, "unit", "instructions");
    let is_excuse = |why: &str| CANNOT_COUNT.iter().any(|part| why.contains(part));
    match with(lines, "case", case)[..] {
        [] => assert_eq!(counted.len(), 7, "{counted:#?}"),
        [skipped] => assert!(is_excuse(skipped["skipped"].as_str().unwrap()), "{skipped:#?}"),
        ref skipped => panic!("{skipped:#?}"),
    }
    assert!(counted.iter().all(|line| line["value"].as_f64() > Some(0.0)), "{counted:#?}");
}

#[test]
fn json_has_every_case_on_every_number_of_processors_and_ends_with_the_count() {
    let lines = lines_of(&paper(&["--json"]));
    for case in PAPER {
        let ours = cases_of_ours(&lines);
        assert_eq!(ours.iter().filter(|name| **name == case).count(), 2, "{case}");
    }
    assert!(count_cases(&lines) > PAPER.len());
    let done = lines.last().unwrap();
    let want = (&Value::from(true), &Value::from(count_cases(&lines)));
    assert_eq!((&done["done"], &done["cases"]), want);
}

#[test]
fn json_has_a_bound_beside_each_subject() {
    let lines = lines_of(&paper(&["--json"]));
    let measured: Vec<_> = lines.iter().filter(|line| line["rounds"].is_number()).collect();
    assert!(!measured.is_empty(), "{lines:#?}");
    for pair in measured.chunks(2) {
        let [subject, bound] = pair else { panic!("a subject without a bound") };
        assert_eq!(subject["against"], bound["subject"]);
        assert_eq!(bound["against"], Value::Null);
        for field in ["case", "processors", "placement", "rounds", "spread"] {
            assert_eq!(subject[field], bound[field], "{field}");
        }
        assert!(subject["p50_ns"].as_f64() > Some(0.0) && subject["ratio"].as_f64() > Some(0.0));
    }
}

#[test]
fn paper_counts_what_is_no_round() {
    let lines = lines_of(&paper(&["--json", "--processors", "1"]));
    let call = with(&lines, "subject", "procedure-call");
    assert!(call[0]["value"].as_f64() > Some(0.0) && call[0]["unit"] == "ns", "{call:?}");
    let callers = with(&lines, "case", "callers-1");
    assert_eq!(callers.len(), 2, "ours and a bare pair: {callers:?}");
    assert!(callers.iter().all(|rate| rate["value"].as_f64() > Some(0.0)), "{callers:?}");
}

#[test]
fn one_processor_is_measured_when_asked_for() {
    let lines = lines_of(&paper(&["--json", "--processors", "1"]));
    let one = with(&lines, "placement", "one");
    assert_eq!(cases_of_ours(&lines), PAPER);
    // One beside each case, and one beside the callers.
    assert_eq!(with(&lines, "subject", "raw-yield").len(), PAPER.len() + 1);
    assert_eq!(one.len(), 2 * PAPER.len());
}

#[test]
fn a_machine_of_one_processor_skips_what_needs_two() {
    let lines = lines_on_one_processor(&["--json"]);
    let skipped = with(&lines, "skipped", "two processors are needed and one is allowed");
    assert_eq!(cases(&skipped), PAPER);
    assert_eq!(lines.last().unwrap()["cases"], count_cases(&lines));
}

#[test]
fn a_run_that_could_measure_nothing_fails_and_is_not_done() {
    let thread = std::thread::spawn(|| {
        processor::pin(processor::allowed()[0]).unwrap();
        paper(&["--json", "--processors", "2"])
    });
    let output = thread.join().unwrap();
    assert!(!output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "bench: nothing was measured\n");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("done"));
}

#[test]
fn people_get_a_table() {
    let output = paper(&["--processors", "1"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.starts_with("paper: nearcall ") && text.contains("Linux"), "{text}");
    for case in PAPER {
        assert!(text.lines().any(|line| line.starts_with(&format!("{case} "))), "{text}");
    }
}

#[test]
fn another_number_of_processors_is_refused() {
    assert!(!paper(&["--processors", "3"]).status.success());
    assert!(!paper(&["--rounds", "0"]).status.success());
}

#[test]
fn each_peer_is_measured_beside_nearcall_or_named() {
    let lines = lines_of(&table("peers", &["--json", "--processors", "1", "--program", "/none"]));
    for subject in
        ["iceoryx2-poll", "iceoryx2-event", "tonic-uds", "capnp-uds", "tarpc-uds", "thrift-uds"]
    {
        let named = with(&lines, "subject", subject);
        assert_eq!(cases(&named), CASES);
        assert!(named.iter().all(|line| line["skipped"].is_string()), "{named:?}");
    }
    for subject in ["raw-futex", "raw-eventfd", "raw-pipe", "raw-uds"] {
        let named = with(&lines, "subject", subject);
        assert_eq!(cases(&named), CASES);
        assert!(named.iter().all(|line| line["against"] == "nearcall"), "{named:?}");
        assert!(named.iter().all(|line| line["version"] != ""), "{named:?}");
    }
    assert_eq!(lines.last().unwrap()["cases"], 4 * CASES.len());
}

/// Cases of a table that were measured on one processor, and every line of it.
fn measured_on_one(name: &str) -> (Vec<String>, Vec<Value>) {
    let lines = lines_of(&table(name, &["--json", "--processors", "1"]));
    let ours = with(&lines, "subject", "nearcall");
    let measured =
        ours.iter().filter(|line| line["against"].is_string() || line["unit"].is_string());
    let cases = measured.map(|line| line["case"].as_str().unwrap().to_owned()).collect();
    assert!(lines.last().unwrap()["cases"].as_u64() > Some(0));
    // A machine without what a table needs fails its test, with what is missing.
    let skipped: Vec<_> = lines.iter().filter(|line| line["skipped"].is_string()).collect();
    assert!(skipped.is_empty(), "{skipped:#?}");
    (cases, lines)
}

#[test]
fn sizes_say_how_many_bytes_and_how_fast() {
    let (cases, lines) = measured_on_one("size");
    assert!(cases.contains(&"0".to_owned()) && cases.contains(&"256m".to_owned()), "{cases:?}");
    for line in with(&lines, "case", "1m") {
        assert_eq!(line["bytes"], 1 << 20);
        assert!(line["bytes_per_s"].as_f64() > Some(0.0));
    }
    let (lent, copied): (Vec<_>, Vec<_>) = cases.iter().partition(|name| name.starts_with("lent-"));
    assert_eq!(lent, ["lent-1m", "lent-64m", "lent-1g"]);
    assert_eq!(with(&lines, "against", "lent-4k").len(), lent.len());
    assert_eq!(with(&lines, "subject", "memcpy").len(), copied.len());
}

#[test]
fn policies_meet_hogs_thoughts_and_a_second_of_nothing() {
    let (cases, _) = measured_on_one("policy");
    for case in ["shared", "hog", "think-0", "think-1ms", "idle-1s", "idle-1s-server-1"] {
        assert!(cases.iter().any(|name| name == case), "{case}: {cases:?}");
    }
}

#[test]
fn scale_has_a_thousand_bindings_and_many_calls_at_once() {
    let (cases, lines) = measured_on_one("scale");
    for case in ["hot-1", "hot-1000", "cold-1000", "memory-server-1", "bind-1"] {
        assert!(cases.iter().any(|name| name == case), "{case}: {cases:?}");
    }
    let pipelined = [1, 8, 16, 64].map(|count| format!("pipelined-{count}"));
    for case in pipelined.into_iter().chain(["after-pipelined-64".to_owned()]) {
        let outstanding = with(&lines, "case", case.clone());
        assert!(outstanding.iter().any(|line| line["ratio"].as_f64() > Some(0.0)), "{case}");
    }
}

#[test]
fn scale_has_calls_side_by_side_where_there_are_two_processors() {
    let lines = lines_of(&table("scale", &["--json"]));
    for microseconds in [2, 5, 8, 20] {
        let of_case = with(&lines, "case", format!("side-by-side-{microseconds}us"));
        let is_told = |line: &Value| {
            // Rounds in which the processors changed places count for nothing.
            line["ratio"].as_f64() > Some(0.0) || line["skipped"].is_string()
        };
        assert!(of_case.into_iter().any(is_told), "{microseconds}: {lines:#?}");
    }
    must_have_excuses(&lines, &["changed places", "two processors are needed"]);
}

#[test]
fn cost_has_the_parts_of_a_null_and_their_sum_beside_the_plain_call() {
    let lines = lines_of(&table("cost", &["--json"]));
    let timed: Vec<&str> = cases_of_ours(&lines);
    for part in ["post", "to-server", "run", "to-client", "collect", "stamped", "null"] {
        assert!(timed.contains(&part), "{part}: {timed:?}");
    }
    let excuses = ["stamps went back in time", "changed places"].into_iter().chain(CANNOT_COUNT);
    must_have_excuses(&lines, &excuses.collect::<Vec<_>>());
    must_have_counted(&lines, "instructions");
}

#[test]
fn floors_stand_beside_ours_and_beside_what_they_are_relative_to() {
    let lines = lines_of(&table("floor", &["--json"]));
    let copied = ["biginout", "4k", "64k", "1m", "4m"];
    let several = ["pipelined-8", "pipelined-16", "pipelined-64", "cold-64", "cold-512"];
    for case in copied.into_iter().chain(several).chain(["null", "asleep-leaf"]) {
        let of_case = with(&lines, "case", case);
        let is_told = |line: &&&Value| {
            // Rounds in which the processors changed places count for nothing.
            line["ratio"].as_f64() > Some(0.0) || line["skipped"].is_string()
        };
        let told: Vec<_> = of_case.iter().filter(is_told).collect();
        let of_ours = told.iter().filter(|line| line["subject"] == "nearcall").count();
        assert!(of_ours >= 1 && told.len() >= 2 * of_ours, "{of_case:#?}");
    }
    must_have_excuses(&lines, &["changed places"]);
}

#[test]
fn a_report_is_made_of_what_tables_print_and_needs_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let (file, out) = (directory.path().join("paper.json"), directory.path().join("report.html"));
    std::fs::write(&file, paper(&["--json", "--processors", "1"]).stdout).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    let output = command.arg("report").arg(&file).arg("--out").arg(&out).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(&out).unwrap();
    assert!(page.contains("<svg") && page.contains("biginout") && page.ends_with("</html>"));
}

#[test]
fn a_report_of_nothing_fails() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("empty.json");
    std::fs::write(&file, "").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    let output = command.arg("report").arg(&file).current_dir(&directory).output().unwrap();
    assert!(!output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "bench: nothing was measured\n");
}

#[test]
fn threads_has_its_cases_beside_a_procedure_call_on_one_processor() {
    let lines = lines_of(&table("threads", &["--json", "--programs", "/none"]));
    let beside = with(&lines, "against", "procedure-call");
    assert_eq!(cases(&beside), ["fork", "fork-join", "yield", "lock", "pingpong"]);
    assert_eq!(count_cases(&lines), 10);
    assert_eq!(with(&lines, "processors", 1).len(), 20);
    for subject in ["may", "tokio", "go", "boost-fiber"] {
        let named = with(&lines, "subject", subject);
        assert_eq!(cases(&named), ["fork", "fork-join", "yield", "pingpong"]);
        let says =
            |line: &&Value| line["skipped"].as_str().is_some_and(|why| why.contains("/none/"));
        assert!(named.iter().all(says), "{named:?}");
    }
}

#[test]
fn crowds_are_woken_and_say_what_memory_they_take_and_may() {
    let lines = lines_of(&table("crowd", &["--json", "--processors", "1"]));
    let timed: Vec<_> = lines.iter().filter(|line| line["against"].is_string()).collect();
    let want = ["reply-10000", "reply-100000", "signal-10000", "signal-100000"];
    assert_eq!(cases(&timed), want);
    assert!(timed.iter().all(|line| line["limit"] == 1.2), "{timed:?}");
    for case in ["memory-signal-1", "memory-reply-1"] {
        let [memory] = with(&lines, "case", case)[..] else { panic!("{case}: {lines:?}") };
        assert!(memory["value"].as_f64() > Some(0.0) && memory["limit"] == 5120.0, "{memory:?}");
    }
    assert_eq!(count_cases(&lines), want.len() + 6);
}

#[test]
fn stubs_builds_clients_in_c_and_cpp_and_says_what_a_parameter_costs_beside_none() {
    let lines = lines_of(&table("stubs", &["--json", "--processors", "1"]));
    let beside = with(&lines, "against", "no-parameter");
    for case in ["number", "numbers", "line", "line-back"] {
        let of_case = with(&lines, "case", case);
        assert!(of_case.iter().any(|line| line["ratio"].as_f64() > Some(0.0)), "{of_case:?}");
        assert!(cases(&beside).contains(&case), "{case}");
    }
    for (subject, compiler) in [("nearcall-c", "gcc"), ("nearcall-cpp", "g++")] {
        if let Some(lack) = ["gcc", compiler].into_iter().find_map(lacking::lack_of) {
            lacking::lacking(&lack);
            continue;
        }
        let named = with(&lines, "subject", subject);
        assert_eq!(cases(&named), ["null", "add", "biginout", "posted-4", "loop", "loop-4"]);
        let excuses = ["changed places"];
        assert!(named.iter().all(|line| is_measured(line, &excuses)), "{named:?}");
    }
}

#[test]
fn python_builds_its_client_and_measures_it() {
    if let Some(lack) = lacking::lack_of_python("python3") {
        return lacking::lacking(&lack);
    }
    let output = table("python", &["--json", "--processors", "1"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named = with(&lines, "subject", "nearcall-python");
    if let Some(lack) = named.iter().find_map(|line| lack_in(line)) {
        return lacking::lacking(&lack);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    for case in ["null", "add", "posted-64", "awaited-64", "64m-lent"] {
        assert!(cases(&named).contains(&case), "{case}: {named:?}");
    }
    let excuses = ["changed places"];
    assert!(named.iter().all(|line| is_measured(line, &excuses)), "{named:?}");
}

/// Whether a line has a time, or says one of these reasons for which it has none.
fn is_measured(line: &Value, excuses: &[&str]) -> bool {
    let is_excused = |why: &str| excuses.iter().any(|excuse| why.contains(excuse));
    line["p50_ns"].as_f64() > Some(0.0) || line["skipped"].as_str().is_some_and(is_excused)
}

/// What the machine lacks, if a line says so.
fn lack_in(line: &Value) -> Option<String> {
    let (_, lack) = line["skipped"].as_str()?.split_once("this machine lacks ")?;
    Some(lack.to_owned())
}

#[test]
fn a_client_of_ours_that_is_not_there_is_no_skipped_case() {
    for (name, subject) in [("stubs", "/none/nearcall-c"), ("python", "nearcall-python: /none")] {
        let output = table(name, &["--json", "--processors", "1", "--programs", "/none"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(subject), "{name}: {said}");
        assert!(output.stdout.is_empty(), "{name}");
    }
}

#[test]
fn instructions_has_both_sides_of_each_call_and_says_which_peers_are_missing() {
    let lines = lines_of(&table("instructions", &["--json", "--programs", "/none"]));
    let ours = with(&lines, "subject", "nearcall");
    for case in ["null", "pfs_write"] {
        let value = |suffix: &str| {
            let named = format!("{case}{suffix}");
            let line = ours.iter().find(|line| line["case"] == *named);
            line.and_then(|line| line["value"].as_f64())
                .unwrap_or_else(|| panic!("{named}: {ours:?}"))
        };
        assert!(value("-client") > 0.0 && value("-server") > 0.0);
        assert_eq!(value(""), value("-client") + value("-server"));
    }
    assert_eq!(count_cases(&lines), 6);
    let peers = ["iceoryx2-poll", "iceoryx2-event", "tonic-uds", "capnp-uds", "omniorb-uds"];
    for subject in peers {
        let named = with(&lines, "subject", subject);
        assert_eq!(cases(&named), ["null", "pfs_write"], "{subject}");
        assert!(named.iter().all(|line| line["skipped"].is_string()), "{named:?}");
    }
}

#[test]
fn urpc_has_every_number_of_threads_and_says_which_processors_are_missing() {
    let lines = lines_of(&table("urpc", &["--json"]));
    let measured = with(&lines, "subject", "nearcall-fastthreads");
    let cases = cases(&measured);
    for threads in [1, 2, 4, 8, 16, 64] {
        for case in ["throughput", "latency", "dispatch"] {
            let case = format!("{case}-{threads}");
            assert_eq!(cases.iter().filter(|name| **name == case).count(), 2, "{case}");
        }
        for subject in ["nearcall-kernel-threads", "nearcall-async"] {
            let named = self::cases(&with(&lines, "subject", subject));
            for case in ["throughput", "latency"] {
                assert!(named.contains(&&*format!("{case}-{threads}")), "{subject}: {named:?}");
            }
        }
    }
    must_have_counted(&lines, "component");
    let missing = cases.iter().filter(|name| name.starts_with("C="));
    assert_eq!(missing.count(), 3);
    let asleep = |subject: &str| {
        let lines = with(&lines, "subject", subject);
        lines.iter().filter(|line| line["case"].as_str().unwrap().starts_with("asleep")).count()
    };
    let wanted = if processor::count_allowed() > 1 { 4 } else { 1 };
    assert_eq!(asleep("nearcall-fastthreads"), wanted);
    assert_eq!(asleep("nearcall-fastthreads-urgent"), wanted);
}
