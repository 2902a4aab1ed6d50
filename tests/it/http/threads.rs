//! The threads of a resource.

use serde_json::json;

use super::pending;
use crate::support::http::Service;

both_databases! {
    async fn threads_are_listed_by_pages_and_each_comes_once(database: TestDatabase) {
        let service = Service::on(&database).await;
        for number in 0..7 {
            service.put(&format!("/threads/t{number}/tasks")).json(pending(&["a"])).send().await.expect(200);
        }
        service.put("/threads/other/tasks").header("x-resource-id", "other").json(pending(&["a"])).send().await.expect(200);
        let mut found = Vec::new();
        let mut path = "/threads?limit=3".to_owned();
        loop {
            let page = service.get(&path).send().await.expect(200).json();
            let threads = page["threads"].as_array().unwrap();
            assert!(threads.len() <= 3);
            found.extend(threads.iter().map(|thread| thread["threadId"].as_str().unwrap().to_owned()));
            match page["nextCursor"].as_str() {
                Some(cursor) => path = format!("/threads?limit=3&cursor={cursor}"),
                None => break,
            }
        }
        found.sort();
        assert_eq!(found, ["t0", "t1", "t2", "t3", "t4", "t5", "t6"]);
    }

    async fn a_thread_shows_how_far_it_is(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a", "b"])).send().await.expect(200);
        service.post("/threads/t/tasks/a/complete").send().await.expect(200);
        let thread = service.get("/threads/t").send().await.expect(200).json();
        assert_eq!((&thread["threadId"], &thread["revision"]), (&json!("t"), &json!(2)));
        assert_eq!(thread["summary"]["completed"], 1);
        let listed = service.get("/threads").send().await.expect(200).json();
        assert_eq!(listed["threads"][0]["summary"], thread["summary"]);
        assert_eq!(listed["threads"][0]["updatedAt"], "2026-11-30T00:53:20.123456Z");
    }

    async fn a_deleted_thread_looks_like_one_that_was_never_written_but_goes_on_counting(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.delete("/threads/t").send().await.problem(404, "unknown_thread");
        service.get("/threads/t").send().await.problem(404, "unknown_thread");
        service.put("/threads/t/tasks").json(pending(&["a"])).send().await.expect(200);
        service.delete("/threads/t").header("if-match", "\"9\"").send().await.problem(412, "precondition_failed");
        service.delete("/threads/t").header("if-match", "\"1\"").send().await.expect(204);
        service.get("/threads/t").send().await.problem(404, "unknown_thread");
        service.delete("/threads/t").send().await.problem(404, "unknown_thread");
        assert_eq!(service.get("/threads").send().await.expect(200).json(), json!({"threads": []}));
        let list = service.get("/threads/t/tasks").send().await.expect(200).json();
        assert_eq!((&list["tasks"], &list["revision"]), (&json!([]), &json!(2)));
        let again = service.put("/threads/t/tasks").json(pending(&["a"])).send().await.expect(200).json();
        assert_eq!(again["revision"], 3);
    }
}
