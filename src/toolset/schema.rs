//! The one shape of schema that every consumer of tools understands, and its rendering for each of them.
//!
//! An object at the root, closed; every property described; no references, no unions, no lists of types, no formats.
//! The shape is data, so that what a vendor cannot take is left out by a total function and not by searching in JSON.

use serde_json::{Map, Value, json};

/// A closed object.
#[derive(Debug)]
pub struct Object {
    /// Its properties, in the order in which they are shown.
    pub properties: &'static [Property],
}

/// One property of an object.
#[derive(Debug)]
pub struct Property {
    /// The name.
    pub name: &'static str,
    /// What it is for, in words for a model.
    pub description: &'static str,
    /// Whether it must be given.
    pub is_required: bool,
    /// What it may be.
    pub kind: Kind,
}

/// What a property may be.
#[derive(Debug)]
pub enum Kind {
    /// A text of so many characters (Unicode scalar values).
    Text {
        /// The fewest.
        chars_min: usize,
        /// The most, where there is a fixed bound.
        chars_max: Option<usize>,
    },
    /// A text, or null.
    TextOrNull,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// An integer within bounds.
    Integer {
        /// The smallest.
        least: i64,
        /// The largest.
        most: i64,
    },
    /// True or false.
    Boolean,
    /// A list of texts.
    Texts,
    /// A list of closed objects.
    Objects(&'static Object),
    /// A closed object.
    Object(&'static Object),
    /// A JSON object with any members.
    Open,
}

/// For whom a schema is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// JSON Schema as everybody reads it.
    Portable,
    /// `OpenAI`'s strict mode: every property required, an option is null; no open objects and no lengths of texts.
    Strict,
    /// Gemini's subset of `OpenAPI` 3.0: objects are not closed, and none may be without properties.
    Gemini,
}

impl Property {
    /// Makes a property that must be given.
    #[must_use]
    pub const fn required(name: &'static str, kind: Kind, description: &'static str) -> Self {
        Self { name, description, is_required: true, kind }
    }

    /// Makes a property that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, kind: Kind, description: &'static str) -> Self {
        Self { name, description, is_required: false, kind }
    }

    fn render(&self, style: Style) -> Value {
        let mut schema = self.kind.render(style);
        if style == Style::Strict && !self.is_required {
            admit_null(&mut schema);
        }
        let mut notes: Vec<String> = self.kind.note(style).into_iter().collect();
        if style == Style::Strict && !self.is_required {
            notes.push("null if not given".to_owned());
        }
        let description = if notes.is_empty() {
            self.description.to_owned()
        } else {
            format!("{} ({})", self.description, notes.join("; "))
        };
        schema.insert("description".to_owned(), description.into());
        Value::Object(schema)
    }
}

impl Kind {
    fn render(&self, style: Style) -> Map<String, Value> {
        let schema = match self {
            Self::Text { chars_min, chars_max } => return text(style, *chars_min, *chars_max),
            // A list of types is what some consumers do not take; no type at all says less, but to everybody.
            Self::TextOrNull => json!({}),
            Self::Choice(names) => json!({"type": "string", "enum": names}),
            Self::Integer { least, most } => json!({"type": "integer", "minimum": least, "maximum": most}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Self::Objects(item) => json!({"type": "array", "items": item.render(style)}),
            Self::Object(object) => object.render(style),
            Self::Open => match style {
                Style::Portable => json!({"type": "object"}),
                Style::Strict | Style::Gemini => json!({"type": "string"}),
            },
        };
        match schema {
            Value::Object(schema) => schema,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
        }
    }

    /// Returns what the description must say because the schema cannot.
    fn note(&self, style: Style) -> Option<String> {
        match (self, style) {
            (Self::Open, Style::Strict | Style::Gemini) => Some("a JSON object, written as text".to_owned()),
            (Self::Text { chars_min: 0, chars_max: Some(most) }, Style::Strict) => {
                Some(format!("at most {most} characters"))
            }
            (Self::Text { chars_min, chars_max: Some(most) }, Style::Strict) => {
                Some(format!("{chars_min} to {most} characters"))
            }
            (Self::Text { chars_min: 1, chars_max: None }, Style::Strict) => Some("not empty".to_owned()),
            (
                Self::Text { .. }
                | Self::TextOrNull
                | Self::Choice(_)
                | Self::Integer { .. }
                | Self::Boolean
                | Self::Texts
                | Self::Objects(_)
                | Self::Object(_)
                | Self::Open,
                _,
            ) => None,
        }
    }
}

fn text(style: Style, chars_min: usize, chars_max: Option<usize>) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "string".into());
    if style != Style::Strict {
        if chars_min > 0 {
            schema.insert("minLength".to_owned(), chars_min.into());
        }
        if let Some(most) = chars_max {
            schema.insert("maxLength".to_owned(), most.into());
        }
    }
    schema
}

fn admit_null(schema: &mut Map<String, Value>) {
    if let Some(kind) = schema.get_mut("type") {
        *kind = json!([kind.clone(), "null"]);
    }
    if let Some(Value::Array(names)) = schema.get_mut("enum") {
        names.push(Value::Null);
    }
}

impl Object {
    /// Returns the schema as JSON.
    #[must_use]
    pub fn render(&self, style: Style) -> Value {
        let properties: Map<String, Value> =
            self.properties.iter().map(|property| (property.name.to_owned(), property.render(style))).collect();
        let required: Vec<&str> = self
            .properties
            .iter()
            .filter(|property| property.is_required || style == Style::Strict)
            .map(|property| property.name)
            .collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        if !required.is_empty() || style == Style::Strict {
            schema.insert("required".to_owned(), required.into());
        }
        if style != Style::Gemini {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        Value::Object(schema)
    }
}
