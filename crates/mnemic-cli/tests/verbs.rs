//! The verbs of the memory, as a script sees them.

mod support;

use support::{Place, mnemic, program};

#[test]
fn the_demo_runs_in_eighty_columns_and_leaves_nothing_behind() {
    let place = Place::new();
    let output = program().arg("demo").env("TMPDIR", place.dir.path()).env("NO_COLOR", "1").output().unwrap();
    let run = support::Run::from(output).expect(0);
    assert!(run.stdout.lines().all(|line| console::measure_text_width(line) <= 80), "{}", run.stdout);
    assert!(run.stdout.lines().count() < 70);
    for bad in ["LEAKED", "STILL THERE", "DIFFERS", "\x1b"] {
        assert!(!run.stdout.contains(bad), "{bad}");
    }
    assert_eq!(std::fs::read_dir(place.dir.path()).unwrap().count(), 0);
}

#[test]
fn the_demo_as_json_shows_what_it_claims() {
    let steps = mnemic(&["demo", "--json"]).expect(0).json();
    let facts = |step: usize| steps["steps"][step]["facts"].clone();
    assert_eq!(facts(1)[0]["hits"][0]["text"], "Prefers a window seat on the train");
    assert_eq!(facts(1)[1]["hits"][0]["text"], "坐高铁喜欢靠窗的座位");
    let scores = |memory: usize| facts(2)["memories"][memory]["scores"].as_array().unwrap().clone();
    let (new, old) = (scores(0), scores(1));
    assert!(old[0].as_f64() > new[0].as_f64(), "without decay the older lunch is the better hit");
    assert!(old[2].as_f64() < new[2].as_f64(), "with a short half-life the newer one is");
    assert!(new[3].as_f64() < new[2].as_f64(), "later it has faded");
    assert_eq!(facts(3)["before"][0]["text"], "Home is in Paris, near the canal");
    assert_eq!(facts(3)["after"][0]["text"], "Home is in Lisbon, up the hill");
    assert_eq!(facts(4)[0]["verified"], true);
    assert!(facts(5)[0]["why_not"].as_str().unwrap().contains("superseded"));
    assert!(facts(5)[1]["why_not"].as_str().unwrap().starts_with("beaten"));
    assert_eq!(facts(7)["user_memories"], 12);
}

#[test]
fn what_is_remembered_is_recalled_listed_shown_and_forgotten() {
    let place = Place::new();
    let options = ["--kind", "preference", "--tag", "travel", "--metadata", "visits=3", "--importance", "0.7"];
    let seat = place.remember(&[&["Prefers window seats"], &options[..]].concat());
    place.remember(&["Listens to jazz"]);
    let found = place.run(&["recall", "window seat", "--json", "--tag", "travel"]).expect(0).json();
    assert_eq!(found["hits"][0]["memory"]["id"], seat.as_str());
    assert_eq!(found["hits"][0]["memory"]["importance"], 0.7);
    assert_eq!(found["hits"][0]["verified"], true);
    assert_eq!(place.run(&["list", "--json"]).expect(0).json()["total"], 2);
    let shown = place.run(&["show", &seat, "--json"]).expect(0).json();
    assert_eq!(shown["memory"]["metadata"]["visits"], 3);
    assert!(place.run(&["show", &seat]).expect(0).stdout.contains("Prefers window seats"));
    place.run(&["forget", &seat]).expect(0);
    place.run(&["show", &seat]).expect(1);
    place.run(&["recall", "window seat", "--tag", "travel"]).expect(1);
}

#[test]
fn corrections_updates_and_feedback_are_kept() {
    let place = Place::new();
    let old = place.remember(&["Lives in Paris", "--kind", "fact", "--slot", "user.city", "--value", "Paris"]);
    let new = place.run(&["correct", &old, "Lives in Rome", "--value", "Rome"]).expect(0).stdout.trim().to_owned();
    assert!(place.run(&["why", &old, "Paris"]).expect(0).stdout.contains("superseded"));
    assert_eq!(place.run(&["update", &new, "--tag", "home", "--json"]).expect(0).json()["version"], 2);
    place.run(&["update", &new, "--scene", "x", "--if-version", "1"]).expect(3);
    assert_eq!(place.run(&["contradict", &new, "--json"]).expect(0).json()["version"], 3);
    assert_eq!(place.run(&["confirm", &new, "--json"]).expect(0).json()["version"], 4);
    place.run(&["used", &new]).expect(0);
    let shown = place.run(&["show", &new, "--history", "--json"]).expect(0).json();
    let verbs: Vec<&str> =
        shown["history"].as_array().unwrap().iter().map(|change| change["verb"].as_str().unwrap()).collect();
    assert!(verbs.ends_with(&["update", "contradict", "confirm", "use"]), "{verbs:?}");
    assert_eq!(shown["memory"]["used_count"], 1);
    assert_eq!(shown["memory"]["supersedes"][0], old.as_str());
    let stats = place.run(&["stats", "--json"]).expect(0).json();
    assert_eq!(stats["user"]["by_status"]["superseded"], 1);
}

#[test]
fn every_exit_code_is_what_the_help_says() {
    let place = Place::new();
    place.run(&["recall", "anything"]).expect(1);
    place.remember(&["a note"]);
    place.run(&["recall", "note"]).expect(0);
    place.run(&["recall", "note", "--min-score", "9"]).expect(1);
    place.run(&["recall"]).expect(2);
    place.run(&["recall", "  "]).expect(2);
    place.run(&["show", "no-uuid"]).expect(2);
    place.run(&["recall", "note", "--no-decay", "--lambda", "1"]).expect(2);
    place.run(&["remember", "x", "--importance", "2"]).expect(2);
    place.run(&["forget", "--all-of-user"]).expect(2);
    mnemic(&["--store", &place.path("store"), "list"]).expect(2);
    place.run(&["--passphrase-env", "PATH", "list"]).expect(3);
    let id = place.remember(&["mine", "--id", "00000000-0000-4000-8000-000000000001"]);
    place.run(&["remember", "other", "--id", &id]).expect(3);
    mnemic(&["eval", &place.path("none")]).expect(5);
    place.run(&["forget", "--all-of-user", "--yes"]).expect(0);
    place.run(&["forget", "--all-of-user", "--yes"]).expect(1);
    std::fs::write(place.dir.path().join("store/MANIFEST"), "nonsense").unwrap();
    place.run(&["list"]).expect(4);
}

#[test]
fn errors_are_one_line_and_one_document() {
    let place = Place::new();
    for (arguments, code, kind) in [
        (&["list", "--json"][..], 1, "not found"),
        (&["show", "x", "--json"], 2, "invalid"),
        (&["bogus", "--json"], 2, "invalid"),
    ] {
        let run = place.run(arguments).expect(code);
        assert_eq!(run.json()["error"]["kind"], kind);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(run.stderr.starts_with("error: "));
    }
}

#[test]
fn nothing_above_the_level_is_shown_or_exported() {
    let place = Place::new();
    place.remember(&["a secret note", "--sensitivity", "secret"]);
    place.remember(&["a plain note"]);
    for (arguments, seen) in [(&["list", "--json"][..], 1), (&["--level", "secret", "list", "--json"], 2)] {
        assert_eq!(place.run(arguments).expect(0).json()["total"], seen);
    }
    assert_eq!(place.run(&["export"]).expect(0).stdout.lines().count(), 1);
    assert_eq!(place.run(&["--level", "secret", "export"]).expect(0).stdout.lines().count(), 2);
}

#[test]
fn stored_text_can_not_steer_the_terminal() {
    let place = Place::new();
    let id = place.remember(&["evil \u{1b}[2J \u{7} text"]);
    for arguments in [&["list"][..], &["recall", "evil text"], &["show", &id, "--history"]] {
        let run = place.run(arguments).expect(0);
        assert!(!run.stdout.contains(['\u{1b}', '\u{7}']), "{arguments:?}: {:?}", run.stdout);
    }
}

#[test]
fn a_passphrase_opens_what_it_locked() {
    let place = Place::new();
    let run = |variable: &str, value: &str, arguments: &[&str]| {
        let mut command = program();
        command.args(["--store", &place.path("store"), "--user", "ada", "--passphrase-env", variable]);
        support::Run::from(command.args(arguments).env("MNEMIC_TEST_PASS", value).output().unwrap())
    };
    run("MNEMIC_TEST_PASS", "correct horse", &["remember", "a note"]).expect(0);
    run("MNEMIC_TEST_PASS", "correct horse", &["list"]).expect(0);
    run("MNEMIC_TEST_PASS", "wrong", &["list"]).expect(3);
    run("MNEMIC_TEST_UNSET", "x", &["list"]).expect(2);
    place.run(&["list"]).expect(3);
}

#[test]
fn a_kept_trace_is_told_until_the_memory_is_forgotten() {
    let place = Place::new();
    let seat = place.remember(&["Prefers window seats"]);
    let found = place.run(&["recall", "window seat", "--trace", "--json"]).expect(0).json();
    let trace = found["trace"].as_str().unwrap().to_owned();
    let told = place.run(&["why", &trace, "--json"]).expect(0).json();
    assert_eq!(told["hits"][0]["id"], seat.as_str());
    assert_eq!(told["hits"][0]["score"], found["hits"][0]["score"]);
    assert!(place.run(&["why", &trace]).expect(0).stdout.contains("Prefers window seats"));
    place.run(&["recall", "window seat", "--as-of", "2001-01-01T00:00:00Z"]).expect(1);
    place.run(&["why", &seat]).expect(2);
    place.run(&["forget", &seat]).expect(0);
    let told = place.run(&["why", &trace, "--json"]).expect(1).json();
    assert_eq!((told["hits"].as_array().unwrap().len(), told["forgotten"].as_u64()), (0, Some(1)));
    place.run(&["why", "trace-99"]).expect(1);
}

#[test]
fn a_mistake_is_undone_by_a_snapshot_and_upkeep_changes_nothing() {
    let place = Place::new();
    let seat = place.remember(&["Prefers window seats"]);
    place.remember(&["Listens to jazz"]);
    // An option of one user fits no command on the whole store.
    place.run(&["snapshot"]).expect(2);
    let all = |arguments: &[&str]| -> support::Run {
        support::program().args(["--store", &place.path("store")]).args(arguments).output().unwrap().into()
    };
    all(&["snapshot", "--list"]).expect(1);
    let id = all(&["snapshot"]).expect(0).stdout.trim().to_owned();
    let listed = all(&["snapshot", "--list", "--json"]).expect(0).json();
    assert_eq!((&listed["snapshots"][0]["id"], &listed["snapshots"][0]["memories"]), (&id.as_str().into(), &2.into()));
    place.run(&["update", &seat, "--text", "Prefers wombats"]).expect(0);
    place.remember(&["Is a wombat"]);
    let done = place.run(&["restore", &id, "--json"]).expect(0).json();
    assert_eq!((&done["restored"], &done["archived"], &done["unchanged"]), (&1.into(), &1.into(), &1.into()));
    assert!(place.run(&["show", &seat]).expect(0).stdout.contains("Prefers window seats"));
    place.run(&["forget", &seat]).expect(0);
    let done = all(&["restore", &id, "--all-users"]).expect(0).stdout;
    assert!(done.contains("1 stay forgotten"), "{done}");
    all(&["restore", &id]).expect(2);
    let done = all(&["maintain", "--seconds", "5", "--json"]).expect(0).json();
    assert_eq!((&done["finished"], &done["damaged"]), (&true.into(), &serde_json::json!([])));
    all(&["snapshot", "--delete", &id]).expect(0);
    all(&["restore", &id, "--all-users"]).expect(1);
}

#[test]
fn a_receipt_holds_until_older_files_are_put_back() {
    let place = Place::new();
    place.remember(&["Keeps a wombat"]);
    let seat = place.remember(&["Prefers window seats"]);
    let shard = std::fs::read_dir(place.path("store/shards")).unwrap().map(|entry| entry.unwrap().path());
    let before: Vec<_> = shard.chain([place.path("store/KEYRING").into()]).map(|p| (std::fs::read(&p), p)).collect();
    let receipt = place.run(&["forget", &seat, "--json"]).expect(0).json()["receipt"].as_str().unwrap().to_owned();
    let all = |arguments: &[&str]| -> support::Run {
        support::program().args(["--store", &place.path("store")]).args(arguments).output().unwrap().into()
    };
    let told = all(&["verify-receipt", &receipt, "--json"]).expect(0).json();
    assert_eq!((&told["verdict"], &told["of_user"]), (&"holds".into(), &false.into()));
    all(&["verify-receipt", &receipt[1..]]).expect(2);
    let forged = receipt.replace(&receipt[20..24], if receipt[20..].starts_with("0000") { "1111" } else { "0000" });
    assert!(all(&["verify-receipt", &forged]).expect(3).stdout.starts_with("forged"));
    let lines = place.run(&["forget", "--all-of-user", "--yes"]).expect(0).stdout;
    all(&["verify-receipt", lines.lines().nth(1).unwrap()]).expect(0);
    before.iter().for_each(|(bytes, path)| std::fs::write(path, bytes.as_ref().unwrap()).unwrap());
    assert!(all(&["verify-receipt", &receipt]).expect(3).stdout.starts_with("broken"));
}

#[test]
fn keys_are_changed_and_the_old_ones_open_nothing() {
    let place = Place::new();
    let id = place.remember(&["Prefers window seats"]);
    place.run(&["rotate-keys"]).expect(0);
    let all = |key: Option<&str>, arguments: &[&str]| -> support::Run {
        let mut command = support::program();
        command.args(["--store", &place.path("store")]).env("MNEMIC_NEW_PASS", "correct horse");
        key.iter().for_each(|variable| _ = command.args(["--passphrase-env", variable]));
        command.args(arguments).output().unwrap().into()
    };
    all(None, &["rotate-keys", "--new-key-file"]).expect(0);
    all(None, &["rotate-keys", "--new-passphrase-env", "MNEMIC_NEW_PASS"]).expect(0);
    assert!(!place.dir.path().join("store/MASTERKEY").exists());
    all(None, &["users"]).expect(3);
    all(Some("MNEMIC_NEW_PASS"), &["rotate-keys"]).expect(2);
    all(Some("MNEMIC_NEW_PASS"), &["rotate-keys", "--user", "ada"]).expect(0);
    let shown = all(Some("MNEMIC_NEW_PASS"), &["--user", "ada", "show", &id]).expect(0);
    assert!(shown.stdout.contains("window seats"));
    all(Some("MNEMIC_NEW_PASS"), &["rotate-keys", "--new-key-file"]).expect(0);
    place.run(&["show", &id]).expect(0);
}
