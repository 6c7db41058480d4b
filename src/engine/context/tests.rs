use std::collections::BTreeSet;

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::memory::NewMemory;

const NOW: Timestamp = Timestamp::from_seconds(1_700_000_000);

fn memory(id: u128, text: &str, visibility: Visibility) -> Memory {
    let new = NewMemory::preference(text).visibility(visibility);
    let mut memory = new.admit(MemoryId::from_u128(id), NOW).unwrap();
    memory.created_at = Timestamp::from_seconds(1_700_000_000 - 86_400 * (id % 90) as i64);
    memory
}

fn items(memories: &[Memory]) -> Vec<Item<'_>> {
    let scored = memories.iter().zip(1..);
    scored.map(|(memory, n)| Item { memory, core: false, score: 1.0 / f64::from(n), conflict: false }).collect()
}

fn layout(budget: usize) -> Layout<'static> {
    Layout { budget, now: NOW, language: None, tokens: None, likeness: None }
}

fn quotes(texts: &[&str]) -> Vec<Memory> {
    texts.iter().zip(1..).map(|(text, id)| memory(id, text, Visibility::Quote)).collect()
}

fn ids(block: &Block) -> Vec<u128> {
    block.used.iter().map(|(id, _)| u128::from_be_bytes(*id.as_bytes())).collect()
}

fn reason(block: &Block, id: u128) -> Option<Omission> {
    block.left_out.iter().find(|(other, _)| *other == MemoryId::from_u128(id)).map(|(_, why)| *why)
}

#[test]
fn a_block_reads_as_documented() {
    let mut memories = quotes(&["Prefers window seats", "Preferred the window seat", "Allergic to\nnuts"]);
    memories.push(memory(4, "Is getting a divorce", Visibility::Inform));
    memories.push(memory(5, "Password is swordfish", Visibility::Withhold));
    let mut items = items(&memories);
    items[2].core = true;
    items[3].conflict = true;
    let block = pack(&items, &layout(500));
    assert_eq!(
        block.text.lines().skip(2).collect::<Vec<_>>(),
        [
            "[000003 | 3 days ago | preference] Allergic to nuts",
            "[000001 | yesterday | preference] Prefers window seats",
            "[000004 | 4 days ago | preference | do not quote | in conflict] Is getting a divorce",
            "</memories>",
        ]
    );
    assert_eq!(ids(&block), [3, 1, 4]);
    assert_eq!(reason(&block, 2), Some(Omission::Duplicate(MemoryId::from_u128(1))));
    assert_eq!(reason(&block, 5), Some(Omission::Withheld));
    assert_eq!(block.tokens, estimate_tokens(&block.text));
}

#[test]
fn most_memories_decide_the_language() {
    let memories = quotes(&["我喜欢靠窗的座位", "她住在上海", "drinks tea"]);
    let items = items(&memories);
    assert!(pack(&items, &layout(500)).text.contains("[000001 | 昨天 | 偏好] 我喜欢靠窗的座位\n"));
    let english = Layout { language: Some(Language::English), ..layout(500) };
    assert!(pack(&items, &english).text.contains("[000001 | yesterday | preference] 我喜欢靠窗的座位\n"));
}

#[test]
fn a_conflict_is_shown_beside_its_like() {
    let memories = quotes(&["Lives in Rome", "Lived in Rome"]);
    let mut items = items(&memories);
    assert_eq!(ids(&pack(&items, &layout(500))), [1]);
    items[1].conflict = true;
    assert_eq!(ids(&pack(&items, &layout(500))), [1, 2]);
}

#[test]
fn one_giant_leaves_room_for_others() {
    let memories = quotes(&["👩\u{200d}👧 tells stories ".repeat(500).as_str(), "Likes tea"]);
    let block = pack(&items(&memories), &layout(300));
    assert_eq!(ids(&block), [1, 2]);
    assert_eq!(reason(&block, 1), Some(Omission::Shortened));
    assert!(block.tokens <= 300 && block.tokens > 150, "{}", block.tokens);
    let alone = pack(&items(&memories[..1]), &layout(300));
    assert!(alone.tokens <= 300 && alone.tokens > 280, "{}", alone.tokens);
    let none = pack(&items(&memories), &layout(20));
    assert_eq!((none.text.as_str(), none.tokens, none.used.len()), ("", 0, 0));
    assert_eq!(reason(&none, 2), Some(Omission::Budget));
}

#[test]
fn no_memory_is_an_empty_block() {
    assert_eq!(pack(&[], &layout(0)).text, "");
}

/// Estimators that add up, that do not, and one that is not even monotonic.
fn estimator(which: u8) -> fn(&str) -> usize {
    match which % 5 {
        0 => estimate_tokens,
        1 => str::len,
        2 => |text| text.chars().count().div_ceil(4),
        3 => |text| 7 + text.split_whitespace().count() * 2 + text.lines().count(),
        _ => |text| text.bytes().fold(1_usize, |a, b| (a * 31 + usize::from(b)) % 211),
    }
}

fn any_memories() -> impl Strategy<Value = Vec<Memory>> {
    let text =
        "[a-c ]{1,12}x|\\PC{1,300}y|[<>/memories\\n ]{1,30}z|[靠窗座位喜欢我]{1,30}|(e\u{301}👩\u{200d}👧 ?){20,90}w";
    let one = (0u128..40, text, 0usize..3, any::<bool>());
    proptest::collection::vec(one, 0..16).prop_map(|all| {
        let visible = [Visibility::Quote, Visibility::Inform, Visibility::Withhold];
        let make = |(id, text, visibility, pinned): (u128, String, usize, bool)| {
            let mut memory = memory(id, &text, visible[visibility]);
            memory.pinned = pinned && id % 4 == 0;
            memory
        };
        all.into_iter().map(make).collect()
    })
}

proptest! {
    #[test]
    fn no_block_breaks_a_promise(
        memories in any_memories(),
        budget in 0usize..700,
        which in any::<u8>(),
        scores in proptest::collection::vec(any::<f64>(), 16),
    ) {
        let tokens = estimator(which);
        let mut items = items(&memories);
        items.iter_mut().zip(&scores).for_each(|(item, score)| item.score = *score);
        let layout = Layout { tokens: Some(&tokens), ..layout(budget) };
        let block = pack(&items, &layout);
        prop_assert_eq!(&block, &pack(&items, &layout));
        prop_assert!(block.tokens <= budget);
        prop_assert!(block.text.is_empty() || tokens(&block.text) == block.tokens);
        prop_assert_eq!(block.text.is_empty(), block.used.is_empty());
        prop_assert_eq!(block.text.matches("memories>").count().min(2), if block.text.is_empty() { 0 } else { 2 });
        check_lines(&items, &block)?;
    }
}

fn check_lines(items: &[Item<'_>], block: &Block) -> Result<(), TestCaseError> {
    let lines: Vec<&str> = block.text.lines().collect();
    prop_assert_eq!(lines.len(), if block.used.is_empty() { 0 } else { block.used.len() + 3 });
    let unique: BTreeSet<MemoryId> = block.used.iter().map(|(id, _)| *id).collect();
    prop_assert_eq!(unique.len(), block.used.len());
    for ((id, handle), line) in block.used.iter().zip(lines.iter().skip(2)) {
        let like = |item: &&Item<'_>| item.memory.id == *id && item.memory.visibility != Visibility::Withhold;
        prop_assert!(items.iter().any(|item| like(&item)), "withheld");
        let head = format!("[{handle} | ");
        prop_assert!(line.starts_with(&head));
        let shown = line.split_once("] ").map_or("", |(_, text)| text);
        let begins = |item: &&Item<'_>| is_beginning(shown, &one_line(item.memory.text()));
        prop_assert!(items.iter().filter(like).any(|item| begins(&item)), "{}", shown);
    }
    let told: BTreeSet<MemoryId> = block.left_out.iter().map(|(id, _)| *id).chain(unique).collect();
    prop_assert!(items.iter().all(|item| told.contains(&item.memory.id)));
    Ok(())
}

/// Whether a shown text is the whole, or whole characters from its beginning and an ellipsis.
fn is_beginning(shown: &str, whole: &str) -> bool {
    let Some(cut) = shown.strip_suffix('\u{2026}').filter(|_| shown != whole) else { return shown == whole };
    let ends = whole.grapheme_indices(true).map(|(at, cluster)| at + cluster.len());
    ends.map(|end| whole[..end].trim_end()).any(|beginning| beginning == cut)
}
