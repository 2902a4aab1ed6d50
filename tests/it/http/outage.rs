//! What is said when the service cannot do its work: nothing about why.

use super::pending;
use crate::support::http::Service;

both_databases! {
    async fn a_database_that_cannot_answer_is_never_an_empty_list(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.put("/threads/t/tasks").json(pending(&["a"])).send().await.expect(200);
        database.execute("alter table task rename to hidden").await;
        for call in [
            service.get("/threads/t/tasks"),
            service.get("/threads/t/tasks/a"),
            service.put("/threads/t/tasks").json(pending(&["b"])),
            service.post("/threads/t/tools/task_check"),
            service.post("/threads/t/tools/TaskList").json("{}"),
        ] {
            let answer = call.send().await;
            assert_eq!(answer.header("retry-after"), "1");
            for secret in ["task\"", "sql", "SQL", "hidden", "relation", "no such table"] {
                assert!(!answer.text.contains(secret), "{answer}");
            }
            answer.problem(503, "store_unavailable");
        }
        service.get("/livez").send().await.expect(200);
        database.execute("alter table hidden rename to task").await;
        let list = service.get("/threads/t/tasks").send().await.expect(200).json();
        assert_eq!(list["tasks"][0]["id"], "a");
    }

    async fn a_service_that_is_about_to_end_is_not_ready_but_answers(database: TestDatabase) {
        let service = Service::on(&database).await;
        service.get("/readyz").send().await.expect(200);
        service.draining.begin();
        service.get("/readyz").send().await.problem(503, "draining");
        service.get("/livez").send().await.expect(200);
        service.put("/threads/t/tasks").json(pending(&["a"])).send().await.expect(200);
    }
}

async fn fail() {
    panic!("a secret");
}

#[tokio::test]
async fn a_panic_is_a_500_that_says_nothing() {
    use axum::middleware::from_fn_with_state;
    use tasklane::http::{middleware, problem};
    use tower_http::catch_panic::CatchPanicLayer;

    let router = axum::Router::new()
        .route("/", axum::routing::get(fail))
        .layer(CatchPanicLayer::custom(middleware::caught))
        .layer(from_fn_with_state(std::time::Duration::from_secs(10), middleware::see_through));
    let request = axum::http::Request::builder().uri("/").body(axum::body::Body::empty()).unwrap();
    let response = tower::ServiceExt::oneshot(router, request).await.unwrap();
    assert_eq!(response.status(), 500);
    assert!(response.extensions().get::<problem::Cause>().unwrap().as_str().contains("a secret"));
    let bytes = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    assert!(text.contains("\"internal\"") && !text.contains("secret"), "{text}");
}
