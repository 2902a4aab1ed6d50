//! Which id each task of a whole-list write gets: its own, that of the task it continues, or a minted one.
//!
//! The rules are Mastra's, so that an agent that writes its list again and again meets the same ids again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::ids::TaskId;
use super::limits::SLUG_CHARS_MAX;
use super::operation::Item;
use super::task::{Content, Task};

/// Returns one id for each item, in order. Takes time in proportion to the items and the previous tasks.
pub(super) fn assigned_ids(previous: &[Arc<Task>], items: &[Item]) -> Vec<TaskId> {
    let explicit: HashSet<&TaskId> = items.iter().filter_map(|item| item.id.as_ref()).collect();
    let continued = continued_ids(previous, items, &explicit);
    // A leased task stays even where the call omits it, so that its id is not free.
    let leased = previous.iter().filter(|task| task.lease.is_some()).map(|task| &task.id);
    let mut minter = Minter {
        reserved: explicit.iter().copied().chain(continued.values().copied()).chain(leased).cloned().collect(),
        ..Minter::default()
    };
    let mut used: HashSet<&TaskId> = HashSet::with_capacity(items.len());
    items
        .iter()
        .map(|item| {
            let nth = minter.count(&item.content);
            match &item.id {
                Some(id) if used.insert(id) => id.clone(),
                Some(_) => minter.mint(&item.content, nth),
                None => match continued.get(&item.content) {
                    Some(id) => (*id).clone(),
                    None => minter.mint(&item.content, nth),
                },
            }
        })
        .collect()
}

/// Returns, by content, the one previous task that the one item without an id continues.
fn continued_ids<'a>(
    previous: &'a [Arc<Task>],
    items: &'a [Item],
    explicit: &HashSet<&TaskId>,
) -> HashMap<&'a Content, &'a TaskId> {
    let mut wanted: HashMap<&Content, usize> = HashMap::new();
    for item in items.iter().filter(|item| item.id.is_none()) {
        *wanted.entry(&item.content).or_default() += 1;
    }
    let mut matches: HashMap<&Content, Vec<&TaskId>> = HashMap::new();
    for task in previous.iter().filter(|task| !explicit.contains(&task.id)) {
        if wanted.get(&task.content) == Some(&1) {
            matches.entry(&task.content).or_default().push(&task.id);
        }
    }
    matches
        .into_iter()
        .filter_map(|(content, ids)| match ids.as_slice() {
            [id] => Some((content, *id)),
            _ => None,
        })
        .collect()
}

#[derive(Default)]
struct Minter<'a> {
    reserved: HashSet<TaskId>,
    seen: HashMap<&'a Content, usize>,
    last_suffix: HashMap<String, usize>,
}

impl<'a> Minter<'a> {
    fn count(&mut self, content: &'a Content) -> usize {
        let seen = self.seen.entry(content).or_default();
        *seen += 1;
        *seen
    }

    fn mint(&mut self, content: &Content, nth: usize) -> TaskId {
        let slug = slug(content.as_str());
        let base = if nth > 1 { format!("task_{slug}_{nth}") } else { format!("task_{slug}") };
        let mut id = TaskId::minted(&base);
        if self.reserved.contains(&id) {
            // Starting where the last search for this base ended keeps a list of equal slugs linear.
            let suffix = self.last_suffix.entry(base.clone()).or_insert(1);
            while self.reserved.contains(&id) {
                *suffix += 1;
                id = TaskId::minted(&format!("{base}_{suffix}"));
            }
        }
        self.reserved.insert(id.clone());
        id
    }
}

/// Lower-cases the text, keeps a–z and 0–9, and puts one `_` for each run of anything else.
fn slug(content: &str) -> String {
    let mut slug = String::new();
    for part in content.to_lowercase().split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit()) {
        if part.is_empty() {
            continue;
        }
        if !slug.is_empty() {
            slug.push('_');
        }
        slug.push_str(part);
    }
    slug.truncate(SLUG_CHARS_MAX);
    if slug.is_empty() { "item".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_keeps_letters_and_digits_and_is_cut_last() {
        assert_eq!(slug("  Fix: the BUG #12! "), "fix_the_bug_12");
        assert_eq!(slug("修复"), "item");
        assert_eq!(slug("\u{212a}elvin \u{130}x"), "kelvin_i_x");
        let cut_after_a_separator = format!("{} tail", "a".repeat(47));
        assert_eq!(slug(&cut_after_a_separator), format!("{}_", "a".repeat(47)));
    }
}
