//! Reading of arguments, in two manners: as an agent's model sends them, and as a REST client must.
//!
//! A reader walks one JSON object, asks for each name it knows, and parses each value into the domain's own types. All
//! faults are collected before it gives up, so that a caller can mend them in one go. [`Manner::Lenient`] understands the
//! shapes in which models really send arguments; [`Manner::Strict`] takes nothing but what is documented.

mod decode;
mod findings;
mod place;
#[cfg(test)]
mod tests;

use crate::domain::{ActiveForm, Content, Description, Json, Metadata, Status, TaskId, TextFault};

use decode::Spot;
use findings::Findings;
pub use findings::{Fault, Invalid};
use place::Place;

/// How strictly arguments are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Tool calls: what a model meant is understood, what it made up is dropped and named in the warnings.
    Lenient,
    /// REST bodies: unknown, read-only and null fields are refused by name, nothing is converted.
    Strict,
}

/// What was read, and what was dropped on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read<T> {
    /// The arguments, parsed.
    pub value: T,
    /// The unknown arguments that were dropped unread, as paths like `tasks[0].priority`.
    pub warnings: Vec<String>,
}

/// Reads arguments: `read` asks the fields for what it knows; names that it did not ask for are unknown.
///
/// `read` returns `None` only where it has put down a fault or a getter has.
///
/// # Errors
/// All that is wrong with the arguments.
pub fn read<T>(
    manner: Manner,
    arguments: Option<&Json>,
    read: impl FnOnce(&mut Fields<'_>) -> Option<T>,
) -> Result<Read<T>, Invalid> {
    let mut findings = Findings::default();
    let mut spot = Spot { manner, place: &Place::Root, findings: &mut findings };
    let value = spot.root(arguments).and_then(|members| {
        let mut fields = Fields::new(manner, &Place::Root, &members, spot.findings);
        let value = read(&mut fields);
        fields.close();
        value
    });
    findings.concluded(value)
}

/// One object of the arguments, to be asked for its fields by name.
pub struct Fields<'a> {
    manner: Manner,
    place: &'a Place<'a>,
    members: &'a [(String, Json)],
    known: Vec<&'static str>,
    read_only: Vec<&'static str>,
    findings: &'a mut Findings,
}

impl<'a> Fields<'a> {
    fn new(manner: Manner, place: &'a Place<'a>, members: &'a [(String, Json)], findings: &'a mut Findings) -> Self {
        Self { manner, place, members, known: Vec::new(), read_only: Vec::new(), findings }
    }

    /// Puts down a fault for each of these that is absent.
    pub fn require(&mut self, names: &[&'static str]) {
        for &name in names {
            let manner = self.manner;
            let is_given = spellings(manner, name).any(|spelling| match get(self.members, spelling) {
                Some(Json::Null) => manner == Manner::Strict,
                Some(_) => true,
                None => false,
            });
            if !is_given {
                self.fault_at(name, "is required");
            }
        }
    }

    /// Refuses these by name in the strict manner; in the lenient one they are unknown.
    pub fn read_only(&mut self, names: &[&'static str]) {
        if self.manner == Manner::Lenient {
            return;
        }
        for &name in names {
            self.read_only.push(name);
            if get(self.members, name).is_some() {
                self.fault_at(name, "is read-only, the service sets it: leave it out");
            }
        }
    }

    /// Puts down a fault of the whole object.
    pub fn fault(&mut self, message: &str) {
        self.findings.fault(self.place, message);
    }

    /// Puts down a fault of one field.
    pub fn fault_at(&mut self, name: &str, message: &str) {
        self.findings.fault(&Place::Member(self.place, name), message);
    }

    /// Tells whether nothing was found wrong so far, in this object or elsewhere.
    #[must_use]
    pub fn is_faultless(&self) -> bool {
        self.findings.is_faultless()
    }

    /// Returns a text of one kind, parsed. In the lenient manner too a text is only ever a string, and never decoded.
    pub fn text<T: PartialEq>(
        &mut self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, TextFault>,
    ) -> Option<T> {
        self.given(name, |spot, value| spot.text(value, &parse))
    }

    /// Returns a text that may be `null` with a meaning in the strict manner (inner `None`); lenient, null is absent.
    pub fn nullable_text<T: PartialEq>(
        &mut self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, TextFault>,
    ) -> Option<Option<T>> {
        if self.manner == Manner::Strict && get(self.members, name) == Some(&Json::Null) {
            self.known.push(name);
            return Some(None);
        }
        self.text(name, parse).map(Some)
    }

    /// Returns what is to be done.
    pub fn content(&mut self, name: &'static str) -> Option<Content> {
        self.text(name, |text| Content::parse(text))
    }

    /// Returns the same in the present continuous.
    pub fn active_form(&mut self, name: &'static str) -> Option<ActiveForm> {
        self.text(name, |text| ActiveForm::parse(text))
    }

    /// Returns whatever else is to be known of a task; it may be empty.
    pub fn description(&mut self, name: &'static str) -> Option<Description> {
        self.text(name, |text| Description::parse(text))
    }

    /// Returns a task's id; lenient, an integer literal is taken as its own spelling.
    pub fn id(&mut self, name: &'static str) -> Option<TaskId> {
        self.given(name, decode::id)
    }

    /// Returns a list of ids; lenient, one bare id is a list of one, and a JSON array may come as a string.
    pub fn ids(&mut self, name: &'static str) -> Option<Vec<TaskId>> {
        self.given(name, decode::ids)
    }

    /// Returns a status.
    pub fn status(&mut self, name: &'static str) -> Option<Status> {
        self.choice(name, &Status::ALL.map(|status| (status.as_str(), status)))
    }

    /// Returns one of these, by its exact name.
    pub fn choice<T: PartialEq + Copy>(&mut self, name: &'static str, choices: &[(&str, T)]) -> Option<T> {
        self.given(name, |spot, value| spot.choice(value, choices))
    }

    /// Returns an integer within bounds; lenient, its digits may come as a string.
    pub fn integer(&mut self, name: &'static str, least: i64, most: i64) -> Option<i64> {
        self.given(name, |spot, value| spot.integer(value, least, most))
    }

    /// Returns a boolean; lenient, `"true"` and `"false"` are booleans too.
    pub fn boolean(&mut self, name: &'static str) -> Option<bool> {
        self.given(name, decode::boolean)
    }

    /// Returns a JSON object as it was sent; lenient, it may come as a string.
    pub fn metadata(&mut self, name: &'static str) -> Option<Metadata> {
        self.given(name, decode::object).map(Metadata::new)
    }

    /// Returns a list of objects, each read by `read`; lenient, the list and each of its items may come as a string.
    pub fn objects<T: PartialEq>(
        &mut self,
        name: &'static str,
        read: impl Fn(&mut Fields<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.given(name, |spot, value| spot.objects(value, &read))
    }

    /// Finds a field under any of its spellings, which must agree, and decodes it.
    fn given<T: PartialEq>(
        &mut self,
        name: &'static str,
        decode: impl Fn(&mut Spot<'_>, &Json) -> Option<T>,
    ) -> Option<T> {
        let mut found: Option<(&'static str, T)> = None;
        for spelling in spellings(self.manner, name) {
            self.known.push(spelling);
            let Some(value) = get(self.members, spelling) else { continue };
            let place = Place::Member(self.place, spelling);
            let mut spot = Spot { manner: self.manner, place: &place, findings: self.findings };
            if *value == Json::Null {
                spot.null();
                continue;
            }
            let Some(decoded) = decode(&mut spot, value) else { continue };
            match &found {
                Some((earlier, have)) if *have != decoded => {
                    spot.fault::<T>(&format!(
                        "says something else than {earlier}, which means the same: give one of them"
                    ));
                }
                Some(_) => {}
                None => found = Some((spelling, decoded)),
            }
        }
        found.map(|(_, value)| value)
    }

    /// Finds what nobody asked for.
    fn close(self) {
        let is_known = |key: &str| self.known.contains(&key) || self.read_only.contains(&key);
        for (key, _) in self.members.iter().filter(|(key, _)| !is_known(key)) {
            let place = Place::Member(self.place, key);
            match self.manner {
                Manner::Lenient => self.findings.warn(&place),
                Manner::Strict if self.known.is_empty() => self.findings.fault(&place, "is not a field here"),
                Manner::Strict => {
                    let message = format!("is not a field here; the fields are {}", self.known.join(", "));
                    self.findings.fault(&place, &message);
                }
            }
        }
    }
}

fn get<'a>(members: &'a [(String, Json)], name: &str) -> Option<&'a Json> {
    members.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// Returns the name, and after it what else a model may call it.
fn spellings(manner: Manner, name: &'static str) -> impl Iterator<Item = &'static str> {
    let others: &'static [&'static str] = match (manner, name) {
        (Manner::Lenient, "id") => &["task_id", "taskId"],
        (Manner::Lenient, "task_id") => &["taskId", "id"],
        (Manner::Lenient, "lease_token") => &["leaseToken"],
        (Manner::Lenient, "lease_seconds") => &["leaseSeconds"],
        (Manner::Lenient, "timeout_seconds") => &["timeoutSeconds"],
        (Manner::Lenient, "add_blocks") => &["addBlocks"],
        (Manner::Lenient, "add_blocked_by") => &["addBlockedBy"],
        (Manner::Lenient, "remove_blocks") => &["removeBlocks"],
        (Manner::Lenient, "remove_blocked_by") => &["removeBlockedBy"],
        (Manner::Lenient | Manner::Strict, _) => &[],
    };
    std::iter::once(name).chain(others.iter().copied())
}
