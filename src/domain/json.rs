//! JSON as it was sent: numbers keep their spelling, objects keep the order of their keys.
//!
//! `1`, `1.0`, `1E0` and `true` are four values here, and a number of forty digits comes back with forty digits. Reading
//! and writing of JSON text is not done here but in [`crate::json`].

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// A JSON value that no round trip alters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was spelled.
    Number(Box<str>),
    /// A text.
    String(String),
    /// A list of values.
    Array(Vec<Json>),
    /// Members in the order in which they were sent; no key stands twice.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Returns the number of bytes of this value as compact JSON.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        match self {
            Self::Null | Self::Bool(true) => 4,
            Self::Bool(false) => 5,
            Self::Number(spelling) => spelling.len(),
            Self::String(text) => string_size_bytes(text),
            Self::Array(items) => 2 + items.len().saturating_sub(1) + items.iter().map(Self::size_bytes).sum::<usize>(),
            Self::Object(members) => object_size_bytes(members),
        }
    }

    /// Returns how many objects and arrays stand inside each other, this one counted.
    #[must_use]
    pub fn levels(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => 0,
            Self::Array(items) => 1 + items.iter().map(Self::levels).max().unwrap_or(0),
            Self::Object(members) => object_levels(members),
        }
    }
}

fn string_size_bytes(text: &str) -> usize {
    2 + text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
            0x00..=0x1f => 6,
            _ => 1,
        })
        .sum::<usize>()
}

fn object_size_bytes(members: &[(String, Json)]) -> usize {
    2 + members.len().saturating_sub(1)
        + members.iter().map(|(key, value)| string_size_bytes(key) + 1 + value.size_bytes()).sum::<usize>()
}

fn object_levels(members: &[(String, Json)]) -> usize {
    1 + members.iter().map(|(_, value)| value.levels()).max().unwrap_or(0)
}

/// What a client keeps with a task, untouched: the members of one JSON object, and its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub struct Metadata {
    members: Vec<(String, Json)>,
    size_bytes: usize,
}

impl Default for Metadata {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Metadata {
    /// Keeps these members, whose keys differ.
    #[must_use]
    pub fn new(members: Vec<(String, Json)>) -> Self {
        let size_bytes = object_size_bytes(&members);
        Self { members, size_bytes }
    }

    /// Returns the members in their order.
    #[must_use]
    pub fn members(&self) -> &[(String, Json)] {
        &self.members
    }

    /// Returns the value under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.members.iter().find(|(have, _)| have == key).map(|(_, value)| value)
    }

    /// Tells whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the bytes of the object as compact JSON.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Returns how many objects and arrays stand inside each other, the outermost object counted.
    #[must_use]
    pub fn levels(&self) -> usize {
        object_levels(&self.members)
    }

    /// Merges shallowly: a key that is there keeps its place and takes the new value, `null` removes it.
    #[must_use]
    pub fn merged(&self, patch: &Metadata) -> Self {
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(self.members.len() + patch.members.len());
        let mut slots: Vec<Option<(&String, &Json)>> = Vec::with_capacity(self.members.len() + patch.members.len());
        for (key, value) in self.members.iter().chain(&patch.members) {
            let place = *places.entry(key).or_insert(slots.len());
            let removes = slots.len() >= self.members.len() && *value == Json::Null;
            let member = (!removes).then_some((key, value));
            match slots.get_mut(place) {
                Some(slot) => *slot = member,
                None => slots.push(member),
            }
        }
        Self::new(slots.into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect())
    }
}

/// The value is not a JSON object, so it is no metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a JSON object")]
pub struct NotAnObject;

impl TryFrom<Json> for Metadata {
    type Error = NotAnObject;

    fn try_from(value: Json) -> Result<Self, NotAnObject> {
        match value {
            Json::Object(members) => Ok(Self::new(members)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => Err(NotAnObject),
        }
    }
}

impl From<Metadata> for Json {
    fn from(metadata: Metadata) -> Self {
        Self::Object(metadata.members)
    }
}
