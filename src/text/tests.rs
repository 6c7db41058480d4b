use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

use super::{QueryWords, TermList, analyser};

fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    analyser::for_each_term(text, &mut super::stems::Stems::default(), |term| terms.push(term.to_owned()));
    terms
}

#[track_caller]
fn assert_finds(memory: &str, queries: &[&str]) {
    let memory = TermList::of(memory);
    for query in queries {
        let asked = QueryWords::of(query).terms;
        assert!(!asked.is_empty(), "{query} has no terms");
        for term in asked {
            assert!(memory.counts.iter().any(|c| c.term == term.term), "{} of {query}", term.text);
        }
    }
}

#[test]
fn english_is_stemmed_without_stop_words() {
    assert_eq!(terms("The runners were running to their houses"), ["runner", "run", "hous"]);
    assert_eq!(terms("Ada's don't we've O'Brien"), ["ada", "obrien", "brien"]);
    assert_eq!(terms("the 3rd of 05"), ["3", "5"]);
}

#[test]
fn chinese_gives_characters_and_pairs() {
    assert_eq!(terms("靠窗，座"), ["靠", "窗", "靠窗", "座"]);
    assert_eq!(terms("用Rust写"), ["用", "rust", "写"]);
}

#[test]
fn wholes_and_parts_are_found() {
    assert_finds("released v1.2.3-rc1 today", &["v1.2.3-rc1", "1.2.3", "rc1"]);
    assert_finds("write to ada.lovelace@example.org", &["ada.lovelace@example.org", "lovelace", "example"]);
    assert_finds("see https://docs.rs/redb/4.6?x=1.", &["https://docs.rs/redb/4.6?x=1", "docs.rs redb"]);
    assert_finds("on 2023-05-07 at 8:30", &["2023-05-07", "2023", "8:30", "7"]);
    assert_finds(
        "fix parse_http_header in src/net/HTTPServer.rs",
        &["parse_http_header", "header", "HTTPServer", "server"],
    );
    assert_finds("std::vec::Vec and getUserName", &["std::vec::Vec", "getUserName", "user name"]);
    assert_finds("C++ or C#, GPT4 and well-known things", &["C++", "c#", "gpt4", "GPT 4", "well-known", "known"]);
    assert_finds("wait...what about Café Ａｄａ", &["wait", "cafe", "ada", "ADA", "café"]);
}

#[test]
fn other_scripts_without_spaces_are_found() {
    assert_finds("ฉันชอบกาแฟเย็น", &["กาแฟ"]);
    assert_finds("東京タワーに行きました", &["タワー", "東京"]);
    assert_finds("서울에서 만났어요", &["서울"]);
    assert_finds("ខ្ញុំចូលចិត្តកាហ្វេ", &["កាហ្វេ"]);
    assert_finds("Мне нравится Эрмитаж", &["эрмитаж"]);
    assert_finds("मुझे चाय पसंद है", &["चाय"]);
}

#[test]
fn joiners_alone_are_no_words() {
    for text in ["", "...", "--- /// :: ' ’ _", "?!", "\u{200d}\u{fe0f}", "the of and"] {
        assert_eq!(terms(text), Vec::<String>::new(), "{text:?}");
    }
}

/// Full-width forms of ASCII.
fn widened(text: &str) -> String {
    let wide = |c: char| if c.is_ascii_graphic() { char::from_u32(u32::from(c) + 0xfee0) } else { None };
    text.chars().map(|c| wide(c).unwrap_or(c)).collect()
}

proptest! {
    #[test]
    fn forms_of_the_same_text_have_the_same_terms(text in "[a-zA-Z0-9éüñ가-힣靠窗座位ก-ฮā .,_@/-]{0,40}") {
        let list = TermList::of(&text);
        prop_assert_eq!(&list, &TermList::of(&text.nfd().collect::<String>()));
        prop_assert_eq!(&list, &TermList::of(&text.nfkd().collect::<String>()));
        prop_assert_eq!(&list, &TermList::of(&widened(&text)));
    }

    #[test]
    fn any_text_is_analysed_within_bounds(text in "\\PC{0,80}|[\\u{0}-\\u{10ffff}]{0,80}") {
        let list = TermList::of(&text);
        prop_assert!(list.counts.is_sorted_by(|a, b| a.term < b.term));
        prop_assert!(list.length as usize <= 8 * text.len());
        QueryWords::of(&text).mentions(&text);
    }

    #[test]
    fn a_text_is_found_by_itself(text in "[a-zA-Z0-9 '._/:@#+靠窗座กา-]{1,40}") {
        let list = TermList::of(&text);
        for term in QueryWords::of(&text).terms {
            prop_assert!(list.counts.iter().any(|c| c.term == term.term));
        }
    }
}
