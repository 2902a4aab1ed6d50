//! Where an answer stands in the order, and whether real time allows that.

use std::collections::HashMap;

use super::call::{Answer, Call};
use super::model::{Facts, Task, Token, apply};
use super::operation::Operation;
use super::verify::Verifier;
use super::violation::Violation;

impl Verifier<'_> {
    /// The revision that an answer claims to show.
    pub(crate) fn place(&self, call: &Call, answer: &Answer) -> Option<i64> {
        if call.shows_task_alone(answer) {
            return None;
        }
        if answer.status == 204 {
            return self.made.get(call.actor.as_str()).copied();
        }
        answer.body["revision"].as_i64().or_else(|| revision_of(answer.etag.as_deref()?, "list"))
    }

    /// The newest revision that was acknowledged before a moment.
    pub(crate) fn floor(&self, moment: u64) -> i64 {
        let before = self.acknowledged.partition_point(|(end, _)| *end < moment);
        if before == 0 { 0 } else { self.acknowledged[before - 1].1 }
    }

    /// The newest revision that can have been there at a moment: all calls up to it had begun.
    pub(crate) fn ceiling(&self, moment: u64) -> i64 {
        i64::try_from(self.begun.partition_point(|begun| *begun <= moment)).unwrap_or(i64::MAX) - 1
    }

    /// An answer is neither older than what was acknowledged before its call nor from the future.
    pub(crate) fn check_time(&self, revision: i64, start: u64, end: u64) -> Result<(), Violation> {
        let (floor, ceiling) = (self.floor(start), self.ceiling(end));
        if revision < floor {
            let what = format!("it shows revision {revision}, but {floor} was acknowledged before it began");
            return Err(Violation::new(what).at(revision).at(floor));
        }
        if revision > ceiling {
            let what = format!("it shows revision {revision}, but the call of {} had not begun", ceiling + 1);
            return Err(Violation::new(what).at(revision));
        }
        Ok(())
    }

    /// What a call leads to at a revision.
    pub(crate) fn expected(&self, call: &Call, revision: i64) -> Result<Vec<Task>, &'static str> {
        if !self.holds(call, revision)? {
            return Err("precondition_failed");
        }
        // A token begins with the number of its claim, which a list never counts twice.
        let is_right = |token: &super::call::Token| {
            let number = token.text.split('-').next().and_then(|number| number.parse().ok());
            number.is_some() && self.history.holder(revision, &token.task).map(|holder| holder.claim) == number
        };
        let token = match &call.token {
            None => Token::NotShown,
            Some(token) if is_right(token) => Token::Right,
            Some(_) => Token::Wrong,
        };
        let at = |revision| self.history.has(revision).then(|| self.history.tasks(revision).clone());
        let number = usize::try_from(revision).map_or(1, |revision| self.numbers[revision]);
        let facts = Facts { token, revision, next_number: number, at: &at };
        apply(&call.operation, self.history.tasks(revision), &facts)
    }

    /// Tells whether a write's condition holds at a revision.
    fn holds(&self, call: &Call, revision: i64) -> Result<bool, &'static str> {
        let Some(condition) = call.condition.as_ref().filter(|_| !call.is_read()) else { return Ok(true) };
        match &condition.task {
            None => Ok(revision_of(&condition.tag, "list") == Some(revision)),
            Some(id) => {
                let task = self.history.state(revision).iter().find(|task| task["id"] == **id).ok_or("unknown_task")?;
                Ok(revision_of(&condition.tag, "task") == task["revision"].as_i64())
            }
        }
    }

    /// No two states share a tag, and no state has two.
    pub(crate) fn check_tags(&self) -> Result<(), Violation> {
        let mut tags: HashMap<i64, (&str, &str)> = HashMap::new();
        for call in &self.thread.calls {
            for (_, answer) in call.answers() {
                let Some(tag) = answer.etag.as_deref() else { continue };
                let Some(revision) = revision_of(tag, "list") else { continue };
                let (first, other) = *tags.entry(revision).or_insert((tag, &call.actor));
                if first != tag {
                    let what = format!("revision {revision} has two tags, {first} and {tag}");
                    return Err(Violation::new(what).at(revision).of(other).of(&call.actor));
                }
            }
        }
        Ok(())
    }
}

impl Call {
    /// Whether an answer is one task and nothing else.
    pub(crate) fn shows_task_alone(&self, answer: &Answer) -> bool {
        let is_task = matches!(self.operation, Operation::ReadTask(_)) && answer.body.get("id").is_some();
        is_task && answer.status == 200
    }
}

/// Reads the revision out of a tag.
pub(crate) fn revision_of(tag: &str, kind: &str) -> Option<i64> {
    tag.trim_matches('"').strip_prefix(kind)?.strip_prefix('-')?.split('-').next()?.parse().ok()
}
