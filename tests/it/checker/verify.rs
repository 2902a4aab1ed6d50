//! Decides whether one order of a thread's calls explains every answer and the final list.
//!
//! The order is not searched for: the service claims one, its revisions, and every answer names its place in it. So it is
//! enough to check that claim: each change does to the state before it what its call asked for, each answer shows the state
//! of its place, and no place contradicts real time.

use std::collections::HashMap;

use serde_json::Value;

use super::bodies;
use super::call::{Answer, Attempt, Call, Outcome};
use super::history::History;
use super::model::Task;
use super::operation::Operation;
use super::violation::Violation;

/// The name of whoever gives back what expired leases held.
const SERVICE: &str = "tasklane";

/// All that is known of one thread when its calls have ended.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) calls: Vec<Call>,
    /// The changes as `task_history` told them.
    pub(crate) changes: Vec<Value>,
    /// The list, read before the history.
    pub(crate) list: Answer,
}

#[derive(Debug)]
pub(crate) struct Verifier<'a> {
    pub(crate) thread: &'a Thread,
    pub(crate) history: History,
    calls: HashMap<&'a str, &'a Call>,
    /// The revision that each call made.
    pub(crate) made: HashMap<&'a str, i64>,
    /// Ends of answers, ascending, with the newest revision acknowledged by then.
    pub(crate) acknowledged: Vec<(u64, i64)>,
    /// For each revision, from 0 on: by when the calls of all changes up to it had begun.
    pub(crate) begun: Vec<u64>,
    /// For each revision, from 0 on: the number that the next task without an id gets.
    pub(crate) numbers: Vec<i64>,
}

/// Finds what no order explains.
pub(crate) fn verify(thread: &Thread) -> Result<(), Violation> {
    let history = History::replay(thread.changes.clone())
        .map_err(|(revision, what)| Violation::new(what).at(revision))
        .map_err(|violation| violation.in_thread(thread))?;
    Verifier::new(thread, history).and_then(|verifier| verifier.run()).map_err(|violation| violation.in_thread(thread))
}

impl<'a> Verifier<'a> {
    fn new(thread: &'a Thread, history: History) -> Result<Self, Violation> {
        let calls: HashMap<&str, &Call> = thread.calls.iter().map(|call| (call.actor.as_str(), call)).collect();
        let mut verifier = Self {
            thread,
            history,
            calls,
            made: HashMap::new(),
            acknowledged: Vec::new(),
            begun: vec![0],
            numbers: vec![1],
        };
        verifier.assign()?;
        let mut acknowledged: Vec<(u64, i64)> = Vec::new();
        for call in &thread.calls {
            let places =
                call.answers().filter_map(|(attempt, answer)| Some((attempt.end, verifier.place(call, answer)?)));
            acknowledged.extend(places);
        }
        acknowledged.sort_unstable();
        let mut newest = 0;
        for (_, revision) in &mut acknowledged {
            newest = newest.max(*revision);
            *revision = newest;
        }
        Ok(Self { acknowledged, ..verifier })
    }

    /// Finds the call of each change.
    fn assign(&mut self) -> Result<(), Violation> {
        for revision in 1..=self.history.last() {
            let change = self.history.change(revision);
            let actor = change["actor"].as_str().unwrap_or_default();
            let mut begun = self.begun.last().copied().unwrap_or(0);
            let mut number = self.numbers.last().copied().unwrap_or(1);
            if actor != SERVICE {
                let Some(call) = self.calls.get(actor) else {
                    return Err(Violation::new(format!("nobody asked for what {actor} did")).at(revision));
                };
                if let Some(first) = self.made.insert(call.actor.as_str(), revision) {
                    let what = format!("a call happened twice, at revisions {first} and {revision}");
                    return Err(Violation::new(what).at(revision).at(first).of(actor));
                }
                begun = begun.max(call.start());
                if matches!(call.operation, Operation::Create { id: None, .. }) {
                    number += 1;
                }
            }
            self.begun.push(begun);
            self.numbers.push(number);
        }
        Ok(())
    }

    fn run(&self) -> Result<(), Violation> {
        for revision in 1..=self.history.last() {
            self.check_change(revision).map_err(|violation| violation.at(revision))?;
        }
        for call in &self.thread.calls {
            self.check_call(call).map_err(|violation| violation.of(&call.actor))?;
        }
        let list = &self.thread.list;
        let revision = list.body["revision"].as_i64().unwrap_or(-1);
        if !self.history.has(revision) {
            return Err(Violation::new(format!("the final list is at revision {revision}, which has no change")));
        }
        let tasks = list.body["tasks"].as_array().cloned().unwrap_or_default();
        if !tasks.iter().eq(self.history.state(revision).iter().map(|task| &**task)) {
            let what = format!("the final list is not what its changes lead to: {}", list.body["tasks"]);
            return Err(Violation::new(what).at(revision));
        }
        self.check_tags()
    }

    /// A change does to the state before it what its call asked for, and nothing else.
    fn check_change(&self, revision: i64) -> Result<(), Violation> {
        let change = self.history.change(revision);
        let actor = change["actor"].as_str().unwrap_or_default();
        let Some(call) = self.calls.get(actor) else { return self.check_expiry(revision) };
        let refuted = |what: String| Err(Violation::new(what).of(actor));
        if change["operation"] != call.name() {
            return refuted(format!("the change is called {}", change["operation"]));
        }
        let floor = self.floor(call.start());
        if revision <= floor {
            return refuted(format!("the call began when revision {floor} was acknowledged, but made {revision}"));
        }
        match self.expected(call, revision - 1) {
            Ok(tasks) if tasks == *self.history.tasks(revision) => {}
            Ok(tasks) => return refuted(format!("the change should have led to {}", Violation::tasks(&tasks))),
            Err(code) => return refuted(format!("the call should have been refused: {code}")),
        }
        if let Some(fault) = call.attempts.iter().find_map(|attempt| match &attempt.outcome {
            Outcome::NotDone(why) if call.attempts.len() == 1 => Some(why),
            _ => None,
        }) {
            return refuted(format!("the call happened although it was said not to have: {fault}"));
        }
        Ok(())
    }

    fn check_expiry(&self, revision: i64) -> Result<(), Violation> {
        let change = self.history.change(revision);
        let (before, after) = (self.history.tasks(revision - 1), self.history.tasks(revision));
        let given_back = |task: &Task| {
            let now = after.iter().find(|now| now.id == task.id);
            match now {
                Some(now) if task.is_leased && !now.is_leased => {
                    Task { status: "pending".to_owned(), owner: None, is_leased: false, ..task.clone() }
                }
                _ => task.clone(),
            }
        };
        let expected: Vec<Task> = before.iter().map(given_back).collect();
        if change["operation"] != "lease_expire" || expected != *after || before == after {
            return Err(Violation::new("what happened by itself is no expiry of leases".to_owned()));
        }
        for task in before.iter().zip(after).filter(|(was, is)| was != is).map(|(was, _)| was) {
            let holder =
                self.history.holder(revision - 1, &task.id).and_then(|holder| self.calls.get(holder.call.as_str()));
            let until =
                holder.and_then(|call| call.answers().find_map(|(_, answer)| answer.body["lease"].get("expiresAt")));
            if until.and_then(Value::as_str).is_some_and(|until| change["at"].as_str().unwrap_or_default() < until) {
                return Err(Violation::new(format!("the lease of {} ended too early", task.id)));
            }
        }
        Ok(())
    }

    fn check_call(&self, call: &Call) -> Result<(), Violation> {
        for (attempt, answer) in call.answers() {
            self.check_answer(call, attempt, answer)?;
        }
        let done: Vec<&Answer> =
            call.answers().map(|(_, answer)| answer).filter(|answer| !answer.is_refusal()).collect();
        if !call.has_key {
            return Ok(());
        }
        if done.iter().any(|answer| answer.body != done[0].body || answer.status != done[0].status) {
            return Err(Violation::new("one call under one key was answered in two ways".to_owned()));
        }
        if done.iter().filter(|answer| !answer.is_replayed).count() > 1 {
            return Err(Violation::new("one call under one key was done twice".to_owned()));
        }
        Ok(())
    }

    fn check_answer(&self, call: &Call, attempt: &Attempt, answer: &Answer) -> Result<(), Violation> {
        let refuted = |what: String| Err(Violation::new(what));
        if answer.status >= 500 {
            return refuted(format!("it was answered with {} {}", answer.status, answer.body["code"]));
        }
        let since = if answer.is_replayed { call.start() } else { attempt.start };
        if call.shows_task_alone(answer) {
            return self.check_glimpse(call, answer, since, attempt.end);
        }
        let Some(revision) = self.place(call, answer) else {
            return refuted("it was acknowledged, but the history does not have it".to_owned());
        };
        if !self.history.has(revision) {
            return refuted(format!("revision {revision} was acknowledged, but the history ends before it"));
        }
        self.check_time(revision, since, attempt.end)?;
        let made = self.made.get(call.actor.as_str()).copied();
        match (self.expected(call, revision), answer.is_refusal()) {
            _ if made.is_some_and(|made| made != revision) && !answer.is_refusal() => {
                let what = format!("it was answered with revision {revision}, but is not the change that made it");
                return Err(Violation::new(what).at(revision).at(made.unwrap_or_default()));
            }
            _ if made == Some(revision) => {}
            (Ok(tasks), false) if tasks == *self.history.tasks(revision) => {}
            (Err(code), true) if answer.body.get("code").is_none_or(|given| *given == code) => {}
            (Ok(tasks), false) => {
                let what =
                    format!("it was acknowledged as no change, but should have led to {}", Violation::tasks(&tasks));
                return Err(Violation::new(what).at(revision));
            }
            (expected, _) => {
                let expected = expected.map_or_else(std::borrow::ToOwned::to_owned, |_| "success".to_owned());
                return Err(Violation::new(format!("it should have been answered with {expected}")).at(revision));
            }
        }
        bodies::check(call, answer, self.history.state(revision)).and_then(|()| self.check_told(call, answer)).map_err(
            |what| Violation::new(format!("its body is not the list of revision {revision}: {what}")).at(revision),
        )
    }

    /// A history that was read in between is the beginning of the final one.
    fn check_told(&self, call: &Call, answer: &Answer) -> Result<(), String> {
        let Operation::ReadHistory { after } = call.operation else { return Ok(()) };
        for (revision, change) in (after + 1..).zip(answer.body["changes"].as_array().into_iter().flatten()) {
            if !self.history.has(revision) || self.history.change(revision) != change {
                return Err(format!("it tells of a change that is not in the history: {change}"));
            }
        }
        Ok(())
    }

    /// One task tells nothing of the list's revision: any state will do that time allows.
    fn check_glimpse(&self, call: &Call, answer: &Answer, start: u64, end: u64) -> Result<(), Violation> {
        let (first, last) = (self.floor(start), self.ceiling(end));
        let fits = |revision: &i64| bodies::check(call, answer, self.history.state(*revision)).is_ok();
        if (first..=last).any(|revision| self.history.has(revision) && fits(&revision)) {
            return Ok(());
        }
        let what = format!("at no revision from {first} to {last} the task was as it shows: {}", answer.body);
        Err(Violation::new(what).at(first).at(last))
    }
}
