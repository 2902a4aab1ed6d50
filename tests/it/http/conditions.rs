//! Versions, and conditions on them.

use serde_json::json;

use super::pending;
use crate::support::http::Service;

both_databases! {
    async fn of_two_writers_with_one_version_one_wins_and_the_other_sees_the_list(database: TestDatabase) {
        let service = Service::on(&database).await;
        let first = service.put("/threads/t/tasks").json(pending(&["a"])).send().await.expect(200);
        let write = |id| service.put("/threads/t/tasks").header("if-match", first.header("etag")).json(pending(&[id]));
        let (one, other) = tokio::join!(write("b").send(), write("c").send());
        let (won, lost) = if one.status.is_success() { (one, other) } else { (other, one) };
        let won = won.expect(200);
        assert_eq!(lost.header("etag"), won.header("etag"));
        let problem = lost.problem(412, "precondition_failed");
        assert_eq!((&problem["revision"], &problem["tasks"]), (&json!(2), &won.json()["tasks"]));
    }

    async fn a_condition_takes_weak_tags_lists_and_bare_revisions(database: TestDatabase) {
        let service = Service::on(&database).await;
        let written = service.put("/threads/t/tasks").json(pending(&["a"])).send().await.expect(200);
        let etag = written.header("etag");
        assert_eq!(etag, "\"list-1-0000000000000001\"");
        for (value, status) in [
            (etag.to_owned(), 200),
            (format!("W/{etag}"), 200),
            (format!("\"other\", {etag}"), 200),
            ("\"1\"".to_owned(), 200),
            ("*".to_owned(), 200),
            ("\"2\"".to_owned(), 412),
            ("\"list-1-0000000000000002\"".to_owned(), 412),
            ("\"task-1-0000000000000001\"".to_owned(), 412),
            ("1".to_owned(), 200),
            (String::new(), 200),
            ("anything".to_owned(), 412),
        ] {
            let write = service.put("/threads/t/tasks").header("if-match", &value).json(pending(&["a"]));
            write.send().await.expect(status);
        }
    }

    async fn a_task_has_a_version_of_its_own(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a", "b"])).send().await.expect(200);
        let task = service.get("/threads/t/tasks/a").send().await.expect(200);
        service.patch("/threads/t/tasks/b").json(r#"{"owner": "me"}"#).send().await.expect(200);
        let update = |owner: &str| {
            let update = service.patch("/threads/t/tasks/a").header("if-match", task.header("etag"));
            update.json(json!({"owner": owner}).to_string())
        };
        let updated = update("me").send().await.expect(200);
        assert!(updated.header("etag").starts_with("\"task-3-"), "{updated}");
        let lost = update("you").send().await;
        assert_eq!(lost.header("etag"), updated.header("etag"));
        lost.problem(412, "precondition_failed");
        service.patch("/threads/t/tasks/x").header("if-match", "\"1\"").json(r#"{"owner": "me"}"#).send().await
            .problem(404, "unknown_task");
    }

    async fn a_reader_who_has_the_state_gets_no_body(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a"])).send().await.expect(200);
        for path in ["/threads/t/tasks", "/threads/t/tasks?status=completed", "/threads/t/tasks/a", "/threads/t"] {
            let read = service.get(path).send().await.expect(200);
            assert_eq!(read.header("cache-control"), "private, no-cache");
            assert_eq!(read.header("vary"), "X-Resource-Id, Prefer");
            for known in [read.header("etag"), "\"1\"", "*"] {
                let again = service.get(path).header("if-none-match", known).send().await.expect(304);
                assert_eq!((again.text.as_str(), again.header("etag")), ("", read.header("etag")), "{path}");
            }
            service.get(path).header("if-none-match", "\"9\"").send().await.expect(200);
            service.get(path).header("if-match", "\"9\"").send().await.problem(412, "precondition_failed");
        }
        service.get("/threads/new/tasks").header("if-none-match", "*").send().await.expect(200);
        service.get("/threads/new/tasks").header("if-none-match", "\"0\"").send().await.expect(304);
    }

    async fn a_list_can_be_written_only_if_it_is_new(database: TestDatabase) {
        let service = Service::on(&database).await;
        let write = || service.put("/threads/t/tasks").header("if-none-match", "*").json(pending(&["a"]));
        service.put("/threads/t/tasks").header("if-match", "*").json(pending(&["a"])).send().await
            .problem(412, "precondition_failed");
        write().send().await.expect(200);
        write().send().await.problem(412, "precondition_failed");
        // Nothing is both written and new.
        write().header("if-match", "*").send().await.problem(412, "precondition_failed");
        let both = service.post("/threads/t/tasks").header("if-match", "*").header("if-none-match", "*");
        both.json(r#"{"id": "new", "content": "x"}"#).send().await.problem(412, "precondition_failed");
        service.put("/threads/t/tasks").header("if-none-match", "\"1\"").json(pending(&["a"])).send().await
            .problem(400, "invalid_header");
    }

    async fn a_tool_call_obeys_a_condition_too(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a"])).send().await.expect(200);
        for (tool, arguments) in [("task_complete", r#"{"id": "a"}"#), ("task_check", "{}"), ("TaskList", "{}")] {
            let call = |version| {
                service.post(&format!("/threads/t/tools/{tool}")).header("if-match", version).json(arguments)
            };
            let problem = call("\"7\"").send().await.problem(412, "precondition_failed");
            assert_eq!(problem["tasks"][0]["id"], "a");
            call("*").send().await.expect(200);
        }
    }
}
