use mnemic::{Cursor, Filter, ListOptions, MemoryPage};
use serde_json::json;

use crate::args::{Global, ListArgs};
use crate::diagnostics::say;
use crate::failure::{Outcome, Result};
use crate::output::{self, Align, printable};
use crate::record::Record;

const USERS_PAGE: usize = 1000;
/// Characters of a text that a row shows.
const TEXT_SHOWN: usize = 200;

pub(crate) fn list(global: &Global, args: &ListArgs) -> Result<Outcome> {
    let store = global.open()?;
    let page = global.handle(&store)?.list(options(args))?;
    store.close()?;
    for name in &page.damaged {
        say(&format!("warning: damaged and not listed: {name}"));
    }
    if global.json {
        let memories: Vec<Record> = page.memories.iter().map(Record::of).collect();
        let next = page.next.map(Cursor::to_number);
        output::json(&json!({"memories": memories, "total": page.total, "next": next, "damaged": page.damaged}))?;
    } else {
        print(&page)?;
    }
    Ok(Outcome::of_count(page.memories.len()))
}

pub(crate) fn users(global: &Global) -> Result<Outcome> {
    let store = global.open()?;
    let (mut users, mut after) = (Vec::new(), None);
    loop {
        let page = store.users(after, USERS_PAGE)?;
        users.extend(page.users.iter().map(|user| user.as_str().to_owned()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    store.close()?;
    if global.json {
        output::json(&json!({"users": users}))?;
    } else {
        users.iter().try_for_each(|user| output::line(&printable(user)))?;
    }
    Ok(Outcome::of_count(users.len()))
}

fn options(args: &ListArgs) -> ListOptions {
    let mut options = ListOptions::new().limit(args.limit);
    if let Some(after) = args.after {
        options = options.after(Cursor::from_number(after));
    }
    if !args.status.is_empty() {
        options = options.statuses(args.status.iter().copied());
    }
    let mut parts: Vec<Filter> = args.tag.iter().map(Filter::tag).collect();
    parts.extend(args.kind.map(Filter::kind));
    if parts.is_empty() { options } else { options.filter(Filter::all_of(parts)) }
}

fn print(page: &MemoryPage) -> Result<()> {
    if page.memories.is_empty() {
        return output::line("nothing found");
    }
    let rows = page.memories.iter().map(|memory| {
        let day = memory.created_at().to_string();
        let day = day.split('T').next().unwrap_or_default().to_owned();
        let text: String = memory.text().chars().take(TEXT_SHOWN).collect();
        vec![
            memory.id().to_string(),
            memory.kind().to_string(),
            memory.status().kind().to_string(),
            day,
            printable(&text),
        ]
    });
    output::table(&["id", "kind", "status", "created", "text"], &[Align::Left; 5], rows.collect())?;
    let next = page.next.map(|next| format!("; go on with --after {}", next.to_number())).unwrap_or_default();
    output::line(&format!("{} of {}{next}", page.memories.len(), page.total))
}
