//! Every way to be refused before the domain is asked.

use axum::body::{Body, Bytes};
use axum::http::Method;
use http_body_util::channel::Channel;
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::pending;
use crate::support::database::on_sqlite;
use crate::support::http::Service;

/// Runs a test for which the database does not matter.
async fn with_service<T: Future<Output = ()> + Send + 'static>(
    flags: &'static [&'static str],
    test: impl FnOnce(Service) -> T + Send + 'static,
) {
    on_sqlite(async move |database| test(Service::with(&database, flags).await).await).await;
}

fn pointers(problem: &Value) -> Vec<&str> {
    problem["errors"].as_array().expect("faults").iter().map(|fault| fault["pointer"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn what_the_framework_refuses_is_a_problem_too() {
    with_service(&[], async |service| {
        service.get("/nowhere").send().await.problem(404, "not_found");
        service.get("/threads/t/tasks/a/b").send().await.problem(404, "not_found");
        let wrong = service.post("/threads").send().await;
        assert_eq!(wrong.header("allow"), "GET,HEAD");
        wrong.problem(405, "method_not_allowed");
        service.call(Method::TRACE, "/threads/t").send().await.problem(405, "method_not_allowed");
        service.get("/threads").header("accept", "text/html").send().await.problem(406, "not_acceptable");
        service.put("/threads/t/tasks").send().await.problem(415, "unsupported_media_type");
        service
            .put("/threads/t/tasks")
            .header("content-type", "text/plain")
            .body("{}")
            .send()
            .await
            .problem(415, "unsupported_media_type");
    })
    .await;
}

#[tokio::test]
async fn a_path_that_names_nothing_is_refused() {
    with_service(&[], async |service| {
        let long = format!("/threads/{}/tasks", "x".repeat(257));
        for path in ["/threads/%ff/tasks", "/threads//tasks", "/threads/a%00b/tasks", "/threads/%2E%2e/tasks", &long] {
            service.get(path).send().await.problem(400, "invalid_path");
        }
        let problem = service.get("/threads/t/tasks/%0A").send().await.problem(400, "invalid_path");
        assert_eq!(pointers(&problem), ["/path/task_id"]);
    })
    .await;
}

#[tokio::test]
async fn a_query_is_read_strictly_and_all_its_faults_are_named() {
    with_service(&[], async |service| {
        let query = "?status=done&owner=a%00b&ready=yes&limit=1&status=pending";
        let problem = service.get(&format!("/threads/t/tasks{query}")).send().await.problem(400, "invalid_query");
        assert_eq!(
            pointers(&problem),
            ["/query/status", "/query/owner", "/query/ready", "/query/limit", "/query/status"]
        );
        for query in ["?limit=0", "?limit=201", "?limit=x", "?cursor=x", "?cursor=1.0"] {
            service.get(&format!("/threads{query}")).send().await.problem(400, "invalid_query");
        }
        for query in ["?toolset=x", "?format=x", "?toolsets=all"] {
            service.get(&format!("/tools{query}")).send().await.problem(400, "invalid_query");
        }
    })
    .await;
}

#[tokio::test]
async fn a_header_that_cannot_be_read_is_refused() {
    with_service(&[], async |service| {
        let long = "x".repeat(257);
        for (name, value) in [
            ("x-resource-id", ""),
            ("x-resource-id", "%ff"),
            ("x-resource-id", "100%"),
            ("x-actor", "%4"),
            ("x-resource-id", "a%0Ab"),
            ("x-resource-id", ".."),
            ("x-actor", &long),
        ] {
            let call = service.get("/threads/t/tasks").header(name, value);
            let problem = call.send().await.problem(400, "invalid_header");
            assert_eq!(pointers(&problem).len(), 1, "{problem}");
        }
        let twice = service.get("/threads/t/tasks").header("x-actor", "a").header("x-actor", "b");
        twice.send().await.problem(400, "invalid_header");
    })
    .await;
}

#[tokio::test]
async fn a_body_that_is_not_json_is_refused() {
    with_service(&[], async |service| {
        for body in ["", "{", "tasks", "{\"a\":1}x", "{'a':1}"] {
            service.put("/threads/t/tasks").json(body).send().await.problem(400, "malformed_json");
        }
        let latin =
            service.put("/threads/t/tasks").header("content-type", "application/json").body(vec![0x22, 0xe9, 0x22]);
        latin.send().await.problem(400, "malformed_json");
        let fine = service.put("/threads/t/tasks").header("content-type", "Application/JSON; charset=utf-8");
        fine.body(pending(&["a"])).send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn a_body_is_refused_with_all_its_faults_by_name() {
    with_service(&[], async |service| {
        let body = r#"{"tasks": [
            {"content": "", "status": "done", "activeForm": "x"},
            {"id": null, "content": "x", "status": "pending", "activeForm": 5, "createdAt": "now", "priority": 1},
            "x"
        ], "replace": true}"#;
        assert_snapshot!(service.put("/threads/t/tasks").json(body).send().await, @r#"
        422 Unprocessable Entity
        {
          "type": "/problems/invalid_body",
          "title": "Invalid body",
          "status": 422,
          "detail": "tasks[0].content must not be empty; tasks[0].status must be one of pending, in_progress, completed; tasks[1].id must not be null: give a value, or leave it out if it is not required; tasks[1].activeForm must be a string; tasks[1].createdAt is read-only, the service sets it: leave it out; tasks[1].priority is not a field here; the fields are id, content, status, activeForm; tasks[2] must be an object; replace is not a field here; the fields are tasks.",
          "instance": "test",
          "code": "invalid_body",
          "isError": true,
          "content": "tasks[0].content must not be empty; tasks[0].status must be one of pending, in_progress, completed; tasks[1].id must not be null: give a value, or leave it out if it is not required; tasks[1].activeForm must be a string; tasks[1].createdAt is read-only, the service sets it: leave it out; tasks[1].priority is not a field here; the fields are id, content, status, activeForm; tasks[2] must be an object; replace is not a field here; the fields are tasks.",
          "errors": [
            {
              "pointer": "/tasks/0/content",
              "message": "must not be empty"
            },
            {
              "pointer": "/tasks/0/status",
              "message": "must be one of pending, in_progress, completed"
            },
            {
              "pointer": "/tasks/1/id",
              "message": "must not be null: give a value, or leave it out if it is not required"
            },
            {
              "pointer": "/tasks/1/activeForm",
              "message": "must be a string"
            },
            {
              "pointer": "/tasks/1/createdAt",
              "message": "is read-only, the service sets it: leave it out"
            },
            {
              "pointer": "/tasks/1/priority",
              "message": "is not a field here; the fields are id, content, status, activeForm"
            },
            {
              "pointer": "/tasks/2",
              "message": "must be an object"
            },
            {
              "pointer": "/replace",
              "message": "is not a field here; the fields are tasks"
            }
          ]
        }
        "#);
        service.put("/threads/t/tasks").json(pending(&["a"])).send().await.expect(200);
        for (body, pointer) in [
            (r#"{"createdAt": "2020-01-01T00:00:00Z"}"#, "/createdAt"),
            (r#"{"id": "b"}"#, "/id"),
            (r#"{"stauts": "completed"}"#, "/stauts"),
            (r#"{"content": null}"#, "/content"),
            (r#"{"metadata": []}"#, "/metadata"),
            (r#"{"addBlocks": ["x", null]}"#, "/addBlocks/1"),
            (r#"{"addBlocks": "[\"a\"]"}"#, "/addBlocks"),
            (r#"{"owner": ""}"#, "/owner"),
            ("{}", ""),
            ("[]", ""),
        ] {
            let problem = service.patch("/threads/t/tasks/a").json(body).send().await.problem(422, "invalid_body");
            assert_eq!(pointers(&problem), [pointer], "{body}");
        }
        assert_eq!(service.get("/threads/t/tasks").send().await.expect(200).json()["revision"], 1);
    })
    .await;
}

#[tokio::test]
async fn json_that_could_not_be_kept_is_refused() {
    with_service(&[], async |service| {
        for (body, pointer) in [
            (r#"{"content": "a\u0000b"}"#, "/content"),
            (r#"{"content": "\ud800"}"#, "/content"),
            (r#"{"content": "x", "id": "a\u0000b"}"#, "/id"),
            (r#"{"content": "x", "owner": "a\u0000b"}"#, "/owner"),
            (r#"{"content": "x", "metadata": {"a": {"b": "\u0000"}}}"#, "/metadata/a/b"),
            (r#"{"content": "x", "metadata": {"a": 1, "a": 2}}"#, "/metadata/a"),
        ] {
            let problem = service.post("/threads/t/tasks").json(body).send().await.problem(422, "invalid_body");
            assert_eq!(pointers(&problem), [pointer], "{body}");
        }
    })
    .await;
}

#[tokio::test]
async fn limits_are_published_and_kept() {
    let flags = &[
        "--tasks-max=2",
        "--list-bytes-max=400",
        "--description-bytes-max=300",
        "--metadata-bytes-max=100",
        "--metadata-levels-max=3",
        "--body-bytes-max=1000",
    ];
    with_service(flags, async |service| {
        let limits = service.get("/limits").send().await.expect(200).json();
        assert_eq!(limits["tasksMax"], 2);
        assert_eq!(limits["bodyBytesMax"], 1000);
        service.put("/threads/t/tasks").json(pending(&["a", "b", "c"])).send().await.problem(422, "too_many_tasks");
        let create = |fields: Value| service.post("/threads/t/tasks").json(fields.to_string());
        let text = |length| "x".repeat(length);
        create(json!({"content": "x", "description": text(301)})).send().await.problem(422, "description_too_large");
        create(json!({"content": text(200), "description": text(201)})).send().await.problem(422, "list_too_large");
        create(json!({"content": "x", "metadata": {"a": text(100)}})).send().await.problem(422, "metadata_too_large");
        create(json!({"content": "x", "metadata": {"a": [[[]]]}})).send().await.problem(422, "metadata_too_deep");
        let large = create(json!({"content": text(1000)})).send().await.problem(413, "body_too_large");
        assert!(large["content"].as_str().unwrap().contains("1000"), "{large}");
        let chunked = service.post("/threads/t/tasks").header("content-type", "application/json");
        let (mut sender, body) = Channel::<Bytes>::new(1);
        // Until nobody listens any more.
        tokio::spawn(async move { while sender.send_data(Bytes::from_static(b"      ")).await.is_ok() {} });
        chunked.body(Body::new(body)).send().await.problem(413, "body_too_large");
    })
    .await;
}

#[tokio::test]
async fn a_service_can_insist_on_a_resource() {
    with_service(&["--require-resource"], async |service| {
        service.get("/threads/t/tasks").send().await.problem(400, "resource_required");
        service.put("/threads/t/tasks").json(pending(&["a"])).send().await.problem(400, "resource_required");
        service.get("/threads").send().await.problem(400, "resource_required");
        service.get("/threads/t/tasks").header("x-resource-id", "me").send().await.expect(200);
        let refused = service.post("/threads/t/tools/task_write").json(pending(&["a"])).send().await.expect(200).json();
        assert_eq!((&refused["isError"], &refused["tasks"]), (&json!(true), &json!([])));
        let named = service.post("/threads/t/tools/task_write").header("x-resource-id", "me").json(pending(&["a"]));
        assert_eq!(named.send().await.expect(200).json()["isError"], false);
        service.get("/readyz").send().await.expect(200);
        service.get("/tools").send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn a_request_keeps_a_fit_id_and_gets_one_otherwise() {
    with_service(&[], async |service| {
        let answer = service.get("/nowhere").send().await;
        assert_eq!(answer.header("x-request-id"), "test");
        let long = "x".repeat(129);
        for unfit in ["", "a b", "a/b", "é", &long] {
            let request = axum::http::Request::builder().uri("/nowhere").header("x-request-id", unfit);
            let request = request.body(Body::empty()).unwrap();
            let response = tower::ServiceExt::oneshot(service.router.clone(), request).await.unwrap();
            let id = response.headers()["x-request-id"].to_str().unwrap();
            assert_eq!(id.len(), 36, "{unfit} became {id}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_service_that_is_full_says_so_at_once() {
    with_service(&["--requests-max=1"], async |service| {
        let (mut sender, body) = Channel::<Bytes>::new(1);
        let slow = service.put("/threads/t/tasks").header("content-type", "application/json").body(Body::new(body));
        let slow = tokio::spawn(slow.send());
        // There is room for one piece: a third can be sent only once the request is being worked on.
        for _ in 0..3 {
            sender.send_data(Bytes::from_static(b" ")).await.unwrap();
        }
        let refused = service.get("/threads/t/tasks").send().await;
        assert_eq!(refused.header("retry-after"), "1");
        refused.problem(503, "overloaded");
        service.get("/livez").send().await.expect(200);
        sender.send_data(Bytes::from_static(br#"{"tasks": []}"#)).await.unwrap();
        drop(sender);
        slow.await.unwrap().expect(200);
        service.get("/threads/t/tasks").send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn what_an_operation_does_not_take_is_refused_and_nothing_is_done() {
    with_service(&[], async |service| {
        service.put("/threads/t/tasks").json(pending(&["a"])).send().await.expect(200);
        let before = service.get("/threads/t/tasks").send().await.expect(200).text;
        for (method, path) in [
            (Method::POST, "/threads/t/tasks/a/complete"),
            (Method::DELETE, "/threads/t/tasks/a"),
            (Method::DELETE, "/threads/t/tasks"),
            (Method::DELETE, "/threads/t"),
        ] {
            let body = service.call(method.clone(), path).json(r#"{"leaseToken": "x"}"#).send().await;
            let problem = body.problem(422, "invalid_body");
            assert_eq!(problem["errors"][0]["pointer"], "/leaseToken", "{path}");
            service.call(method.clone(), path).json("{bad").send().await.problem(400, "malformed_json");
            let query = service.call(method, &format!("{path}?foo=1")).send().await;
            assert_eq!(query.problem(400, "invalid_query")["errors"][0]["pointer"], "/query/foo", "{path}");
        }
        let write = service.put("/threads/t/tasks?dry_run=true").json(pending(&["b"])).send().await;
        write.problem(400, "invalid_query");
        service.get("/threads/%zz/tasks").send().await.problem(400, "invalid_path");
        let stale =
            service.patch("/threads/t/tasks/a").header("if-match", "\"7\"").json(r#"{"content": "A"}"#).send().await;
        assert!(
            stale.problem(412, "precondition_failed")["content"]
                .as_str()
                .unwrap()
                .contains("the task is at revision 1")
        );
        assert_eq!(service.get("/threads/t/tasks").send().await.expect(200).text, before);
        // Some clients send an empty object with every request.
        service.post("/threads/t/tasks/a/complete").json("{}").send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_given_up() {
    let router = axum::Router::new().route("/", axum::routing::get(std::future::pending::<()>)).layer(
        axum::middleware::from_fn_with_state(std::time::Duration::ZERO, tasklane::http::middleware::see_through),
    );
    let request = axum::http::Request::builder().uri("/").body(Body::empty()).unwrap();
    let response = tower::ServiceExt::oneshot(router, request).await.unwrap();
    assert_eq!(response.status(), 503);
    let bytes = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap()["code"], "timeout");
}
