//! The whole list: writing, checking, clearing.

use insta::assert_snapshot;
use serde_json::json;

use super::pending;
use crate::support::http::Service;

const TWO_TASKS: &str = r#"{"tasks": [
    {"content": "Read the code", "status": "completed", "activeForm": "Reading the code"},
    {"content": "Fix the bug", "status": "in_progress", "activeForm": "Fixing the bug"}
]}"#;

both_databases! {
    async fn a_whole_list_is_written_and_read_back(database: TestDatabase) {
        let service = Service::on(&database).await;
        let written = service.put("/threads/t/tasks").json(TWO_TASKS).send().await;
        assert_snapshot!(written, @r#"
        200 OK
        etag: "list-1-0000000000000001"
        {
          "content": "The list is written. There are 2 tasks (1 completed, 1 in progress).\n- task_read_the_code [completed] Read the code\n- task_fix_the_bug [in_progress] Fix the bug",
          "tasks": [
            {
              "id": "task_read_the_code",
              "content": "Read the code",
              "status": "completed",
              "activeForm": "Reading the code",
              "description": "",
              "owner": null,
              "metadata": {},
              "blocks": [],
              "blockedBy": [],
              "createdAt": "2026-11-30T00:53:20.123456Z",
              "updatedAt": "2026-11-30T00:53:20.123456Z",
              "completedAt": "2026-11-30T00:53:20.123456Z",
              "revision": 1
            },
            {
              "id": "task_fix_the_bug",
              "content": "Fix the bug",
              "status": "in_progress",
              "activeForm": "Fixing the bug",
              "description": "",
              "owner": null,
              "metadata": {},
              "blocks": [],
              "blockedBy": [],
              "createdAt": "2026-11-30T00:53:20.123456Z",
              "updatedAt": "2026-11-30T00:53:20.123456Z",
              "revision": 1
            }
          ],
          "isError": false,
          "revision": 1,
          "threadId": "t",
          "removed": []
        }
        "#);
        let read = service.get("/threads/t/tasks").send().await;
        assert_snapshot!(read, @r#"
        200 OK
        etag: "list-1-0000000000000001"
        {
          "content": "There are 2 tasks (1 completed, 1 in progress).\n- task_read_the_code [completed] Read the code\n- task_fix_the_bug [in_progress] Fix the bug",
          "tasks": [
            {
              "id": "task_read_the_code",
              "content": "Read the code",
              "status": "completed",
              "activeForm": "Reading the code",
              "description": "",
              "owner": null,
              "metadata": {},
              "blocks": [],
              "blockedBy": [],
              "createdAt": "2026-11-30T00:53:20.123456Z",
              "updatedAt": "2026-11-30T00:53:20.123456Z",
              "completedAt": "2026-11-30T00:53:20.123456Z",
              "revision": 1
            },
            {
              "id": "task_fix_the_bug",
              "content": "Fix the bug",
              "status": "in_progress",
              "activeForm": "Fixing the bug",
              "description": "",
              "owner": null,
              "metadata": {},
              "blocks": [],
              "blockedBy": [],
              "createdAt": "2026-11-30T00:53:20.123456Z",
              "updatedAt": "2026-11-30T00:53:20.123456Z",
              "revision": 1
            }
          ],
          "isError": false,
          "summary": {
            "total": 2,
            "completed": 1,
            "inProgress": 1,
            "pending": 0,
            "incomplete": 1,
            "hasTasks": true,
            "allCompleted": false
          },
          "incompleteTasks": [
            {
              "id": "task_fix_the_bug",
              "content": "Fix the bug",
              "status": "in_progress",
              "activeForm": "Fixing the bug",
              "description": "",
              "owner": null,
              "metadata": {},
              "blocks": [],
              "blockedBy": [],
              "createdAt": "2026-11-30T00:53:20.123456Z",
              "updatedAt": "2026-11-30T00:53:20.123456Z",
              "revision": 1
            }
          ],
          "revision": 1,
          "threadId": "t"
        }
        "#);
    }

    async fn a_thread_that_was_never_written_is_an_empty_list(database: TestDatabase) {
        let service = Service::on(&database).await;
        assert_snapshot!(service.get("/threads/t/tasks").send().await, @r#"
        200 OK
        etag: "list-0-0000000000000000"
        {
          "content": "There are no tasks.",
          "tasks": [],
          "isError": false,
          "summary": {
            "total": 0,
            "completed": 0,
            "inProgress": 0,
            "pending": 0,
            "incomplete": 0,
            "hasTasks": false,
            "allCompleted": false
          },
          "incompleteTasks": [],
          "revision": 0,
          "threadId": "t"
        }
        "#);
    }

    async fn what_a_write_drops_is_named(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a", "b", "c"])).send().await.expect(200);
        let written = service.put("/threads/t/tasks").json(pending(&["b"])).send().await.expect(200).json();
        assert_eq!(written["removed"], json!(["a", "c"]));
        assert_eq!(written["revision"], 2);
    }

    async fn a_write_that_changes_nothing_is_no_change_and_says_so(database: TestDatabase) {
        let service = Service::on(&database).await;
        let first = service.put("/threads/t/tasks").json(TWO_TASKS).send().await.expect(200);
        for _ in 0..9 {
            let again = service.put("/threads/t/tasks").json(TWO_TASKS).send().await.expect(200);
            assert_eq!(again.header("etag"), first.header("etag"));
            let again = again.json();
            assert_eq!(again["revision"], 1);
            assert!(again["content"].as_str().unwrap().starts_with("Nothing changed"), "{again}");
        }
    }

    async fn filters_narrow_the_tasks_but_not_the_summary(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a", "b", "c"])).send().await.expect(200);
        service.patch("/threads/t/tasks/a").json(r#"{"owner": "me", "status": "in_progress"}"#).send().await.expect(200);
        service.patch("/threads/t/tasks/c").json(r#"{"addBlockedBy": ["a"]}"#).send().await.expect(200);
        let plain = service.get("/threads/t/tasks").send().await.expect(200);
        for (query, ids) in [
            ("", vec!["a", "b", "c"]),
            ("?status=pending", vec!["b", "c"]),
            ("?status=completed", vec![]),
            ("?owner=me", vec!["a"]),
            ("?owner=", vec!["b", "c"]),
            ("?ready=true", vec!["b"]),
            ("?ready=false", vec!["a", "c"]),
            ("?owner=&ready=false&status=pending", vec!["c"]),
        ] {
            let found = service.get(&format!("/threads/t/tasks{query}")).send().await.expect(200);
            assert_eq!(found.header("etag"), plain.header("etag"), "{query}");
            let found = found.json();
            let found_ids: Vec<&str> =
                found["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
            assert_eq!(found_ids, ids, "{query}");
            assert_eq!(found["summary"], plain.json()["summary"], "{query}");
        }
    }

    async fn incomplete_tasks_show_those_in_progress_first(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a", "b", "c", "d"])).send().await.expect(200);
        service.patch("/threads/t/tasks/c").json(r#"{"status": "in_progress"}"#).send().await.expect(200);
        service.post("/threads/t/tasks/a/complete").send().await.expect(200);
        let found = service.get("/threads/t/tasks").send().await.expect(200).json();
        let ids: Vec<&str> =
            found["incompleteTasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["c", "b", "d"]);
    }

    async fn a_cleared_list_keeps_counting(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a"])).send().await.expect(200);
        let cleared = service.delete("/threads/t/tasks").send().await.expect(200).json();
        assert_eq!((&cleared["tasks"], &cleared["revision"]), (&json!([]), &json!(2)));
        let again = service.delete("/threads/t/tasks").send().await.expect(200).json();
        assert_eq!(again["revision"], 2);
        assert!(again.get("removed").is_none());
    }

    async fn two_resources_never_see_each_other(database: TestDatabase) {
        let service = Service::on(&database).await;
        let call = |resource| service.put("/threads/t/tasks").header("x-resource-id", resource);
        call("one").json(pending(&["a"])).send().await.expect(200);
        call("%E4%BF%AE").json(pending(&["b"])).send().await.expect(200);
        let ids = async |resource: &str| {
            let found = service.get("/threads/t/tasks").header("x-resource-id", resource).send().await.expect(200).json();
            found["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(ids("one").await, ["a"]);
        assert_eq!(ids("%E4%BF%AE").await, ["b"]);
        assert!(ids("default").await.is_empty());
        service.get("/threads/t").send().await.problem(404, "unknown_thread");
        service.get("/threads/t/tasks/a").header("x-resource-id", "two").send().await.problem(404, "unknown_task");
    }

    async fn what_is_sent_comes_back_exactly(database: TestDatabase) {
        let service = Service::on(&database).await;
        let metadata = r#"{"z":1,"a":1.0,"m":1E0,"big":123456789012345678901234567890,"t":true,"n":[{"修":"\u0001"}]}"#;
        let body = format!(r#"{{"id": "x /?#%\"", "content": " two\nlines ", "metadata": {metadata}}}"#);
        let created = service.post("/threads/a%2Fb/tasks").json(body).send().await.expect(201);
        assert_eq!(created.header("location"), "/threads/a%2Fb/tasks/x%20%2F%3F%23%25%22");
        let read = service.get(created.header("location")).send().await.expect(200);
        assert_eq!(read.text, created.text);
        assert!(read.text.contains(&format!(r#""metadata":{metadata}"#)), "{read}");
        assert_eq!(read.json()["content"], " two\nlines ");
    }
}
