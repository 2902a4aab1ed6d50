use super::super::{Ask, find, interpret};
use super::*;
use crate::domain::Operation;
use crate::json;

/// Returns the operation that a call means.
fn operation(tool: &str, arguments: &str) -> Operation {
    let call = interpret(find(tool).unwrap(), Some(&json::parse(arguments).unwrap())).unwrap();
    match call.ask {
        Ask::Change(operation) => operation,
        Ask::Read | Ask::History(_) | Ask::Wait(_) => panic!("{tool} reads"),
    }
}

/// Returns where a call's arguments are refused, and with which words.
fn faults(tool: &str, arguments: &str) -> Vec<(String, String)> {
    let invalid = interpret(find(tool).unwrap(), Some(&json::parse(arguments).unwrap())).unwrap_err();
    invalid.faults.into_iter().map(|fault| (fault.pointer, fault.message)).collect()
}

#[test]
fn what_models_really_send_means_what_they_meant() {
    const WRITE: &str = r#"{"tasks":[{"content":"x","status":"pending","activeForm":"y"}]}"#;
    const LINK: &str = r#"{"task_id":"3","add_blocked_by":["1"]}"#;
    const DONE: &str = r#"{"id":"3"}"#;
    for (tool, sent, meant) in [
        ("task_write", r#"{"tasks":"[{\"content\":\"x\",\"status\":\"pending\",\"activeForm\":\"y\"}]"}"#, WRITE),
        ("task_write", r#"{"tasks":["{\"content\":\"x\",\"status\":\"pending\",\"activeForm\":\"y\"}"]}"#, WRITE),
        (
            "task_write",
            r#"{"tasks":"[\"{\\\"content\\\":\\\"x\\\",\\\"status\\\":\\\"pending\\\",\\\"activeForm\\\":\\\"y\\\"}\"]"}"#,
            WRITE,
        ),
        ("task_write", r#"{"tasks":[{"id":null,"content":"x","status":"pending","activeForm":"y"}]}"#, WRITE),
        ("task_write", r#""{\"tasks\":[{\"content\":\"x\",\"status\":\"pending\",\"activeForm\":\"y\"}]}""#, WRITE),
        ("TaskUpdate", r#"{"task_id":3,"add_blocked_by":["1"]}"#, LINK),
        ("TaskUpdate", r#"{"taskId":"3","addBlockedBy":"[\"1\"]"}"#, LINK),
        ("TaskUpdate", r#"{"id":"3","addBlockedBy":"1"}"#, LINK),
        ("TaskUpdate", r#"{"task_id":"3","addBlockedBy":1}"#, LINK),
        ("TaskUpdate", r#"{"task_id":"3","add_blocked_by":[1],"owner":null,"add_blocks":null}"#, LINK),
        ("TaskUpdate", r#"{"task_id":"3","id":3,"taskId":null,"add_blocked_by":["1"],"addBlockedBy":"1"}"#, LINK),
        ("TaskUpdate", r#"{"task_id":"3","add_blocked_by":["1"],"metadata":{},"subject":"","activeForm":""}"#, LINK),
        ("task_complete", r#"{"task_id":3}"#, DONE),
        ("task_complete", r#"{"taskId":"3"}"#, DONE),
        ("task_complete", r#""{\"id\":\"3\"}""#, DONE),
    ] {
        assert_eq!(operation(tool, sent), operation(tool, meant), "{tool} {sent}");
    }
}

#[test]
fn a_text_is_never_decoded() {
    let Operation::Create { draft, .. } = operation(
        "TaskCreate",
        r#"{"subject":"[\"a\"]","description":"{\"b\":1}","activeForm":"null","metadata":"{\"c\":\"[1]\"}"}"#,
    ) else {
        panic!("no create")
    };
    assert_eq!(draft.content.as_str(), r#"["a"]"#);
    assert_eq!(draft.description.as_str(), r#"{"b":1}"#);
    assert_eq!(draft.active_form.unwrap().as_str(), "null");
    assert_eq!(draft.metadata.get("c"), Some(&Json::String("[1]".to_owned())));
    let Operation::Complete(id) = operation("task_complete", r#"{"id":"[\"1\"]"}"#) else { panic!("no complete") };
    assert_eq!(id.as_str(), r#"["1"]"#);
}

#[test]
fn what_could_be_meant_in_two_ways_is_refused_where_it_stands() {
    for (tool, sent, place) in [
        ("task_write", r#"{"tasks":"[{\"content\":\"x\""}"#, "/tasks"),
        ("task_write", r#"{"tasks":{"content":"x","status":"pending","activeForm":"y"}}"#, "/tasks"),
        ("task_write", r#"{"tasks":"{\"content\":\"x\",\"status\":\"pending\",\"activeForm\":\"y\"}"}"#, "/tasks"),
        ("task_write", r#"{"tasks":[null]}"#, "/tasks/0"),
        ("task_write", r#"{"tasks":"x"}"#, "/tasks"),
        ("task_write", r#"{"tasks":["x"]}"#, "/tasks/0"),
        ("task_write", r#"[{"content":"x","status":"pending","activeForm":"y"}]"#, ""),
        ("task_write", r#""[]""#, ""),
        ("task_write", r#""{\"tasks\":""#, ""),
        ("task_write", "3", ""),
        ("task_write", "null", "/tasks"),
        ("task_write", r#""""#, "/tasks"),
        ("task_write", r#"{"tasks":"[{\"content\":\"x\",\"content\":\"y\"}]"}"#, "/tasks"),
        ("task_write", r#"{"tasks":"[{\"content\":\"x\\u0000\"}]"}"#, "/tasks"),
        ("task_write", r#"{"tasks":"[{\"content\":\"\\ud800\"}]"}"#, "/tasks"),
        ("TaskUpdate", r#"{"task_id":"1","taskId":"2"}"#, "/taskId"),
        ("TaskUpdate", r#"{"task_id":"1","add_blocks":["2"],"addBlocks":["3"]}"#, "/addBlocks"),
        ("TaskUpdate", r#"{"task_id":"1","add_blocks":["2",null]}"#, "/add_blocks/1"),
        ("TaskUpdate", r#"{"task_id":"1","add_blocks":"[\"2\""}"#, "/add_blocks"),
        ("TaskUpdate", r#"{"task_id":"1","add_blocks":["[\"2\",\"3\"]"]}"#, "/add_blocks/0"),
        ("TaskUpdate", r#"{"task_id":"1","add_blocks":{"id":"2"}}"#, "/add_blocks"),
        ("TaskUpdate", r#"{"task_id":"1","add_blocks":true}"#, "/add_blocks"),
        ("TaskUpdate", r#"{"task_id":1.0}"#, "/task_id"),
        ("TaskUpdate", r#"{"task_id":1e0}"#, "/task_id"),
        ("TaskUpdate", r#"{"task_id":true}"#, "/task_id"),
        ("TaskUpdate", r#"{"task_id":["1"]}"#, "/task_id"),
        ("TaskUpdate", r#"{"task_id":"1","owner":7}"#, "/owner"),
        ("TaskUpdate", r#"{"task_id":"1","metadata":"[]"}"#, "/metadata"),
        ("TaskUpdate", r#"{"task_id":"1","metadata":"{\"a\":1,\"a\":2}"}"#, "/metadata"),
        ("TaskUpdate", r#"{"task_id":"1","status":"done"}"#, "/status"),
        ("TaskList", r#"{"ready":"yes"}"#, "/ready"),
        ("TaskList", r#"{"ready":1}"#, "/ready"),
        ("task_update", r#"{"id":"1","content":3}"#, "/content"),
        ("task_update", r#"{"id":"1"}"#, ""),
    ] {
        let faults = faults(tool, sent);
        assert_eq!(faults.len(), 1, "{tool} {sent} {faults:?}");
        assert_eq!(faults[0].0, place, "{tool} {sent} {faults:?}");
    }
}

#[test]
fn a_tool_without_required_arguments_takes_none_in_every_shape() {
    for name in ["task_check", "TaskList"] {
        let tool = find(name).unwrap();
        assert_eq!(interpret(tool, None).unwrap().ask, Ask::Read);
        for sent in ["null", "{}", r#""""#, r#""{}""#, r#""null""#] {
            assert_eq!(interpret(tool, Some(&json::parse(sent).unwrap())).unwrap().ask, Ask::Read, "{name} {sent}");
        }
    }
}

#[test]
fn unknown_arguments_are_dropped_unread_and_named() {
    let sent = r#"{"reason":{"tasks":[1]},"tasks":[{"content":"x","status":"pending","activeForm":"y","priority":"[","a\nb":1}]}"#;
    let call = interpret(find("task_write").unwrap(), Some(&json::parse(sent).unwrap())).unwrap();
    assert_eq!(call.warnings, ["tasks[0].priority", "tasks[0].a\\nb", "reason"]);
}

#[test]
fn all_faults_are_collected_and_their_number_is_bounded() {
    let sent = r#"{"tasks":[{"content":"","status":"x"},{"id":"","content":"a","status":"pending","activeForm":"b"}]}"#;
    let places: Vec<String> = faults("task_write", sent).into_iter().map(|(place, _)| place).collect();
    assert_eq!(places, ["/tasks/0/activeForm", "/tasks/0/content", "/tasks/0/status", "/tasks/1/id"]);

    let many = format!(r#"{{"tasks":[{}{{}}]}}"#, "{},".repeat(999));
    let invalid = interpret(find("task_write").unwrap(), Some(&json::parse(&many).unwrap())).unwrap_err();
    assert_eq!(invalid.faults.len() + invalid.faults_left_out, 3_000);
    assert!(invalid.sentence().len() < 1_000);
    assert!(invalid.sentence().starts_with("tasks[0].content is required; tasks[0].status is required;"));
}

#[test]
fn a_rest_body_is_taken_only_as_documented() {
    let strict = |body: &str| {
        read(Manner::Strict, Some(&json::parse(body).unwrap()), |fields| {
            fields.read_only(&["createdAt", "revision"]);
            fields.require(&["content"]);
            let id = fields.id("id");
            let owner = fields.nullable_text("owner", |text| crate::domain::Owner::parse(text));
            let blocks = fields.ids("blocks");
            let metadata = fields.metadata("metadata");
            fields.content("content").map(|content| (id, content, owner, blocks, metadata))
        })
    };
    let read = strict(r#"{"content":"a","owner":null,"blocks":["1"],"id":"x","metadata":{}}"#).unwrap();
    assert_eq!(read.value.2, Some(None));
    assert!(read.warnings.is_empty());
    for (body, place) in [
        (r#"{"content":"a","createdAt":"now"}"#, "/createdAt"),
        (r#"{"content":"a","contents":"b"}"#, "/contents"),
        (r#"{"content":"a","task_id":"b"}"#, "/task_id"),
        (r#"{"content":"a","a/b~":1}"#, "/a~1b~0"),
        (r#"{"content":"a","id":null}"#, "/id"),
        (r#"{"content":"a","id":1}"#, "/id"),
        (r#"{"content":"a","blocks":"1"}"#, "/blocks"),
        (r#"{"content":"a","blocks":[1]}"#, "/blocks/0"),
        (r#"{"content":"a","blocks":"[\"1\"]"}"#, "/blocks"),
        (r#"{"content":"a","metadata":"{}"}"#, "/metadata"),
        (r#"{"content":null}"#, "/content"),
        ("{}", "/content"),
        (r#""{\"content\":\"a\"}""#, ""),
        ("null", ""),
    ] {
        let invalid = strict(body).unwrap_err();
        assert_eq!(invalid.faults.len(), 1, "{body} {invalid:?}");
        assert_eq!(invalid.faults[0].pointer, place, "{body}");
    }
}

#[test]
fn integers_and_booleans_keep_their_exact_meaning() {
    let lenient = |body: &str| {
        read(Manner::Lenient, Some(&json::parse(body).unwrap()), |fields| {
            Some((fields.integer("n", 1, 100), fields.boolean("b")))
        })
    };
    assert_eq!(lenient(r#"{"n":"10","b":"true"}"#).unwrap().value, (Some(10), Some(true)));
    assert_eq!(lenient(r#"{"n":10,"b":false}"#).unwrap().value, (Some(10), Some(false)));
    assert_eq!(lenient(r#"{"n":null}"#).unwrap().value, (None, None));
    for body in [
        r#"{"n":10.0}"#,
        r#"{"n":"010"}"#,
        r#"{"n":" 1"}"#,
        r#"{"n":0}"#,
        r#"{"n":99999999999999999999}"#,
        r#"{"b":"True"}"#,
        r#"{"b":1}"#,
    ] {
        assert!(lenient(body).is_err(), "{body}");
    }
}
