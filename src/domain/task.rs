//! A task and the parsed texts that it is made of.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::ids::{Owner, TaskId, TextFault, check_chars, parsed_text};
use super::json::Metadata;
use super::limits::CONTENT_CHARS_MAX;

/// A point in time, UTC, cut to microseconds. Shown to people; never used for ordering or as a version.
pub type Moment = DateTime<Utc>;

/// How often a list has changed: 0 for a list that was never written, then one more with each change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(i64);

impl Revision {
    /// Wraps a number that was stored or sent.
    #[must_use]
    pub fn new(number: i64) -> Self {
        Self(number)
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> i64 {
        self.0
    }

    /// Returns the revision before this one.
    #[must_use]
    pub fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// Returns the revision that the next change makes.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The random number that one commit carries, so that two states of a list never share it.
///
/// The commit that made a revision lends it its number as *change id*: a database that lost its newest commits may count
/// the same revision again, but never under the same number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(i64);

impl Version {
    /// Wraps a number that was drawn or stored.
    #[must_use]
    pub fn new(number: i64) -> Self {
        Self(number)
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Version {
    /// Writes sixteen hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

fn check_content(text: &str) -> Result<(), TextFault> {
    check_chars(text, CONTENT_CHARS_MAX)
}

parsed_text!(
    /// What is to be done: 1–4,000 characters, no U+0000.
    Content,
    check_content
);
parsed_text!(
    /// The same in the present continuous, shown while it is being done: 1–4,000 characters, no U+0000.
    ActiveForm,
    check_content
);

fn check_description(text: &str) -> Result<(), TextFault> {
    if text.contains('\0') { Err(TextFault::Nul) } else { Ok(()) }
}

parsed_text!(
    /// Whatever else is to be known: may be empty, no U+0000. Its length is bounded by [`super::Limits`].
    Description,
    check_description
);

impl Default for Description {
    fn default() -> Self {
        Self("".into())
    }
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

impl Status {
    /// Every status, in the order of a task's life.
    pub const ALL: [Self; 3] = [Self::Pending, Self::InProgress, Self::Completed];

    /// Returns the status of exactly this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who holds a task for a while, and with which token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// `<counter>-<64 random bits>`, compared whole.
    pub token: Arc<str>,
    /// When it ends by itself, by the database's clock.
    pub expires_at: Moment,
}

/// One task of a list. Which tasks it blocks is not kept here but read from the list, see [`super::TaskView`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Unique within the list.
    pub id: TaskId,
    /// Where it stands: ascending within the list, with gaps.
    pub position: i64,
    /// What is to be done.
    pub content: Content,
    /// How far it is.
    pub status: Status,
    /// The active form, if one was ever given.
    pub active_form: Option<ActiveForm>,
    /// Whatever else is to be known.
    pub description: Description,
    /// Who works on it.
    pub owner: Option<Owner>,
    /// What the client keeps with it.
    pub metadata: Metadata,
    /// Every task that must be completed before this one, completed ones included, in no order that means anything.
    pub blockers: Vec<TaskId>,
    /// The claim on it, if there is one.
    pub lease: Option<Lease>,
    /// When it came into the list.
    pub created_at: Moment,
    /// When its representation last changed.
    pub updated_at: Moment,
    /// When it was completed, while it is.
    pub completed_at: Option<Moment>,
    /// The list's revision when its representation last changed.
    pub revision: Revision,
    /// The change that made that revision.
    pub change_id: Version,
}

impl Task {
    /// Returns the active form, or the content where none was ever given.
    #[must_use]
    pub fn active_form(&self) -> &str {
        self.active_form.as_ref().map_or(self.content.as_str(), ActiveForm::as_str)
    }

    /// Tells whether it is in progress by the rule of one a person: a leased task stands outside of that rule.
    #[must_use]
    pub fn occupies_owner(&self) -> bool {
        self.status == Status::InProgress && self.lease.is_none()
    }

    /// Sets the status, and with it when the task was completed. A lease does not outlive the status that it gave.
    pub(super) fn set_status(&mut self, status: Status, at: Moment) {
        self.completed_at = match (status, self.status) {
            (Status::Completed, Status::Completed) => self.completed_at,
            (Status::Completed, Status::Pending | Status::InProgress) => Some(at),
            (Status::Pending | Status::InProgress, _) => None,
        };
        if status != Status::InProgress {
            self.lease = None;
        }
        self.status = status;
    }

    /// Returns the bytes of its texts, which count towards the bound of the list.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.id.as_str().len()
            + self.content.as_str().len()
            + self.active_form.as_ref().map_or(0, |text| text.as_str().len())
            + self.description.as_str().len()
            + self.owner.as_ref().map_or(0, |owner| owner.as_str().len())
            + self.metadata.size_bytes()
            + self.blockers.iter().map(|id| id.as_str().len()).sum::<usize>()
    }

    /// Tells whether a reader would see any difference, the two edge lists and what follows from a change left out.
    pub(super) fn reads_like(&self, other: &Self) -> bool {
        self.content == other.content
            && self.status == other.status
            && self.active_form() == other.active_form()
            && self.description == other.description
            && self.owner == other.owner
            && self.metadata == other.metadata
            && self.created_at == other.created_at
            && self.completed_at == other.completed_at
            && self.lease.is_some() == other.lease.is_some()
    }
}
