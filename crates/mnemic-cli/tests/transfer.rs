//! Import and export.

mod support;

use serde_json::Value;
use support::Place;

const FULL: &str = r#"{"id":"01890000-0000-7000-8000-000000000001","kind":"fact","text":"Lives in Paris \"near\" the canal\n运河","slot":{"subject":"user","attribute":"city"},"value":"Paris","tags":["b","a"],"scene":"home","speaker":"Ada","language":"en","turn":{"session":"s1","seq":7},"importance":0.7,"confidence":0.3,"evidence":"inferred","sensitivity":"sensitive","visibility":"inform","pinned":true,"created_at":"2024-05-06T07:08:09.123456Z","event_at":"2024-05-05T00:00:00Z","valid_from":"2024-01-01","valid_to":"2025-01-01T00:00:00","source":{"session":"s1","turns":[1,7],"actor":"bot","trust":"agent","extractor":["rules","2"],"extracted_at":"2024-05-06T08:00:00Z"},"derived_from":["01890000-0000-7000-8000-0000000000aa"],"metadata":{"b":true,"f":3.0,"g":0.1,"i":-4,"l":["x","y"],"t":"12"}}"#;

fn export(place: &Place, store: &str) -> String {
    place.run_in(store, &["--level", "secret", "export"]).expect(0).stdout
}

#[test]
fn an_export_read_back_exports_the_same_lines() {
    let place = Place::new();
    let lines = format!("{FULL}\n{}\n\n{}\n", r#"{"text":"just a text"}"#, r#"{"text":"maybe","status":"candidate"}"#);
    let file = place.write("in.jsonl", lines);
    place.run(&["import", &file]).expect(0);
    let first = export(&place, "store");
    assert_eq!(first.lines().count(), 3);
    let out = place.path("out.jsonl");
    place.run(&["--level", "secret", "export", "--out", &out]).expect(0);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), first);
    place.run_in("other", &["import", &out]).expect(0);
    assert_eq!(export(&place, "other"), first);
    let again = place.run_in("other", &["import", &out, "--json"]).expect(0).json();
    assert_eq!((again["accepted"].as_u64(), again["new"].as_u64()), (Some(3), Some(0)));
}

#[test]
fn every_given_field_comes_out_as_it_went_in() {
    let place = Place::new();
    let file = place.write("in.jsonl", FULL);
    place.run(&["import", &file]).expect(0);
    let given: Value = serde_json::from_str(FULL).unwrap();
    let out: Value = serde_json::from_str(export(&place, "store").trim()).unwrap();
    for (key, value) in given.as_object().unwrap() {
        let expected = match key.as_str() {
            "tags" => serde_json::json!(["a", "b"]),
            "valid_from" => "2024-01-01T00:00:00Z".into(),
            "valid_to" => "2025-01-01T00:00:00Z".into(),
            _ => value.clone(),
        };
        assert_eq!(out[key], expected, "{key}");
    }
    let keys: Vec<&String> = out.as_object().unwrap().keys().collect();
    assert_eq!(keys[..4], ["id", "kind", "text", "slot"]);
}

#[test]
fn bad_lines_are_named_and_counted_and_the_others_go_in() {
    let place = Place::new();
    let lines: [&[u8]; 7] = [
        b"\xef\xbb\xbf{\"text\":\"one\"}",
        b"{\"text\":\"\"}",
        b"not json",
        b"{\"text\":\"two\",\"txet\":1}",
        b"{\"text\":\"\xff\"}",
        b"{\"text\":\"three\",\"metadata\":{\"n\":null}}",
        b"{\"text\":\"four\"}",
    ];
    let file = place.write("in.jsonl", lines.join(&b'\n'));
    let report = place.run(&["import", &file, "--json"]).expect(2).json();
    assert_eq!(
        (report["lines"].as_u64(), report["accepted"].as_u64(), report["refused"].as_u64()),
        (Some(7), Some(2), Some(5))
    );
    let named: Vec<u64> =
        report["errors"].as_array().unwrap().iter().map(|error| error["line"].as_u64().unwrap()).collect();
    assert_eq!(named, [2, 3, 4, 5, 6]);
    assert_eq!(place.run(&["list", "--json"]).expect(0).json()["total"], 2);
}

#[test]
fn many_lines_go_in_by_batches_and_none_is_lost() {
    let place = Place::new();
    let lines: Vec<String> = (0..2345).map(|i| format!("{{\"text\":\"note number {i}\"}}")).collect();
    let file = place.write("in.jsonl", lines.join("\n"));
    let report = place.run(&["import", &file, "--json"]).expect(0).json();
    assert_eq!((report["accepted"].as_u64(), report["new"].as_u64()), (Some(2345), Some(2345)));
    let out = export(&place, "store");
    let texts: Vec<String> = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].as_str().unwrap().to_owned())
        .collect();
    assert!(texts.iter().enumerate().all(|(i, text)| *text == format!("note number {i}")), "in memory order");
    assert_eq!(texts.len(), 2345);
}

#[test]
fn what_was_superseded_does_not_come_back_by_import() {
    let place = Place::new();
    let old = place.remember(&["Lives in Paris"]);
    place.run(&["correct", &old, "Lives in Rome"]).expect(0);
    let out = place.path("out.jsonl");
    place.run(&["export", "--out", &out]).expect(0);
    place.run_in("other", &["import", &out]).expect(0);
    let found = place.run_in("other", &["recall", "Lives in Paris", "--json"]).expect(0).json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    assert_eq!(found["hits"][0]["memory"]["text"], "Lives in Rome");
    assert_eq!(place.run_in("other", &["list", "--json"]).expect(0).json()["total"], 2);
}

#[test]
fn a_full_export_comes_back_as_it_was() {
    let place = Place::new();
    let old = place.remember(&["Lives in Paris"]);
    place.run(&["correct", &old, "Lives in Rome"]).expect(0);
    place.run(&["used", &old]).expect(0);
    let (out, again) = (place.path("out.jsonl"), place.path("again.jsonl"));
    place.run(&["export", "--full", "--out", &out]).expect(0);
    let report = place.run_in("other", &["import", &out, "--json"]).expect(0).json();
    assert_eq!((&report["stored"], &report["own"]), (&2.into(), &false.into()));
    place.run_in("other", &["export", "--full", "--out", &again]).expect(0);
    let memories = |path: &str| -> Vec<String> {
        std::fs::read_to_string(path).unwrap().lines().take(2).map(str::to_owned).collect()
    };
    assert_eq!(memories(&again), memories(&out));
    assert!(memories(&out)[0].contains("\"used_count\":1"));
    place.run(&["forget", &old]).expect(0);
    let report = place.run(&["import", &out, "--json"]).expect(3).json();
    assert_eq!((&report["refused"], &report["unchanged"]), (&1.into(), &1.into()));
    let text = std::fs::read_to_string(&out).unwrap().replacen("Rome", "Rima", 1);
    let changed = place.write("changed.jsonl", text);
    place.run_in("third", &["import", &changed]).expect(2);
}
