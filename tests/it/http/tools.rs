//! Tool calls over plain HTTP, as models really make them.

use insta::assert_snapshot;
use serde_json::json;

use super::pending;
use crate::support::http::Service;

both_databases! {
    async fn every_tool_of_every_toolset_is_called_on_one_list(database: TestDatabase) {
        let service = Service::on(&database).await;
        let call = |tool: &str, arguments: &str| service.post(&format!("/threads/t/tools/{tool}")).json(arguments);
        let written = call("task_write", &pending(&["a"])).send().await.expect(200);
        assert_eq!(written.header("etag"), "\"list-1-0000000000000001\"");
        call("TaskCreate", r#"{"subject": "B", "description": "more"}"#).send().await.expect(200);
        call("TaskUpdate", r#"{"taskId": "a", "addBlocks": ["1"]}"#).send().await.expect(200);
        assert_snapshot!(call("TaskGet", r#"{"task_id": "1"}"#).send().await, @r#"
        200 OK
        etag: "list-3-0000000000000003"
        {
          "content": "- 1 [pending; blocked by a] B\nDescription:\n> more\nCreated: 2026-11-30T00:53:20.123456Z",
          "isError": false,
          "task": {
            "id": "1",
            "subject": "B",
            "description": "more",
            "state": "pending",
            "owner": null,
            "metadata": {},
            "blocks": [],
            "blocked_by": [
              "a"
            ],
            "created_at": "2026-11-30T00:53:20.123456Z"
          }
        }
        "#);
        assert_snapshot!(call("task_check", "{}").send().await, @r#"
        200 OK
        etag: "list-3-0000000000000003"
        {
          "content": "There are 2 tasks (2 pending).\n- a [pending] a\n- 1 [pending; blocked by a] B",
          "tasks": [
            {
              "id": "a",
              "content": "a",
              "status": "pending",
              "activeForm": "a"
            },
            {
              "id": "1",
              "content": "B",
              "status": "pending",
              "activeForm": "B"
            }
          ],
          "summary": {
            "total": 2,
            "completed": 0,
            "inProgress": 0,
            "pending": 2,
            "incomplete": 2,
            "hasTasks": true,
            "allCompleted": false
          },
          "incompleteTasks": [
            {
              "id": "a",
              "content": "a",
              "status": "pending",
              "activeForm": "a"
            },
            {
              "id": "1",
              "content": "B",
              "status": "pending",
              "activeForm": "B"
            }
          ],
          "isError": false
        }
        "#);
        let rest = service.get("/threads/t/tasks").send().await.expect(200).json();
        assert_eq!(rest["tasks"][1]["blockedBy"], json!(["a"]));
    }

    async fn what_an_agent_can_mend_is_answered_with_200(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a"])).send().await.expect(200);
        for (tool, arguments) in [
            ("task_write", r#"{"tasks": "[{\"content\":\"x\""}"#),
            ("task_write", r#"{"tasks": [{"content": "x"}]}"#),
            ("task_update", r#"{"id": "x", "status": "completed"}"#),
            ("task_complete", "{}"),
            ("TaskUpdate", r#"{"task_id": "a", "add_blocks": ["a"]}"#),
            ("TaskGet", r#"{"task_id": "x"}"#),
            ("task_update", r#"{"id": "a", "status": "pending", "status": "completed"}"#),
            ("task_complete", r#"{"id": "a\u0000"}"#),
            ("task_complete", r#"{"id": "\ud800"}"#),
        ] {
            let refused = service.post(&format!("/threads/t/tools/{tool}")).json(arguments).send().await.expect(200);
            assert_eq!(refused.header("etag"), "\"list-1-0000000000000001\"");
            let refused = refused.json();
            assert_eq!(refused["isError"], true, "{tool} {arguments}: {refused}");
            assert!(refused["content"].as_str().unwrap().len() > 20);
            if tool.starts_with("task_") {
                assert_eq!(refused["tasks"][0]["id"], "a", "{refused}");
            }
        }
    }

    async fn arguments_are_taken_as_models_send_them(database: TestDatabase) {
        let service = Service::on(&database).await;
        let call = async |tool: &str, arguments: &str| {
            let answer = service.post(&format!("/threads/t/tools/{tool}")).json(arguments).send().await.expect(200).json();
            assert_eq!(answer["isError"], false, "{tool} {arguments}: {answer}");
            answer
        };
        let items = r#"[{\"content\":\"x\",\"status\":\"pending\",\"activeForm\":\"x\"}]"#;
        call("task_write", &format!(r#"{{"tasks": "{items}"}}"#)).await;
        call("TaskCreate", r#""{\"subject\": \"B\", \"description\": \"\"}""#).await;
        let warned = call("TaskUpdate", r#"{"task_id": 1, "addBlockedBy": "[\"task_x\"]", "metadata": null, "priority": 1}"#).await;
        assert_eq!(warned["warnings"], json!(["priority"]));
        assert_eq!(service.get("/threads/t/tasks/1").send().await.expect(200).json()["blockedBy"], json!(["task_x"]));
    }

    async fn a_tool_without_arguments_needs_no_body(database: TestDatabase) {
        let service = Service::on(&database).await;
        let call = || service.post("/threads/t/tools/task_check");
        call().send().await.expect(200);
        call().header("content-type", "application/json").body(" \n").send().await.expect(200);
        call().json("null").send().await.expect(200);
        call().json("{}").send().await.expect(200);
        call().body("{}").send().await.problem(415, "unsupported_media_type");
    }

    async fn what_the_runtime_did_wrong_is_an_http_error(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.post("/threads/t/tools/task_wipe").json("{}").send().await.problem(404, "unknown_tool");
        service.post("/threads/t/tools/task_check").json("{").send().await.problem(400, "malformed_json");
        service.post("/threads/t/tools/task_check").json(r#"{"a": "\u0000"}"#).send().await;
        service.get("/threads/t/tools/task_check").send().await.problem(405, "method_not_allowed");
    }

    async fn a_list_is_read_the_same_by_both_dialects_and_rest(database: TestDatabase) {
        let service = Service::on(&database).await;
        let tool = async |name: &str, arguments: String| {
            service.post(&format!("/threads/t/tools/{name}")).json(arguments).send().await.expect(200).json()
        };
        tool("task_write", pending(&["a", "b"])).await;
        let update = r#"{"task_id": "a", "description": "long", "owner": "me", "metadata": {"k": 1}, "add_blocks": ["b"]}"#;
        tool("TaskUpdate", update.to_owned()).await;
        tool("task_write", pending(&["b", "a", "c"])).await;
        let rest = service.get("/threads/t/tasks").send().await.expect(200).json();
        assert_eq!(rest["tasks"][1]["description"], "long");
        assert_eq!(rest["tasks"][1]["metadata"], json!({"k": 1}));
        assert_eq!(rest["tasks"][0]["blockedBy"], json!(["a"]));
        let checked = tool("task_check", "{}".to_owned()).await;
        let listed = tool("TaskList", "{}".to_owned()).await;
        for (at, task) in rest["tasks"].as_array().unwrap().iter().enumerate() {
            assert_eq!(checked["tasks"][at]["id"], task["id"]);
            assert_eq!(listed["tasks"][at]["id"], task["id"]);
            assert_eq!(listed["tasks"][at]["blocked_by"], task["blockedBy"]);
            let got = tool("TaskGet", json!({"task_id": task["id"]}).to_string()).await;
            assert_eq!(got["task"]["owner"], task["owner"]);
        }
    }
}
