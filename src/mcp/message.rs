//! One message of the protocol as it arrives, opened just as far as the library must not see it: the arguments of a tool
//! call are taken out of it, because the library would alter numbers and take nothing but an object.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::body::Bytes;
use rmcp::model::ErrorData;
use serde_json::value::RawValue;

use crate::json::{JsonFault, members, to_text};

/// A message, opened.
#[derive(Debug)]
pub(super) struct Message {
    /// What the library is to read.
    pub(super) body: Bytes,
    /// The arguments of a tool call, as they were spelled.
    pub(super) arguments: Option<Box<RawValue>>,
}

impl Message {
    /// Opens a body.
    pub(super) fn open(body: Bytes) -> Result<Self, ErrorData> {
        let text = std::str::from_utf8(&body).map_err(|_| not_json("it is not UTF-8"))?;
        let text = text.trim_ascii();
        if text.starts_with('[') && serde_json::from_str::<&RawValue>(text).is_ok() {
            return Err(ErrorData::invalid_request("Send one message a request: there are no batches here.", None));
        }
        let message: BTreeMap<String, &RawValue> = opened(text)?;
        let is_call = message.get("method").is_some_and(|method| is_text(method, "tools/call"));
        let params = message.get("params").filter(|params| is_call && params.get().starts_with('{'));
        let Some(params) = params else { return Ok(Self { body, arguments: None }) };
        let mut params: BTreeMap<String, &RawValue> = opened(params.get())?;
        let Some(arguments) = params.remove("arguments").map(ToOwned::to_owned) else {
            return Ok(Self { body, arguments: None });
        };
        let params = serde_json::value::to_raw_value(&params).unwrap_or_else(|_| RawValue::NULL.to_owned());
        let rest: BTreeMap<&str, &RawValue> = message
            .iter()
            .map(|(name, value)| (name.as_str(), if name == "params" { params.as_ref() } else { value }))
            .collect();
        Ok(Self { body: to_text(&rest).into(), arguments: Some(arguments) })
    }
}

fn opened(text: &str) -> Result<BTreeMap<String, &RawValue>, ErrorData> {
    match members(text) {
        Ok(members) => Ok(members.into_iter().collect()),
        Err(JsonFault::Unkeepable { pointer, message }) => {
            Err(ErrorData::invalid_request(format!("The message cannot be read: {pointer} {message}."), None))
        }
        Err(JsonFault::Syntax { .. }) if serde_json::from_str::<&RawValue>(text).is_ok() => {
            Err(ErrorData::invalid_request("A message is one JSON object.", None))
        }
        Err(JsonFault::Syntax { message }) => Err(not_json(&message)),
    }
}

fn not_json(why: &str) -> ErrorData {
    ErrorData::parse_error(format!("The body is not JSON: {why}."), None)
}

fn is_text(value: &RawValue, wanted: &str) -> bool {
    serde_json::from_str::<Cow<'_, str>>(value.get()).is_ok_and(|text| text == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> Result<(String, Option<String>), (i32, String)> {
        let opened = Message::open(Bytes::copy_from_slice(text.as_bytes()));
        let message = opened.map_err(|error| (error.code.0, error.message.into_owned()))?;
        let body = std::str::from_utf8(&message.body).unwrap().to_owned();
        Ok((body, message.arguments.map(|arguments| arguments.get().to_owned())))
    }

    #[test]
    fn arguments_are_taken_out_as_they_were_spelled() {
        let call = |arguments: &str| {
            format!(r#"{{"id":1,"method":"tools\/call","params":{{"arguments":{arguments},"name":"x"}}}}"#)
        };
        for arguments in [r#"{"a":1.0,"a":1E0}"#, "null", "[1]", r#""{\"a\":1}""#, "12345678901234567890.10"] {
            let (body, taken) = open(&call(arguments)).unwrap();
            assert_eq!(body, r#"{"id":1,"method":"tools\/call","params":{"name":"x"}}"#);
            assert_eq!(taken.as_deref(), Some(arguments));
        }
    }

    #[test]
    fn other_messages_pass_as_they_are() {
        for text in [
            r#" {"id":1,"method":"tools/list","params":{"arguments":1}} "#,
            r#"{"id":1,"method":"tools/call","params":[]}"#,
            r#"{"id":1,"method":"tools/call"}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"x"}}"#,
        ] {
            assert_eq!(open(text).unwrap(), (text.to_owned(), None));
        }
    }

    #[test]
    fn what_is_no_message_is_told_apart() {
        for (text, code) in [
            ("", -32700),
            ("{", -32700),
            (r#"{"a":1}}"#, -32700),
            ("[1,", -32700),
            ("[]", -32600),
            ("1", -32600),
            (r#"{"id":1,"id":2}"#, -32600),
        ] {
            assert_eq!(open(text).unwrap_err().0, code, "{text}");
        }
        assert_eq!(Message::open(Bytes::from_static(b"\"\xff\"")).unwrap_err().code.0, -32700);
    }
}
