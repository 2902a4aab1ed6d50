//! Reading and writing of JSON text without loss: the bridge between `serde_json` and [`Json`].
//!
//! `serde_json`'s own value would turn `1.0` and `1E0` into one number and keep the last of two equal keys. Here each
//! level is read as raw slices of the text, so that spellings survive and a second equal key is seen.

use std::collections::HashSet;
use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::domain::Json;

/// The most objects and arrays that may stand inside each other in any text that is read.
pub const LEVELS_MAX: usize = 64;

/// Room for a change or a short list, so that most texts are written without being moved.
const TEXT_BYTES_EXPECTED: usize = 1_024;

/// So many keys are compared with each other.
const FEW_MEMBERS: usize = 8;

/// Why a text was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    /// It is not JSON.
    #[error("{message}")]
    Syntax {
        /// What was expected, and where.
        message: String,
    },
    /// It is JSON that could not be kept as it is.
    #[error("{message}")]
    Unkeepable {
        /// A JSON pointer to the value.
        pointer: String,
        /// What about it cannot be kept.
        message: String,
    },
}

/// Reads a JSON text.
///
/// # Errors
/// [`JsonFault::Syntax`] for what is not JSON; [`JsonFault::Unkeepable`] for two equal keys in one object, a text with
/// U+0000 or half a surrogate pair, and more than [`LEVELS_MAX`] levels.
pub fn parse(text: &str) -> Result<Json, JsonFault> {
    let raw: &RawValue =
        serde_json::from_str(text).map_err(|error| JsonFault::Syntax { message: error.to_string() })?;
    read(raw, &Place::Root, LEVELS_MAX)
}

/// Writes a value as compact JSON text.
#[must_use]
pub fn to_text(value: &impl Serialize) -> String {
    let mut text = Vec::with_capacity(TEXT_BYTES_EXPECTED);
    // Only a map with keys that are not texts can fail, and there is none.
    let written = serde_json::to_writer(&mut text, value).ok();
    written.and_then(|()| String::from_utf8(text).ok()).unwrap_or_default()
}

/// Reads the members of one JSON object and leaves their values as they are spelled.
///
/// # Errors
/// As [`parse`], but for the object alone: its values are only known to be JSON.
pub fn members(text: &str) -> Result<Vec<(String, &RawValue)>, JsonFault> {
    members_at(text, &Place::Root)
}

/// Where in the text a value stands; made into a pointer only if something is wrong there.
enum Place<'a> {
    Root,
    Member(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(parent, key) => write!(f, "{parent}/{}", pointer_token(key)),
            Self::Item(parent, at) => write!(f, "{parent}/{at}"),
        }
    }
}

/// Escapes a key for use in a JSON pointer (RFC 6901).
#[must_use]
pub fn pointer_token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn unkeepable(place: &Place<'_>, message: &str) -> JsonFault {
    JsonFault::Unkeepable { pointer: place.to_string(), message: message.to_owned() }
}

fn read(raw: &RawValue, place: &Place<'_>, levels_left: usize) -> Result<Json, JsonFault> {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'n') => Ok(Json::Null),
        Some(b't') => Ok(Json::Bool(true)),
        Some(b'f') => Ok(Json::Bool(false)),
        Some(b'"') => read_string(text, place).map(Json::String),
        Some(b'[' | b'{') if levels_left == 0 => Err(unkeepable(place, "is nested too deeply")),
        Some(b'[') => {
            let Items(items) = from_raw(text)?;
            let read_item = |(at, item): (usize, &RawValue)| read(item, &Place::Item(place, at), levels_left - 1);
            items.into_iter().enumerate().map(read_item).collect::<Result<_, _>>().map(Json::Array)
        }
        Some(b'{') => read_object(text, place, levels_left).map(Json::Object),
        _ => Ok(Json::Number(text.into())),
    }
}

fn read_object(text: &str, place: &Place<'_>, levels_left: usize) -> Result<Vec<(String, Json)>, JsonFault> {
    let mut object = Vec::new();
    for (key, value) in members_at(text, place)? {
        let value = read(value, &Place::Member(place, &key), levels_left - 1)?;
        object.push((key, value));
    }
    Ok(object)
}

fn members_at<'a>(text: &'a str, place: &Place<'_>) -> Result<Vec<(String, &'a RawValue)>, JsonFault> {
    let Members(members) = from_raw(text)?;
    let mut object = Vec::with_capacity(members.len());
    for (raw_key, value) in members {
        object.push((read_string(raw_key.get(), place)?, value));
    }
    match second_of_two(&object) {
        Some(key) => Err(unkeepable(&Place::Member(place, key), "is given twice")),
        None => Ok(object),
    }
}

/// Returns a key that was there before.
fn second_of_two<T>(members: &[(String, T)]) -> Option<&str> {
    // Most objects are so small that looking is faster than hashing.
    if members.len() <= FEW_MEMBERS {
        let is_second =
            |(at, (key, _)): &(usize, &(String, T))| members.iter().take(*at).any(|(other, _)| other == key);
        return members.iter().enumerate().find(is_second).map(|(_, (key, _))| key.as_str());
    }
    let mut seen: HashSet<&str> = HashSet::with_capacity(members.len());
    members.iter().map(|(key, _)| key.as_str()).find(|key| !seen.insert(key))
}

fn read_string(text: &str, place: &Place<'_>) -> Result<String, JsonFault> {
    // What escapes nothing says what it is; that it is JSON is known.
    if let Some(plain) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
        && !plain.contains('\\')
    {
        return Ok(plain.to_owned());
    }
    let string: String = serde_json::from_str(text)
        .map_err(|_| unkeepable(place, "holds half of a surrogate pair, which is no character"))?;
    if string.contains('\0') {
        return Err(unkeepable(place, "must not hold the character U+0000"));
    }
    Ok(string)
}

fn from_raw<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, JsonFault> {
    serde_json::from_str(text).map_err(|error| JsonFault::Syntax { message: error.to_string() })
}

struct Items<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemsVisitor;
        impl<'de> Visitor<'de> for ItemsVisitor {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Items(items))
            }
        }
        deserializer.deserialize_seq(ItemsVisitor)
    }
}

struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(spelling) => {
                let raw: &RawValue = serde_json::from_str(spelling).map_err(S::Error::custom)?;
                raw.serialize(serializer)
            }
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    /// Reads from `serde_json`'s text readers only: others do not know the spelling.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: Box<RawValue> = Deserialize::deserialize(deserializer)?;
        read(&raw, &Place::Root, LEVELS_MAX).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_survives_a_round_trip() {
        for text in [
            r#"{"z":1,"a":1.0,"m":1E0,"b":true,"n":null}"#,
            "123456789012345678901234567890123456789012",
            "-0",
            "1e400",
            r#"[[],{},"\u0001\"\\ \n é 修 😀"]"#,
            r#"{"$serde_json::private::Number":"1","$serde_json::private::RawValue":"{}"}"#,
        ] {
            let value = parse(text).unwrap();
            assert_eq!(to_text(&value), text);
            assert_eq!(value.size_bytes(), text.len(), "{text}");
        }
    }

    #[test]
    fn what_could_not_be_kept_is_refused_with_its_place() {
        for (text, place) in [
            (r#"{"a":{"b":1,"b":2}}"#, "/a/b"),
            (r#"{"a":1,"\u0061":2}"#, "/a"),
            (r#"{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"c":1}"#, "/c"),
            (r#"["x","a\u0000b"]"#, "/1"),
            (r#"{"a/b":"\ud800"}"#, "/a~1b"),
        ] {
            assert!(matches!(parse(text), Err(JsonFault::Unkeepable { pointer, .. }) if pointer == place), "{text}");
        }
        let deep = format!("{}{}", "[".repeat(LEVELS_MAX + 1), "]".repeat(LEVELS_MAX + 1));
        assert!(matches!(parse(&deep), Err(JsonFault::Unkeepable { .. })));
        assert!(matches!(parse("{\"a\":"), Err(JsonFault::Syntax { .. })));
        assert!(matches!(parse("1 2"), Err(JsonFault::Syntax { .. })));
    }
}
