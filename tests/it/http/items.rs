//! Single tasks: creating, reading, updating, completing, deleting.

use insta::assert_snapshot;
use serde_json::json;

use super::pending;
use crate::support::http::Service;

both_databases! {
    async fn a_task_is_created_read_and_deleted(database: TestDatabase) {
        let service = Service::on(&database).await;
        let created = service.post("/threads/t/tasks").json(r#"{"content": "Write the report", "owner": null}"#).send().await;
        assert_snapshot!(created, @r#"
        201 Created
        etag: "task-1-0000000000000001"
        location: /threads/t/tasks/1
        {
          "id": "1",
          "content": "Write the report",
          "status": "pending",
          "activeForm": "Write the report",
          "description": "",
          "owner": null,
          "metadata": {},
          "blocks": [],
          "blockedBy": [],
          "createdAt": "2026-11-30T00:53:20.123456Z",
          "updatedAt": "2026-11-30T00:53:20.123456Z",
          "revision": 1
        }
        "#);
        let read = service.get("/threads/t/tasks/1").send().await.expect(200);
        assert_eq!((read.header("etag"), &read.text), (created.header("etag"), &created.text));
        let deleted = service.delete("/threads/t/tasks/1").send().await.expect(204);
        assert_eq!(deleted.text, "");
        service.get("/threads/t/tasks/1").send().await.problem(404, "unknown_task");
        // A number that was given once is never given again.
        let next = service.post("/threads/t/tasks").json(r#"{"content": "Next"}"#).send().await.expect(201);
        assert_eq!(next.json()["id"], "2");
    }

    async fn an_update_answers_with_the_list_or_with_the_task_alone(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a", "b"])).send().await.expect(200);
        let update = || service.patch("/threads/t/tasks/b").json(r#"{"status": "in_progress"}"#);
        assert_snapshot!(update().send().await, @r#"
        200 OK
        etag: "task-2-0000000000000002"
        {
          "content": "Updated b. There are 2 tasks (1 in progress, 1 pending).\n- a [pending] a\n- b [in_progress] b",
          "tasks": [
            {
              "id": "a",
              "content": "a",
              "status": "pending",
              "activeForm": "a",
              "description": "",
              "owner": null,
              "metadata": {},
              "blocks": [],
              "blockedBy": [],
              "createdAt": "2026-11-30T00:53:20.123456Z",
              "updatedAt": "2026-11-30T00:53:20.123456Z",
              "revision": 1
            },
            {
              "id": "b",
              "content": "b",
              "status": "in_progress",
              "activeForm": "b",
              "description": "",
              "owner": null,
              "metadata": {},
              "blocks": [],
              "blockedBy": [],
              "createdAt": "2026-11-30T00:53:20.123456Z",
              "updatedAt": "2026-11-30T00:53:20.123456Z",
              "revision": 2
            }
          ],
          "isError": false,
          "revision": 2,
          "threadId": "t"
        }
        "#);
        assert_snapshot!(update().header("prefer", "return=minimal").send().await, @r#"
        200 OK
        etag: "task-2-0000000000000002"
        preference-applied: return=minimal
        {
          "content": "Nothing changed: b already reads like this. There are 2 tasks (1 in progress, 1 pending).",
          "task": {
            "id": "b",
            "content": "b",
            "status": "in_progress",
            "activeForm": "b",
            "description": "",
            "owner": null,
            "metadata": {},
            "blocks": [],
            "blockedBy": [],
            "createdAt": "2026-11-30T00:53:20.123456Z",
            "updatedAt": "2026-11-30T00:53:20.123456Z",
            "revision": 2
          },
          "isError": false,
          "revision": 2
        }
        "#);
    }

    async fn only_one_task_of_an_owner_is_in_progress(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a", "b"])).send().await.expect(200);
        let begin = |id| service.patch(&format!("/threads/t/tasks/{id}")).json(r#"{"status": "in_progress"}"#);
        begin("a").send().await.expect(200);
        let list = begin("b").send().await.expect(200).json();
        assert_eq!((&list["tasks"][0]["status"], &list["tasks"][1]["status"]), (&json!("pending"), &json!("in_progress")));
        let refused = service.post("/threads/t/tasks").json(r#"{"content": "c", "status": "in_progress"}"#).send().await;
        let problem = refused.problem(409, "several_in_progress");
        assert_eq!(problem["tasks"].as_array().unwrap().len(), 2);
    }

    async fn fields_of_both_dialects_are_updated_at_once(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a", "b", "c"])).send().await.expect(200);
        let update = json!({
            "content": "A", "activeForm": "Doing A", "description": "all of it", "owner": "me",
            "metadata": {"x": 1, "gone": null}, "addBlocks": ["b", "b"], "addBlockedBy": ["c"]
        });
        service.patch("/threads/t/tasks/a").json(update.to_string()).send().await.expect(200);
        let task = service.get("/threads/t/tasks/a").send().await.expect(200).json();
        assert_eq!(task["blocks"], json!(["b"]));
        assert_eq!(task["blockedBy"], json!(["c"]));
        assert_eq!((&task["owner"], &task["description"]), (&json!("me"), &json!("all of it")));
        assert_eq!(task["metadata"], json!({"x": 1}));
        let update = r#"{"owner": null, "description": "", "removeBlocks": ["b"], "metadata": {"x": null, "y": {}}}"#;
        service.patch("/threads/t/tasks/a").json(update).send().await.expect(200);
        let task = service.get("/threads/t/tasks/a").send().await.expect(200).json();
        assert_eq!((&task["owner"], &task["description"]), (&json!(null), &json!("")));
        assert_eq!((&task["blocks"], &task["metadata"]), (&json!([]), &json!({"y": {}})));
    }

    async fn completing_a_blocker_frees_what_waits_for_it_and_reopening_blocks_it_again(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a", "b"])).send().await.expect(200);
        service.patch("/threads/t/tasks/b").json(r#"{"addBlockedBy": ["a"]}"#).send().await.expect(200);
        let completed = service.post("/threads/t/tasks/a/complete").send().await.expect(200).json();
        assert_eq!(completed["tasks"][1]["blockedBy"], json!([]));
        assert!(completed["tasks"][0]["completedAt"].is_string());
        let again = service.post("/threads/t/tasks/a/complete").send().await.expect(200).json();
        assert_eq!(again["revision"], completed["revision"]);
        let reopened = service.patch("/threads/t/tasks/a").json(r#"{"status": "pending"}"#).send().await.expect(200).json();
        assert_eq!(reopened["tasks"][1]["blockedBy"], json!(["a"]));
        assert!(reopened["tasks"][0].get("completedAt").is_none());
    }

    async fn dependencies_that_cannot_be_are_refused_with_names(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a", "b"])).send().await.expect(200);
        service.put("/threads/u/tasks").json(pending(&["elsewhere"])).send().await.expect(200);
        service.patch("/threads/t/tasks/b").json(r#"{"addBlockedBy": ["a"]}"#).send().await.expect(200);
        let link = |id: &str| service.patch("/threads/t/tasks/a").json(json!({"addBlockedBy": [id]}).to_string());
        link("a").send().await.problem(422, "self_dependency");
        let unknown = link("elsewhere").send().await.problem(409, "unknown_dependency");
        assert_eq!(unknown["availableTaskIds"], json!(["a", "b"]));
        let cycle = link("b").send().await.problem(409, "dependency_cycle");
        let path: Vec<&str> = cycle["cycle"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        assert_eq!(path.len(), 3);
        assert_eq!(path.first(), path.last());
        assert_eq!(service.get("/threads/t/tasks").send().await.expect(200).json()["revision"], 2);
    }

    async fn an_unknown_task_is_refused_with_the_ids_there_are(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a"])).send().await.expect(200);
        for call in [
            service.get("/threads/t/tasks/x"),
            service.patch("/threads/t/tasks/x").json(r#"{"status": "completed"}"#),
            service.post("/threads/t/tasks/x/complete"),
            service.delete("/threads/t/tasks/x"),
            service.delete("/threads/t/tasks/x").header("if-match", "*"),
        ] {
            let problem = call.send().await.problem(404, "unknown_task");
            assert_eq!(problem["availableTaskIds"], json!(["a"]));
            assert_eq!(problem["tasks"][0]["id"], "a");
            assert_eq!(problem["revision"], 1);
        }
    }

    async fn an_id_is_taken_only_once(database: TestDatabase) {
        let service = Service::on(&database).await;
        let create = || service.post("/threads/t/tasks").json(r#"{"id": "a", "content": "A"}"#);
        create().send().await.expect(201);
        create().send().await.problem(409, "task_exists");
    }
}
