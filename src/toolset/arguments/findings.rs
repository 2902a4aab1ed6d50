//! What was found wrong with arguments, and what was dropped.

use std::fmt::Write;

use serde::Serialize;

use super::super::wording;
use super::Read;
use super::place::Place;

/// The most faults and warnings that are kept, each: a body of a million bad items must not become a million texts.
const FINDINGS_MAX: usize = 100;
/// The most faults that a sentence names.
const FAULTS_NAMED_MAX: usize = 10;
/// The most characters of a path in a sentence.
const PATH_CHARS_MAX: usize = 120;

/// One thing that is wrong with the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// A JSON pointer (RFC 6901) to the value; empty for the arguments as a whole.
    pub pointer: String,
    /// What is wrong, to be read after the place: `must not be empty`.
    pub message: String,
}

impl Fault {
    /// Returns the place as people write it and what is wrong there: `tasks[0].content must not be empty`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let mut path = String::new();
        for token in self.pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            if !path.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit()) && !token.is_empty() {
                // Writing to a String does not fail.
                let _ = write!(path, "[{token}]");
            } else {
                path.push_str(if path.is_empty() { "" } else { "." });
                path.push_str(&token);
            }
        }
        let place =
            if path.is_empty() { "the whole".to_owned() } else { wording::escaped(&path, PATH_CHARS_MAX).into_owned() };
        format!("{place} {}", self.message)
    }
}

/// The arguments cannot be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invalid {
    /// What is wrong, in the order in which it was found; at least one, and not more than a hundred.
    pub faults: Vec<Fault>,
    /// How many further faults there are.
    pub faults_left_out: usize,
    /// The unknown arguments that were dropped unread: one of them may be a misspelling of what is missing.
    pub warnings: Vec<String>,
}

impl Invalid {
    /// Makes the one fault.
    #[must_use]
    pub fn one(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let fault = Fault { pointer: pointer.into(), message: message.into() };
        Self { faults: vec![fault], ..Self::default() }
    }

    /// Returns all faults in one sentence: `tasks[0].content must not be empty; tasks[1].status is required.`
    #[must_use]
    pub fn sentence(&self) -> String {
        let named: Vec<String> = self.faults.iter().take(FAULTS_NAMED_MAX).map(Fault::sentence).collect();
        let more = self.faults.len() - named.len() + self.faults_left_out;
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        format!("{}{more}.", named.join("; "))
    }
}

#[derive(Debug, Default)]
pub(super) struct Findings {
    faults: Vec<Fault>,
    faults_left_out: usize,
    warnings: Vec<String>,
    warnings_left_out: usize,
}

impl Findings {
    pub(super) fn fault(&mut self, place: &Place<'_>, message: &str) {
        if self.faults.len() < FINDINGS_MAX {
            self.faults.push(Fault { pointer: place.pointer(), message: message.to_owned() });
        } else {
            self.faults_left_out += 1;
        }
    }

    pub(super) fn warn(&mut self, place: &Place<'_>) {
        if self.warnings.len() < FINDINGS_MAX {
            self.warnings.push(place.to_string());
        } else {
            self.warnings_left_out += 1;
        }
    }

    pub(super) fn is_faultless(&self) -> bool {
        self.faults.is_empty()
    }

    pub(super) fn concluded<T>(mut self, value: Option<T>) -> Result<Read<T>, Invalid> {
        if self.warnings_left_out > 0 {
            self.warnings.push(format!("and {} more", self.warnings_left_out));
        }
        if let (Some(value), true) = (value, self.faults.is_empty()) {
            return Ok(Read { value, warnings: self.warnings });
        }
        if self.faults.is_empty() {
            self.fault(&Place::Root, "could not be read");
        }
        Err(Invalid { faults: self.faults, faults_left_out: self.faults_left_out, warnings: self.warnings })
    }
}
