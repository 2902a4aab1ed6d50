//! Decoding of single values, each in both manners.
//!
//! The rule behind the lenient manner: a string is decoded only where the schema says array or object, a value is
//! converted only where its exact spelling is kept, and what could be meant in two ways is refused.

use std::borrow::Cow;

use super::findings::Findings;
use super::place::Place;
use super::{Fields, Manner};
use crate::domain::{Json, TaskId, TextFault};
use crate::json::{JsonFault, parse};

const IDS_EXAMPLE: &str = r#"must be a list of ids like ["1", "2"]"#;

/// One value's place, and where its faults are put.
pub(super) struct Spot<'a> {
    pub(super) manner: Manner,
    pub(super) place: &'a Place<'a>,
    pub(super) findings: &'a mut Findings,
}

impl Spot<'_> {
    pub(super) fn fault<T>(&mut self, message: &str) -> Option<T> {
        self.findings.fault(self.place, message);
        None
    }

    /// Null is absent for a tool call; a REST client leaves the field out.
    pub(super) fn null(&mut self) {
        if self.manner == Manner::Strict {
            self.fault::<()>("must not be null: give a value, or leave it out if it is not required");
        }
    }

    /// Returns the members of the arguments as a whole.
    pub(super) fn root<'j>(&mut self, arguments: Option<&'j Json>) -> Option<Cow<'j, [(String, Json)]>> {
        let empty = Some(Cow::Borrowed([].as_slice()));
        match (self.manner, arguments) {
            (_, Some(Json::Object(members))) => Some(Cow::Borrowed(members)),
            (Manner::Lenient, None | Some(Json::Null)) => empty,
            (Manner::Lenient, Some(Json::String(text))) if text.trim().is_empty() => empty,
            (Manner::Lenient, Some(Json::String(text))) => match self.decoded(text, "JSON object")? {
                Json::Object(members) => Some(Cow::Owned(members)),
                Json::Null => empty,
                Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
                    self.fault("must be one JSON object")
                }
            },
            (Manner::Strict, None) => self.fault("must be a JSON object, but the body is empty"),
            (_, Some(_)) => self.fault("must be one JSON object"),
        }
    }

    pub(super) fn text<T>(&mut self, value: &Json, parse: impl Fn(&str) -> Result<T, TextFault>) -> Option<T> {
        let Json::String(text) = value else { return self.fault("must be a string") };
        parse(text).map_or_else(|fault| self.fault(&fault.to_string()), Some)
    }

    pub(super) fn choice<T: Copy>(&mut self, value: &Json, choices: &[(&str, T)]) -> Option<T> {
        let found = match value {
            Json::String(text) => choices.iter().find(|(name, _)| name == text).map(|(_, choice)| *choice),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
        };
        found.or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.fault(&format!("must be one of {}", names.join(", ")))
        })
    }

    pub(super) fn integer(&mut self, value: &Json, least: i64, most: i64) -> Option<i64> {
        let spelling = match value {
            Json::Number(spelling) => Some(spelling.as_ref()),
            Json::String(text) if self.manner == Manner::Lenient => Some(text.as_str()),
            Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => None,
        };
        let number = spelling.filter(|spelling| is_integer(spelling)).and_then(|spelling| spelling.parse().ok());
        match number {
            Some(number) if (least..=most).contains(&number) => Some(number),
            _ => self.fault(&format!("must be an integer from {least} to {most}")),
        }
    }

    pub(super) fn objects<T>(&mut self, value: &Json, read: &impl Fn(&mut Fields<'_>) -> Option<T>) -> Option<Vec<T>> {
        let read_item = |spot: &mut Spot<'_>, item: &Json| {
            let members = object(spot, item)?;
            let mut fields = Fields::new(spot.manner, spot.place, &members, spot.findings);
            let value = read(&mut fields);
            fields.close();
            value
        };
        match (self.manner, value) {
            (_, Json::Array(items)) => self.items(items, read_item),
            (Manner::Lenient, Json::String(text)) => match self.decoded(text, "JSON array")? {
                Json::Array(items) => self.items(&items, read_item),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
                    self.fault("must be an array of objects, also where there is only one")
                }
            },
            (_, Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_)) => {
                self.fault("must be an array of objects, also where there is only one")
            }
        }
    }

    /// Decodes each item; one bad item spoils the list, but the others' faults are found too.
    fn items<T>(&mut self, items: &[Json], decode: impl Fn(&mut Spot<'_>, &Json) -> Option<T>) -> Option<Vec<T>> {
        let mut decoded = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let place = Place::Item(self.place, at);
            decoded.push(decode(&mut Spot { manner: self.manner, place: &place, findings: self.findings }, item));
        }
        decoded.into_iter().collect()
    }

    /// Decodes the JSON in a string that stands where an array or object belongs.
    fn decoded(&mut self, text: &str, wanted: &str) -> Option<Json> {
        match parse(text) {
            Ok(value) => Some(value),
            Err(JsonFault::Syntax { message }) => {
                self.fault(&format!("is a string that holds no {wanted} ({message}): send the {wanted} itself"))
            }
            Err(JsonFault::Unkeepable { pointer, message }) => {
                let place = if pointer.is_empty() { "what it holds".to_owned() } else { pointer };
                self.fault(&format!("is a string with JSON that cannot be kept: {place} {message}"))
            }
        }
    }
}

pub(super) fn id(spot: &mut Spot<'_>, value: &Json) -> Option<TaskId> {
    match value {
        Json::Number(spelling) if spot.manner == Manner::Lenient && is_integer(spelling) => {
            TaskId::parse(spelling).map_or_else(|fault| spot.fault(&fault.to_string()), Some)
        }
        Json::Number(_) | Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
            spot.text(value, |text| TaskId::parse(text))
        }
    }
}

pub(super) fn ids(spot: &mut Spot<'_>, value: &Json) -> Option<Vec<TaskId>> {
    match (spot.manner, value) {
        (_, Json::Array(items)) => spot.items(items, id_of_list),
        (Manner::Lenient, Json::String(text)) if looks_like_array(text) => {
            let Json::Array(items) = spot.decoded(text, r#"JSON array like ["1", "2"]"#)? else {
                return spot.fault(IDS_EXAMPLE);
            };
            spot.items(&items, id_of_list)
        }
        (Manner::Lenient, Json::String(_) | Json::Number(_)) => id(spot, value).map(|id| vec![id]),
        (_, Json::Null | Json::Bool(_) | Json::Object(_) | Json::String(_) | Json::Number(_)) => {
            spot.fault(IDS_EXAMPLE)
        }
    }
}

fn id_of_list(spot: &mut Spot<'_>, value: &Json) -> Option<TaskId> {
    match value {
        Json::Null => spot.fault(r#"must not be null: give ids like ["1", "2"]"#),
        Json::String(text) if looks_like_array(text) && matches!(parse(text), Ok(Json::Array(_))) => {
            spot.fault(r#"is an array within the list: give one flat list of ids like ["1", "2"]"#)
        }
        Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => id(spot, value),
    }
}

pub(super) fn boolean(spot: &mut Spot<'_>, value: &Json) -> Option<bool> {
    match value {
        Json::Bool(value) => Some(*value),
        Json::String(text) if spot.manner == Manner::Lenient && text == "true" => Some(true),
        Json::String(text) if spot.manner == Manner::Lenient && text == "false" => Some(false),
        Json::Null | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
            spot.fault("must be true or false")
        }
    }
}

pub(super) fn object(spot: &mut Spot<'_>, value: &Json) -> Option<Vec<(String, Json)>> {
    match (spot.manner, value) {
        (_, Json::Object(members)) => Some(members.clone()),
        (Manner::Lenient, Json::String(text)) => match spot.decoded(text, "JSON object")? {
            Json::Object(members) => Some(members),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
                spot.fault("must be an object")
            }
        },
        (_, Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_)) => {
            spot.fault("must be an object")
        }
    }
}

fn looks_like_array(text: &str) -> bool {
    text.trim_start().starts_with('[')
}

/// Tells whether this is the spelling of an integer, by JSON's rules: no fraction, no exponent, no leading zero or plus.
fn is_integer(spelling: &str) -> bool {
    let digits = spelling.strip_prefix('-').unwrap_or(spelling);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'))
}
