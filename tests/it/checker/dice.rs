//! Draws calls at random, the same for the same seed.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use super::call::{Call, Route, Token};
use super::known::Known;
use super::operation::{Item, Operation, Patch};

/// Ids that clients give; few, so that calls meet.
const IDS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const OWNERS: [&str; 3] = ["ann", "bob", "eve"];
const STATUSES: [&str; 4] = ["pending", "pending", "in_progress", "completed"];

/// What a call does, through which door and with which token.
type Drawn = (Route, Operation, Option<Token>);

#[derive(Debug)]
pub(crate) struct Dice(StdRng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.random_range(0..bound.max(1))
    }

    pub(crate) fn has(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, among: &[T]) -> Option<T> {
        let at = self.below(among.len());
        among.get(at).cloned()
    }

    fn status(&mut self) -> &'static str {
        self.pick(&STATUSES).unwrap_or("pending")
    }

    fn owner(&mut self) -> String {
        self.pick(&OWNERS).unwrap_or("ann").to_owned()
    }

    fn content(&mut self) -> String {
        format!("work {}", self.below(40))
    }

    fn id(&mut self, known: &Known) -> String {
        match self.below(20) {
            0 => "nobody".to_owned(),
            1..=3 => self.pick(&IDS).unwrap_or("a").to_owned(),
            _ => self.pick(&known.ids).unwrap_or_else(|| "a".to_owned()),
        }
    }

    /// Draws a call; its actor, key and attempts are the caller's.
    pub(crate) fn call(&mut self, thread: &str, known: &Known) -> Call {
        let (route, operation, token) = match self.below(100) {
            0..12 => (self.either(Route::Rest, Route::Mastra), self.write(known), None),
            12..32 => self.update(known),
            32..44 => self.link(known),
            44..53 => self.complete(known),
            53..62 => self.create(known),
            62..67 => {
                let route = self.either(Route::Rest, Route::AgentScope);
                (route, Operation::Delete(self.id(known)), None)
            }
            67 => (Route::Rest, Operation::Clear, None),
            68..85 => self.coordinate(known),
            _ => self.read(known),
        };
        let is_conditional = match operation {
            Operation::ReadList => route == Route::Rest && self.has(40),
            Operation::ReadTask(_) | Operation::ReadHistory { .. } => false,
            _ => self.has(15),
        };
        let condition = if is_conditional { known.condition(route, &operation) } else { None };
        let (actor, attempts) = (String::new(), Vec::new());
        Call { thread: thread.to_owned(), actor, operation, route, token, condition, has_key: false, attempts }
    }

    fn either(&mut self, one: Route, other: Route) -> Route {
        if self.has(50) { one } else { other }
    }

    fn write(&mut self, known: &Known) -> Operation {
        let mut ids: Vec<String> = IDS.map(str::to_owned).to_vec();
        // Tasks with numbers stay only if they are written again; most are not, so that lists stay short.
        let numbered = known.ids.iter().filter(|id| id.parse::<i64>().is_ok());
        ids.extend(numbered.filter(|_| self.has(30)).cloned());
        let mut items: Vec<Item> = Vec::new();
        for _ in 0..=self.below(6) {
            let id = ids.swap_remove(self.below(ids.len()));
            items.push(Item { id, content: self.content(), status: self.status() });
        }
        // One task in progress, but for a few writes that are to be refused.
        if self.has(85) {
            let busy = items.iter_mut().filter(|item| item.status == "in_progress");
            busy.skip(1).for_each(|item| item.status = "pending");
        }
        Operation::Write(items)
    }

    fn update(&mut self, known: &Known) -> Drawn {
        let route = self.either(Route::Rest, Route::Mastra);
        let mut patch = Patch::default();
        match self.below(if route == Route::Rest { 6 } else { 3 }) {
            0 => patch.content = Some(self.content()),
            1 => patch.status = Some(self.status()),
            2 => (patch.content, patch.status) = (Some(self.content()), Some(self.status())),
            3 => patch.description = Some(self.content()),
            4 => patch.owner = Some(if self.has(50) { Some(self.owner()) } else { None }),
            _ => patch.metadata = Some(self.metadata()),
        }
        (route, Operation::Update { id: self.id(known), patch, has_focus: true }, None)
    }

    fn metadata(&mut self) -> (String, Value) {
        let value = if self.has(25) { Value::Null } else { self.below(5).into() };
        (format!("key {}", self.below(3)), value)
    }

    fn link(&mut self, known: &Known) -> Drawn {
        let mut patch = Patch::default();
        match self.below(8) {
            0..=2 => patch.add_blocked_by = vec![self.id(known)],
            3..=4 => patch.add_blocks = vec![self.id(known)],
            5 => patch.remove_blocked_by = vec![self.id(known), self.id(known)],
            6 => patch.owner = Some(if self.has(50) { Some(self.owner()) } else { None }),
            _ => patch.metadata = Some(self.metadata()),
        }
        if self.has(30) {
            patch.status = Some(self.status());
        }
        let token = if self.has(20) { self.pick(&known.tokens) } else { None };
        let id = token.as_ref().map_or_else(|| self.id(known), |token| token.task.clone());
        (Route::AgentScope, Operation::Update { id, patch, has_focus: false }, token)
    }

    fn complete(&mut self, known: &Known) -> Drawn {
        if self.has(40)
            && let Some(token) = self.pick(&known.tokens)
        {
            return (Route::Mastra, Operation::Complete(token.task.clone()), Some(token));
        }
        (self.either(Route::Rest, Route::Mastra), Operation::Complete(self.id(known)), None)
    }

    fn create(&mut self, known: &Known) -> Drawn {
        let content = self.content();
        if self.has(50) {
            return (Route::AgentScope, Operation::Create { id: None, content, blocked_by: Vec::new() }, None);
        }
        let id = if self.has(50) { self.pick(&IDS).map(str::to_owned) } else { None };
        let blocked_by = if self.has(30) { vec![self.id(known)] } else { Vec::new() };
        // It would block itself, which is another refusal than that of an id which is taken.
        let blocked_by = blocked_by.into_iter().filter(|other| Some(other) != id.as_ref()).collect();
        (Route::Rest, Operation::Create { id, content, blocked_by }, None)
    }

    fn coordinate(&mut self, known: &Known) -> Drawn {
        let token = self.pick(&known.tokens);
        let id = if self.has(50) { Some(self.id(known)) } else { None };
        let operation = match (self.below(10), token.clone()) {
            (6..=7, Some(token)) => Operation::Release { id: token.task, is_forced: false },
            (8, Some(token)) => Operation::Heartbeat(token.task),
            (9, _) if self.has(50) => Operation::Restore((known.revision - 8).max(0) + below(self, 10)),
            (9, _) => Operation::Release { id: self.id(known), is_forced: true },
            _ => {
                let lease_seconds = if self.has(60) { 1 } else { 60 };
                Operation::Claim { owner: self.owner(), id, lease_seconds }
            }
        };
        let needs_token = matches!(operation, Operation::Release { is_forced: false, .. } | Operation::Heartbeat(_));
        (Route::Coordination, operation, token.filter(|_| needs_token && !self.has(10)))
    }

    fn read(&mut self, known: &Known) -> Drawn {
        let (route, operation) = match self.below(12) {
            0..=3 => (Route::Rest, Operation::ReadList),
            4..=5 => (Route::Mastra, Operation::ReadList),
            6..=7 => (Route::AgentScope, Operation::ReadList),
            8..=9 => (self.either(Route::Rest, Route::AgentScope), Operation::ReadTask(self.id(known))),
            10 => (Route::Coordination, Operation::ReadHistory { after: (known.revision - 5).max(0) }),
            _ => (Route::Rest, Operation::ReadList),
        };
        (route, operation, None)
    }
}

fn below(dice: &mut Dice, bound: usize) -> i64 {
    i64::try_from(dice.below(bound)).unwrap_or(0)
}
