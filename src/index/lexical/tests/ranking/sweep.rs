use super::data::Set;
use super::formula::{Settings, figures, names_date};
use crate::index::lexical::Bm25;

fn print_line(name: &str, settings: &Settings, sets: &[Set]) {
    let cell = |set| {
        let (five, ten, _) = figures(settings, set, |_| true);
        format!(" {five:.3}/{ten:.3} |")
    };
    let cells: String = sets.iter().map(cell).collect();
    let (dated, _, _) = figures(settings, &sets[0], |q| names_date(&q.text));
    println!("| {name} |{cells} {dated:.3} |");
}

#[test]
#[ignore = "prints the table of docs/ranking.md"]
fn print_sweep() {
    let Some(sets) = super::sets() else { return };
    let names: Vec<_> = sets.iter().map(|set| set.name).collect();
    println!("| settings | {} | dated |\n{}", names.join(" | "), "| --- ".repeat(names.len() + 2) + "|");
    let d = Settings::DEFAULT;
    let print = |name: &str, settings: Settings| print_line(name, &settings, &sets);
    print("**defaults**", d);
    print("no vectors", d.shares(|s| s.dense = 0.0));
    print("words alone", d.words_alone());
    print("dense alone", d.dense_alone());
    print("no context", d.shares(|s| (s.near, s.session) = (0.0, 0.0)));
    print("no retention", Settings { floor: 1.0, ..d });
    for dense in [0.2, 0.3, 0.5, 0.7, 1.0] {
        print(&format!("dense {dense}"), d.shares(|s| s.dense = dense));
    }
    for (near, session) in [(0.1, 0.4), (0.15, 0.4), (0.25, 0.3), (0.25, 0.6), (0.2, 0.2), (0.2, 0.8), (0.3, 0.4)] {
        print(&format!("near {near}, session {session}"), d.shares(|s| (s.near, s.session) = (near, session)));
    }
    for speaker in [0.0, 0.05, 0.15, 0.2] {
        print(&format!("speaker {speaker}"), d.shares(|s| s.speaker = speaker));
    }
    for time in [0.0, 0.3, 0.5, 1.0] {
        print(&format!("time {time}"), d.shares(|s| s.time = time));
    }
    for (k1, b) in [(0.4, 0.2), (0.6, 0.1), (0.6, 0.4), (0.9, 0.2), (0.9, 0.4), (1.2, 0.75)] {
        print(&format!("words k1 {k1}, b {b}"), Settings { words: Bm25 { k1, b }, ..d });
    }
    for (k1, b) in [(0.6, 0.2), (0.8, 0.75), (1.2, 0.5), (1.6, 0.75), (1.6, 0.9)] {
        print(&format!("characters k1 {k1}, b {b}"), Settings { characters: Bm25 { k1, b }, ..d });
    }
}
