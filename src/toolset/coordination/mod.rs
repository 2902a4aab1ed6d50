//! Coordination tools: several agents share one list without doing a task twice, see who changed what, and take it back.

mod answer;
mod read;

use super::schema::{Kind, Object, Property};
use super::{Hints, Tool, Toolset};
use crate::domain::limits::{CONTENT_CHARS_MAX, ID_CHARS_MAX, LEASE_SECONDS_MAX, OWNER_CHARS_MAX};

pub(super) use answer::{answered, not_done, told, waited};
pub(super) use read::read_token;
use read::{read_claim, read_heartbeat, read_history, read_release, read_restore, read_wait};

/// The most changes that one call returns.
const HISTORY_LIMIT_MAX: i64 = 100;
/// How many changes a call returns if it does not say.
const HISTORY_LIMIT_DEFAULT: usize = 20;
/// The longest that a call waits, in seconds: shorter than what clients and proxies wait for an answer.
const WAIT_SECONDS_MAX: i64 = 25;
/// How long a call waits if it does not say, in seconds.
const WAIT_SECONDS_DEFAULT: u64 = 4;

const ID: Kind = Kind::Text { chars_min: 1, chars_max: Some(ID_CHARS_MAX) };
const OWNER: Kind = Kind::Text { chars_min: 1, chars_max: Some(OWNER_CHARS_MAX) };
const ANY: Kind = Kind::Text { chars_min: 0, chars_max: None };
const STATUSES: &[&str] = &["pending", "in_progress", "completed"];
/// A larger bound is no integer that every reader of JSON can keep.
const REVISION: Kind = Kind::Integer { least: 0, most: (1 << 53) - 1 };
const LEASE_SECONDS: Property = Property::optional(
    "lease_seconds",
    Kind::Integer { least: 1, most: LEASE_SECONDS_MAX as i64 },
    "For how long, in seconds; 300 if left out.",
);

/// The token of a claim, which every tool takes that may touch a claimed task.
pub(super) const LEASE_TOKEN: Property = Property::optional(
    "lease_token",
    Kind::Text { chars_min: 1, chars_max: Some(TOKEN_CHARS_MAX) },
    "The token that task_claim returned, if you have claimed this task.",
);
const TOKEN_CHARS_MAX: usize = 64;

pub(super) static TOOLS: [Tool; 6] = [
    Tool {
        name: "task_claim",
        toolset: Toolset::Coordination,
        title: "Claim a task",
        purpose: "Takes a task for you alone: sets its owner and in_progress, and returns a lease token. Without an id it \
                  takes the first task that is ready: pending, unowned, waiting for nothing. Of several agents that \
                  claim at once exactly one gets a task. Use it to get your next piece of work whenever others work on \
                  the list too. Keep the token: completing, updating or releasing the task needs it. The claim ends by \
                  itself after lease_seconds; call task_heartbeat before that if you need longer. If no task is ready, \
                  the result says why and has no task.",
        example: r#"{"owner": "agent-1", "lease_seconds": 600}"#,
        hints: Hints { read_only: false, destructive: false, idempotent: false },
        input: Object {
            properties: &[
                Property::required("owner", OWNER, "Your name, the same in all your claims."),
                Property::optional("id", ID, "The one task that you want; leave it out for the next that is ready."),
                LEASE_SECONDS,
                Property::optional(
                    "metadata",
                    Kind::Open,
                    "Only a task whose metadata is equal under each of these keys.",
                ),
            ],
        },
        output: Object { properties: &CLAIMED },
        read: read_claim,
    },
    Tool {
        name: "task_release",
        toolset: Toolset::Coordination,
        title: "Give a task back",
        purpose: "Gives a claimed task back before it is done: it is pending and nobody's again. Use it when you cannot \
                  finish the task. With your lease token for your own claim; with force true, without a token, only to \
                  take a task back from an agent that is dead.",
        example: r#"{"id": "1", "lease_token": "1-9f86d081884c7d65"}"#,
        hints: Hints { read_only: false, destructive: true, idempotent: false },
        input: Object {
            properties: &[
                Property::required("id", ID, "The task's id."),
                LEASE_TOKEN,
                Property::optional("force", Kind::Boolean, "True: without the holder's token."),
            ],
        },
        output: Object { properties: &CLAIMED },
        read: read_release,
    },
    Tool {
        name: "task_heartbeat",
        toolset: Toolset::Coordination,
        title: "Hold a task for longer",
        purpose: "Makes your claim last for lease_seconds from now on. Use it well before the claim ends while you still \
                  work on the task. It changes nothing that others see.",
        example: r#"{"id": "1", "lease_token": "1-9f86d081884c7d65", "lease_seconds": 600}"#,
        hints: Hints { read_only: false, destructive: false, idempotent: true },
        input: Object { properties: &[Property::required("id", ID, "The task's id."), LEASE_TOKEN, LEASE_SECONDS] },
        output: Object { properties: &CLAIMED },
        read: read_heartbeat,
    },
    Tool {
        name: "task_history",
        toolset: Toolset::Coordination,
        title: "See what changed",
        purpose: "Shows who changed the list, when and how, oldest first: each change with its revision and the tasks \
                  before and after. Use it to find out what happened to a task, and to find the revision for \
                  task_restore. Give after to see only what came after a revision.",
        example: r#"{"after": 12, "id": "1"}"#,
        hints: Hints::READS,
        input: Object {
            properties: &[
                Property::optional(
                    "after",
                    REVISION,
                    "Only changes after this revision; from the oldest kept if left out.",
                ),
                Property::optional(
                    "limit",
                    Kind::Integer { least: 1, most: HISTORY_LIMIT_MAX },
                    "The most changes to return; 20 if left out.",
                ),
                Property::optional("id", ID, "Only changes that touched this task."),
            ],
        },
        output: Object { properties: &TOLD },
        read: read_history,
    },
    Tool {
        name: "task_restore",
        toolset: Toolset::Coordination,
        title: "Undo changes",
        purpose: "Makes the whole list what it was at an earlier revision, which task_history shows. Use it to undo a \
                  mistake. It is itself a change, so that it can be undone in the same way; claims end.",
        example: r#"{"revision": 12}"#,
        hints: Hints { read_only: false, destructive: true, idempotent: true },
        input: Object {
            properties: &[Property::required("revision", REVISION, "The revision at which the list was right.")],
        },
        output: Object { properties: &RESTORED },
        read: read_restore,
    },
    Tool {
        name: "task_wait",
        toolset: Toolset::Coordination,
        title: "Wait for a change",
        purpose: "Waits until the list has changed since a revision that you have seen, or until the time is over, and \
                  returns what changed. Use it instead of asking again and again while others work; call it again with \
                  the revision that it returned.",
        example: r#"{"after": 12, "timeout_seconds": 20}"#,
        hints: Hints::READS,
        input: Object {
            properties: &[
                Property::required("after", REVISION, "The revision that you have seen."),
                Property::optional(
                    "timeout_seconds",
                    Kind::Integer { least: 0, most: WAIT_SECONDS_MAX },
                    "The longest to wait, in seconds; 4 if left out.",
                ),
            ],
        },
        output: Object { properties: &WAITED },
        read: read_wait,
    },
];

static LEASE: Object = Object {
    properties: &[
        Property::required("token", ANY, "Show this with every call that touches the task."),
        Property::required("expiresAt", ANY, "When the claim ends by itself, RFC 3339."),
    ],
};

static HOLDER: Object = Object { properties: &[Property::optional("owner", ANY, "Who holds it.")] };

static TASK: Object = Object {
    properties: &[
        Property::required("id", ANY, "The id."),
        Property::required(
            "content",
            Kind::Text { chars_min: 1, chars_max: Some(CONTENT_CHARS_MAX) },
            "What is to be done.",
        ),
        Property::required("status", Kind::Choice(STATUSES), "How far the task is."),
        Property::required("activeForm", ANY, "The same while it is being done."),
        Property::required("description", ANY, "What else is to be known."),
        Property::required("owner", Kind::TextOrNull, "Who works on it, a text; null if nobody does."),
        Property::required("metadata", Kind::Open, "What is kept with it."),
        Property::required("blocks", Kind::Texts, "Ids of tasks that wait for this one."),
        Property::required(
            "blockedBy",
            Kind::Texts,
            "Ids of tasks that this one waits for and that are not completed.",
        ),
        Property::required("createdAt", ANY, "When it was created, RFC 3339."),
        Property::required("updatedAt", ANY, "When it last changed, RFC 3339."),
        Property::optional("completedAt", ANY, "When it was completed, RFC 3339."),
        Property::required("revision", REVISION, "The list's revision when it last changed."),
        Property::optional("lease", Kind::Object(&HOLDER), "The claim on it, if there is one."),
    ],
};

static STEP: Object = Object {
    properties: &[
        Property::required("op", Kind::Choice(&["add", "update", "remove", "order"]), "What happened."),
        Property::optional("task", Kind::Object(&TASK), "The task as it was afterwards."),
        Property::optional("before", Kind::Object(&TASK), "The task as it was before."),
        Property::optional("id", ANY, "The id of the task that went."),
        Property::optional("ids", Kind::Texts, "All ids in their new order."),
    ],
};

static CHANGE: Object = Object {
    properties: &[
        Property::required("revision", REVISION, "The revision that it made."),
        Property::required("operation", ANY, "What was asked for."),
        Property::required("actor", ANY, "Who asked."),
        Property::required("at", ANY, "When, RFC 3339."),
        Property::required("summary", ANY, "What it did, in words."),
        Property::required("ops", Kind::Objects(&STEP), "What it did, step by step."),
    ],
};

const CONTENT: Property =
    Property::required("content", Kind::Text { chars_min: 1, chars_max: None }, "What happened, in words.");
const IS_ERROR: Property = Property::required("isError", Kind::Boolean, "Whether the call was refused.");
const NOW: Property = Property::optional("revision", REVISION, "The list's revision.");
const WARNINGS: Property = Property::optional("warnings", Kind::Texts, "Unknown arguments that were ignored.");
const HELD_BY: Property =
    Property::optional("holder", ANY, "Who holds the task, where that is why the call was refused.");
const HELD_UNTIL: Property = Property::optional("expiresAt", ANY, "Until when it is held, RFC 3339.");

static CLAIMED: [Property; 8] = [
    CONTENT,
    IS_ERROR,
    NOW,
    Property::optional("task", Kind::Object(&TASK), "The task as it is now."),
    Property::optional("lease", Kind::Object(&LEASE), "Your claim."),
    HELD_BY,
    HELD_UNTIL,
    WARNINGS,
];
static TOLD: [Property; 7] = [
    CONTENT,
    IS_ERROR,
    NOW,
    Property::optional("changes", Kind::Objects(&CHANGE), "The changes, oldest first."),
    Property::optional("oldestRevision", REVISION, "The oldest revision that can be restored."),
    Property::optional("nextAfter", REVISION, "Give this as after to see more; absent if there is no more."),
    WARNINGS,
];
static RESTORED: [Property; 6] = [
    CONTENT,
    IS_ERROR,
    NOW,
    Property::optional("restored", Kind::Texts, "Ids of tasks that are there again or read as before again."),
    Property::optional("removed", Kind::Texts, "Ids of tasks that came since and went."),
    WARNINGS,
];
static WAITED: [Property; 6] = [
    CONTENT,
    IS_ERROR,
    NOW,
    Property::optional("hasChanged", Kind::Boolean, "Whether the list has passed the revision."),
    Property::optional("changes", Kind::Objects(&CHANGE), "What changed since, oldest first, as far as it is kept."),
    WARNINGS,
];
