//! Arguments as models really send them: what can only mean one thing is understood, everything else is refused, and
//! nothing is ever stored but what was meant.

use serde_json::{Value, json};

use crate::support::app::{App, segment};

const TASK: &str = r#"{"content":"x","status":"pending","activeForm":"Doing x"}"#;

both_databases! {
    async fn arguments_that_a_model_wrapped_into_strings_are_understood(database: TestDatabase) {
        let app = App::on(&database).await;
        let quoted = |text: &str| Value::from(text).to_string();
        let whole = format!(r#"{{"tasks":[{TASK}]}}"#);
        for (at, arguments) in [
            format!(r#"{{"tasks":{}}}"#, quoted(&format!("[{TASK}]"))),
            format!(r#"{{"tasks":[{}]}}"#, quoted(TASK)),
            quoted(&whole),
            quoted(&format!(r#"{{"tasks":{}}}"#, quoted(&format!("[{TASK}]")))),
        ]
        .iter()
        .enumerate()
        {
            let thread = format!("write {at}");
            let written = app.tool_as_sent(&thread, "task_write", arguments).await;
            assert_eq!(written["isError"], false, "{arguments}: {written}");
            assert_eq!(app.list(&thread).await["tasks"][0]["content"], "x", "{arguments}");
        }
        for number in 1..=10 {
            app.done("t", "TaskCreate", &json!({"subject": format!("Task {number}"), "description": ""})).await;
        }
        for (tool, arguments) in [
            ("TaskGet", r#"{"task_id":3}"#),
            ("TaskGet", r#"{"taskId":"3"}"#),
            ("TaskGet", r#"{"id":3}"#),
            ("TaskGet", r#""{\"task_id\":3}""#),
            ("TaskUpdate", r#"{"taskId":"3","addBlockedBy":"[\"1\"]"}"#),
            ("TaskUpdate", r#"{"task_id":3,"add_blocked_by":[2]}"#),
            ("TaskUpdate", r#"{"task_id":"3","addBlocks":"4"}"#),
            ("TaskUpdate", r#"{"task_id":"3","add_blocks":5,"owner":null}"#),
            ("TaskUpdate", r#"{"task_id":"3","metadata":"{\"priority\":1}"}"#),
            ("TaskList", r#"{"ready":"true"}"#),
            ("TaskList", ""),
            ("task_check", "null"),
            ("task_claim", r#"{"owner":"a","id":9,"lease_seconds":"60"}"#),
        ] {
            let result = app.tool_as_sent("t", tool, arguments).await;
            assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        }
        let task = app.get("/threads/t/tasks/3").await.ok();
        assert_eq!((&task["blockedBy"], &task["blocks"]), (&json!(["1", "2"]), &json!(["4", "5"])));
        assert_eq!((&task["metadata"], &task["owner"]), (&json!({"priority": 1}), &Value::Null));
    }

    async fn arguments_that_mean_nothing_are_refused_with_a_right_example(database: TestDatabase) {
        let app = App::on(&database).await;
        app.tool_as_sent("t", "task_write", &format!(r#"{{"tasks":[{TASK}]}}"#)).await;
        app.done("t", "TaskCreate", &json!({"subject": "A task", "description": ""})).await;
        let before = app.list("t").await;
        for (tool, arguments) in [
            ("task_write", r#"{"tasks":"[{\"content\":\"x\""}"#),
            ("task_write", r#"{"tasks":"x"}"#),
            ("task_write", r#"{"tasks":["x"]}"#),
            ("task_write", r#"{"tasks":{"content":"x","status":"pending","activeForm":"x"}}"#),
            ("task_write", r#"{"tasks":[{"content":"x","status":"done","activeForm":"x"}]}"#),
            ("task_write", r#""{\"tasks\":""#),
            ("task_write", "7"),
            ("task_update", r#"{"id":"task_x"}"#),
            ("TaskCreate", r#"{"subject":["x"],"description":""}"#),
            ("TaskUpdate", r#"{"task_id":"1","taskId":"2","status":"completed"}"#),
            ("TaskUpdate", r#"{"task_id":"1","addBlockedBy":["2",null]}"#),
            ("TaskUpdate", r#"{"task_id":"1","addBlockedBy":"[\"2\""}"#),
            ("TaskUpdate", r#"{"task_id":"1","metadata":"{\"a\":"}"#),
            ("TaskUpdate", r#"{"task_id":"1","metadata":[1]}"#),
            ("task_claim", r#"{"owner":"a","lease_seconds":"soon"}"#),
        ] {
            let refused = app.tool_as_sent("t", tool, arguments).await;
            assert_eq!(refused["isError"], true, "{tool} {arguments}: {refused}");
            let text = refused["content"].as_str().unwrap();
            let (_, example) = text.split_once("A right call: ").unwrap_or_else(|| panic!("no example: {text}"));
            assert_eq!(app.list("t").await, before, "{tool} {arguments}");
            let example: Value = serde_json::from_str(example).unwrap_or_else(|_| panic!("no JSON: {text}"));
            let fresh = app.tool("example", tool, &example).await;
            let is_understood = !fresh["content"].as_str().unwrap().contains("cannot be used");
            assert!(is_understood, "the example of {tool} is not right: {fresh}");
        }
    }

    async fn texts_that_no_database_keeps_are_refused_wherever_they_stand(database: TestDatabase) {
        let app = App::on(&database).await;
        app.done("t", "TaskCreate", &json!({"subject": "A task", "description": ""})).await;
        let before = app.list("t").await;
        for bad in [r"a\u0000b", r"\u0000", r"\ud800", r"a\udc00b", r"\ud800\ud800"] {
            for body in [
                r#"{"tasks":[{"content":"BAD","status":"pending","activeForm":"x"}]}"#,
                r#"{"tasks":[{"id":"BAD","content":"x","status":"pending","activeForm":"x"}]}"#,
                r#"{"tasks":[{"content":"x","status":"pending","activeForm":"BAD"}]}"#,
            ] {
                refused(&app, "PUT", "/threads/t/tasks", &body.replace("BAD", bad)).await;
                refused(&app, "POST", "/threads/t/tools/task_write", &body.replace("BAD", bad)).await;
            }
            for (route, tool) in [
                (r#"{"content":"BAD"}"#, r#"{"task_id":"1","subject":"BAD"}"#),
                (r#"{"description":"BAD"}"#, r#"{"task_id":"1","description":"BAD"}"#),
                (r#"{"owner":"BAD"}"#, r#"{"task_id":"1","owner":"BAD"}"#),
                (r#"{"metadata":{"k":"BAD"}}"#, r#"{"task_id":"1","metadata":{"k":["BAD"]}}"#),
                (r#"{"metadata":{"BAD":1}}"#, r#"{"task_id":"1","metadata":"{\"k\":{\"BAD\":1}}"}"#),
                (r#"{"addBlocks":["BAD"]}"#, r#"{"task_id":"1","add_blocks":["BAD"]}"#),
                (r#"{"BAD":1}"#, r#"{"task_id":"BAD","status":"completed"}"#),
            ] {
                refused(&app, "PATCH", "/threads/t/tasks/1", &route.replace("BAD", bad)).await;
                refused(&app, "POST", "/threads/t/tools/TaskUpdate", &tool.replace("BAD", bad)).await;
            }
            refused(&app, "POST", "/threads/t/tools/task_claim", &r#"{"owner":"BAD"}"#.replace("BAD", bad)).await;
        }
        for path in ["/threads/a%00b/tasks", "/threads/%ED%A0%80/tasks", "/threads/t/tasks/a%00b", "/threads/t/tasks/%ff"] {
            let answer = app.get(path).await;
            assert!(answer.status.is_client_error(), "{path}: {}", answer.text);
        }
        for header in ["x-resource-id", "x-actor"] {
            for value in ["a%00b", "%ED%A0%80", "%ff", "%0a"] {
                let answer = app.header(header, value).get("/threads/t/tasks").await;
                assert!(answer.status.is_client_error(), "{header}: {value}: {}", answer.text);
            }
        }
        assert_eq!(app.list("t").await, before);
    }

    async fn every_other_text_comes_back_as_it_was_sent(database: TestDatabase) {
        let app = App::on(&database).await;
        let odd = "\u{1}\u{7f}\u{85} \u{feff}\u{202e}\u{2028}\u{fffd}\u{ffff}\u{10ffff} e\u{301} 修 😀 '\"\\ %00 \\u0000 NULL\r\n\t ";
        let id = "修 a/b?#%😀..";
        let body = json!({
            "id": id, "content": odd, "activeForm": odd, "description": odd.repeat(100), "owner": "a)b, 'NULL' \u{202e}",
            "metadata": {odd: odd, "": [{"": ""}]},
        });
        let path = format!("/threads/{}/tasks", segment(id));
        let created = app.post(&path, &body).await.with_status(axum::http::StatusCode::CREATED);
        for task in [created, App::on(&database).await.get(&format!("{path}/{}", segment(id))).await.ok()] {
            for (key, value) in body.as_object().unwrap() {
                assert_eq!(&task[key], value, "{key}");
            }
        }
        assert_eq!(app.done(id, "TaskGet", &json!({"task_id": id})).await["task"]["subject"], odd);
    }
}

/// The call must be refused, by whatever has to refuse it, and not break anything.
async fn refused(app: &App, method: &str, path: &str, body: &str) {
    let answer = app.send(method, path, Some(body)).await;
    let is_refused = answer.status.is_client_error() || answer.json()["isError"] == true;
    assert!(is_refused && !answer.status.is_server_error(), "{method} {path} {body}: {}", answer.text);
}
