//! What a newcomer or a script can run into: odd arguments, pipes, terminals, files that are none.

mod support;

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::process::Stdio;

use support::{Place, Run, mnemic, program};

#[test]
fn an_argument_that_is_not_utf8_is_wrong_use_and_no_panic() {
    let place = Place::new();
    let odd = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    for json in [&[][..], &["--json"]] {
        let mut command = program();
        command.args(json).args(["--store", &place.path("store"), "--user"]).arg(odd).args(["remember", "x"]);
        let run = Run::from(command.output().unwrap()).expect(2);
        assert!(run.stderr.starts_with("error: ") && !run.stderr.contains("panicked"), "{}", run.stderr);
    }
}

#[test]
fn a_mistyped_command_is_answered_with_a_tip_and_none_with_where_to_look() {
    assert!(mnemic(&["recal", "x"]).expect(2).stderr.contains("'recall'"));
    assert!(mnemic(&["--user", "ada", "remember", "-dash"]).expect(2).stderr.contains("-- -d"));
    let run = mnemic(&[]).expect(2);
    assert!(run.stderr.contains("--help") && run.stderr.contains("demo"), "{}", run.stderr);
}

#[test]
fn a_negative_number_is_refused_as_a_number() {
    let place = Place::new();
    place.remember(&["a note"]);
    for (option, says) in [("--half-life", "half-life"), ("--lambda", "decay rate"), ("--floor", "retention floor")] {
        let run = place.run(&["recall", "note", option, "-1"]).expect(2);
        assert!(run.stderr.contains(says), "{}", run.stderr);
    }
    assert!(place.run(&["remember", "x", "--importance", "-1"]).expect(2).stderr.contains("importance"));
    place.run(&["recall", "note", "--min-score", "-1"]).expect(0);
}

#[test]
fn a_row_of_a_list_is_one_line_where_no_terminal_breaks_it() {
    let place = Place::new();
    let long = format!("Prefers window seats {}", "x".repeat(150));
    let id = place.remember(&[&long, "--kind", "preference"]);
    let listed = place.run(&["list"]).expect(0).stdout;
    let row = listed.lines().find(|line| line.contains(&id)).unwrap();
    assert!(row.contains(&long), "{listed}");
}

#[test]
fn stored_text_can_not_turn_the_writing_direction_or_begin_a_line() {
    let place = Place::new();
    let id = place.remember(&["evil \u{202e}txet\u{2066} and \u{2028}error: none"]);
    for arguments in [&["list"][..], &["recall", "evil"], &["show", &id]] {
        let run = place.run(arguments).expect(0);
        assert!(!run.stdout.contains(['\u{202e}', '\u{2066}', '\u{2028}']), "{arguments:?}: {:?}", run.stdout);
    }
}

#[test]
fn a_line_of_an_import_can_not_steer_the_terminal_by_what_is_wrong_with_it() {
    let place = Place::new();
    let file =
        place.write("in.jsonl", "{\"text\":\"a\",\"\\u001b[2J\\u202e\":1}\n{\"text\":\"b\",\"kind\":\"\\u001b[2J\"}\n");
    let run = place.run(&["import", &file]).expect(2);
    assert_eq!(run.stderr.lines().count(), 2);
    assert!(!run.stderr.contains(['\u{1b}', '\u{202e}']), "{:?}", run.stderr);
}

#[test]
fn an_import_names_line_and_column_once() {
    let place = Place::new();
    let file = place.write("in.jsonl", "{\"text\":\"a\"}\nnope\n{\"text\":7}\n");
    let says = place.run(&["import", &file]).expect(2).stderr;
    assert!(says.contains("line 2: column 2: not JSON") && !says.contains("at line 1"), "{says}");
    assert!(says.contains("line 3: column 9: not as an export has it"), "{says}");
}

#[test]
fn a_full_export_is_read_from_a_pipe_and_a_cut_one_is_named_as_that() {
    let place = Place::new();
    let old = place.remember(&["Lives in Paris"]);
    place.run(&["correct", &old, "Lives in Rome"]).expect(0);
    let whole = place.run(&["export", "--full"]).expect(0).stdout;
    let mut child = program()
        .args(["--store", &place.path("other"), "--user", "ada", "import", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(whole.as_bytes()).unwrap();
    let run = Run::from(child.wait_with_output().unwrap()).expect(0);
    assert_eq!(run.json()["stored"], 2);
    let cut = place.write("cut.jsonl", whole.lines().next().unwrap());
    let says = place.run_in("third", &["import", &cut]).expect(2).stderr;
    assert!(says.contains("export"), "{says}");
}

#[test]
fn an_export_lies_open_to_its_owner_alone_and_replaces_no_pipe() {
    let place = Place::new();
    place.remember(&["Keeps a wombat"]);
    let out = place.path("out.jsonl");
    for full in [&[][..], &["--full"]] {
        place.run(&[&["export", "--out", &out], full].concat()).expect(0);
        assert_eq!(std::fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let pipe = place.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    place.run(&["export", "--out", &pipe]).expect(0);
    assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo(), "the pipe was replaced by a file");
    assert!(reader.join().unwrap().contains("wombat"));
}

#[test]
fn an_export_that_fails_leaves_no_memories_in_clear_behind() {
    let place = Place::new();
    let out = place.path("out.jsonl");
    place.remember(&["Keeps a wombat"]);
    let nobody = ["--store", &place.path("store"), "--user", "nobody", "export", "--full", "--out", &out];
    mnemic(&nobody).expect(1);
    assert!(!std::path::Path::new(&format!("{out}.partial")).exists());
    std::fs::create_dir(place.path("dir")).unwrap();
    place.run(&["export", "--out", &place.path("dir")]).expect(5);
    assert_eq!(std::fs::read_dir(place.dir.path()).unwrap().count(), 2, "the store and the directory");
}

#[test]
fn a_reader_that_goes_away_is_told_nothing() {
    let place = Place::new();
    let lines: Vec<String> = (0..3000).map(|i| format!("{{\"text\":\"note number {i} of many\"}}")).collect();
    let file = place.write("in.jsonl", lines.join("\n"));
    place.run(&["import", &file]).expect(0);
    for arguments in [&["export"][..], &["export", "--full"], &["export", "--json"], &["list", "--limit", "3000"]] {
        let mut command = program();
        command.args(["--store", &place.path("store"), "--user", "ada"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let run = Run::from(child.wait_with_output().unwrap()).expect(5);
        assert_eq!(run.stderr, "", "{arguments:?}");
    }
}

#[test]
fn an_empty_block_says_why_beside_it() {
    let place = Place::new();
    place.remember(&["Keeps a wombat"]);
    let run = place.run(&["context", "wombat", "--budget", "3"]).expect(1);
    assert!(run.stdout.is_empty() && run.stderr.contains("3 tokens"), "{:?} {}", run.stdout, run.stderr);
    let run = place.run(&["context", "!!!"]).expect(1);
    assert!(run.stdout.is_empty() && run.stderr.contains("nothing found"), "{:?} {}", run.stdout, run.stderr);
}

#[test]
fn what_every_command_takes_stands_apart_in_the_help() {
    let help = mnemic(&["recall", "--help"]).expect(0).stdout;
    let (own, every) = help.split_once("Options of every command:").unwrap();
    assert!(own.contains("--limit") && !own.contains("--store"), "{help}");
    assert!(every.contains("--store") && !every.contains("--limit"), "{help}");
}
