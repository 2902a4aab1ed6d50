//! A list on which tests of the domain try operations.

use std::sync::Arc;

use chrono::TimeDelta;

use super::{
    ActiveForm, Actor, Applied, Change, Claim, Content, Draft, Focus, Item, Limits, Metadata, Moment, Operation, Owner,
    Patch, Refusal, Stamp, Status, TaskId, TaskList, Version, apply,
};

/// A list, its changes, and a clock that moves a second with each operation.
pub(crate) struct Story {
    pub(crate) list: TaskList,
    pub(crate) changes: Vec<Change>,
    pub(crate) now: Moment,
    pub(crate) limits: Limits,
    steps: i64,
}

impl Story {
    pub(crate) fn new() -> Self {
        let now = "2026-01-02T03:04:05Z".parse().unwrap();
        Self { list: TaskList::default(), changes: Vec::new(), now, limits: Limits::default(), steps: 0 }
    }

    pub(crate) fn attempt(&mut self, operation: &Operation, token: Option<&str>) -> Result<Applied, Refusal> {
        self.steps += 1;
        self.now += TimeDelta::seconds(1);
        let stamp = Stamp {
            at: self.now,
            change_id: Version::new(self.steps),
            actor: Actor::default(),
            store_at: self.now,
            token: token.map(Arc::from),
            secret: 0xfeed,
        };
        let applied = apply(&self.list, operation, &stamp, &self.limits)?;
        self.list = applied.list.clone();
        self.changes.extend(applied.change.clone());
        Ok(applied)
    }

    pub(crate) fn run(&mut self, operation: &Operation) -> Applied {
        self.attempt(operation, None).unwrap()
    }

    pub(crate) fn refused(&mut self, operation: &Operation) -> Refusal {
        let before = self.list.clone();
        let refusal = self.attempt(operation, None).unwrap_err();
        assert_eq!(self.list, before);
        refusal
    }

    pub(crate) fn status(&self, id: &str) -> Status {
        self.list.get(&task_id(id)).unwrap().status
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        self.list.ids().iter().map(ToString::to_string).collect()
    }

    pub(crate) fn token(&self, id: &str) -> Arc<str> {
        self.list.get(&task_id(id)).unwrap().lease.as_ref().unwrap().token.clone()
    }
}

pub(crate) fn task_id(id: &str) -> TaskId {
    TaskId::parse(id).unwrap()
}

pub(crate) fn ids(ids: &[&str]) -> Vec<TaskId> {
    ids.iter().map(|id| task_id(id)).collect()
}

pub(crate) fn owner(name: &str) -> Owner {
    Owner::parse(name).unwrap()
}

pub(crate) fn item(id: Option<&str>, content: &str, status: Status) -> Item {
    Item {
        id: id.map(task_id),
        content: Content::parse(content).unwrap(),
        status,
        active_form: ActiveForm::parse(format!("Doing {content}")).unwrap(),
    }
}

/// A write of pending tasks whose ids are their contents.
pub(crate) fn write(contents: &[&str]) -> Operation {
    Operation::Write(contents.iter().map(|content| item(Some(content), content, Status::Pending)).collect())
}

pub(crate) fn draft(content: &str) -> Draft {
    Draft {
        id: None,
        content: Content::parse(content).unwrap(),
        status: Status::Pending,
        active_form: None,
        description: super::Description::default(),
        owner: None,
        metadata: Metadata::default(),
        blocks: Vec::new(),
        blocked_by: Vec::new(),
    }
}

pub(crate) fn create(content: &str) -> Operation {
    Operation::Create { draft: draft(content), focus: Focus::Many }
}

pub(crate) fn update(id: &str, patch: Patch) -> Operation {
    Operation::Update { id: task_id(id), patch, focus: Focus::Many }
}

pub(crate) fn blocked_by(id: &str, blockers: &[&str]) -> Operation {
    update(id, Patch { add_blocked_by: ids(blockers), ..Patch::default() })
}

pub(crate) fn claim(name: &str, id: Option<&str>) -> Operation {
    Operation::Claim(Claim {
        owner: owner(name),
        id: id.map(task_id),
        lease_seconds: 60,
        metadata: Metadata::default(),
    })
}
