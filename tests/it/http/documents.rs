//! What describes the interface, and whether it says the truth.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use tasklane::http::code::Code;
use tasklane::http::{openapi, openapi_tools};
use tasklane::server;

use crate::support::database::on_sqlite;
use crate::support::http::{Service, settings};

fn document() -> Value {
    serde_json::from_str(&openapi::json(&server::document(&settings(&[]).public_url()))).unwrap()
}

fn tools_document() -> Value {
    serde_json::from_str(&openapi_tools::json(&server::document(&settings(&[]).public_url()))).unwrap()
}

/// Every operation with its path and method.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let methods = ["get", "put", "post", "patch", "delete"];
    paths
        .iter()
        .flat_map(|(path, item)| {
            item.as_object().unwrap().iter().map(move |(method, operation)| (path, method, operation))
        })
        .filter(|(_, method, _)| methods.contains(&method.as_str()))
        .map(|(path, method, operation)| (format!("{method} {path}"), operation))
        .collect()
}

/// Every object of a document that has this key.
fn walk<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get(key));
            members.values().for_each(|value| walk(value, key, found));
        }
        Value::Array(items) => items.iter().for_each(|value| walk(value, key, found)),
        _ => {}
    }
}

#[test]
fn the_committed_document_is_the_one_that_is_served() {
    let committed = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.yaml")).unwrap();
    let written = openapi::yaml(&server::document(&settings(&[]).public_url()));
    assert!(committed == written, "run: cargo run -q -- openapi > openapi.yaml");
}

#[test]
fn every_response_and_parameter_is_described() {
    let document = document();
    for (operation, described) in operations(&document) {
        for key in ["summary", "description", "operationId"] {
            assert!(described[key].as_str().is_some_and(|text| !text.is_empty()), "{operation} has no {key}");
        }
        for (status, response) in described["responses"].as_object().unwrap() {
            let reference = response["$ref"].as_str().map(|reference| reference.trim_start_matches('#'));
            let response = reference.map_or(response, |reference| document.pointer(reference).unwrap());
            assert!(response["description"].as_str().is_some_and(|text| !text.is_empty()), "{operation}: {status}");
        }
        for parameter in described["parameters"].as_array().into_iter().flatten() {
            assert!(parameter["description"].is_string(), "{operation}: {parameter}");
            assert!(parameter.get("example").is_some(), "{operation} has no example: {parameter}");
        }
        if let Some(body) = described.get("requestBody") {
            let content = &body["content"]["application/json"];
            assert!(content.get("example").or(content["schema"].get("example")).is_some(), "{operation}");
        }
    }
}

#[test]
fn every_code_is_in_the_document() {
    let document = document();
    let listed: BTreeSet<&str> = document["components"]["schemas"]["ProblemOut"]["properties"]["code"]["enum"]
        .as_array()
        .unwrap()
        .iter()
        .map(|code| code.as_str().unwrap())
        .collect();
    assert_eq!(listed, Code::ALL.iter().map(|code| code.as_str()).collect());
}

#[test]
fn operations_have_the_names_of_the_tools() {
    let document = document();
    let ids: BTreeSet<&str> =
        operations(&document).iter().map(|(_, operation)| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), operations(&document).len(), "two operations share a name");
    for tool in ["task_write", "task_update", "task_complete", "task_check"] {
        assert!(ids.contains(tool), "{tool}");
    }
}

#[test]
fn bodies_and_parameters_are_free_of_what_importers_do_not_take() {
    for (operation, described) in operations(&document()) {
        for part in ["requestBody", "parameters"] {
            for key in ["$ref", "oneOf", "anyOf", "allOf"] {
                let mut found = Vec::new();
                walk(&described[part], key, &mut found);
                assert!(found.is_empty(), "{operation}: {key} in {part}");
            }
        }
    }
}

#[test]
fn the_tools_document_is_flat_and_short() {
    let document = tools_document();
    assert_eq!(document["openapi"], "3.0.3");
    for key in ["$ref", "oneOf", "anyOf", "allOf", "pattern"] {
        let mut found = Vec::new();
        walk(&document, key, &mut found);
        assert!(found.is_empty(), "{key}");
    }
    let mut types = Vec::new();
    walk(&document["paths"], "type", &mut types);
    assert!(types.iter().all(|kind| kind.is_string()), "a list of types");
    let mut descriptions = Vec::new();
    walk(&document, "description", &mut descriptions);
    // A property may have that name too.
    for text in descriptions.iter().filter_map(|text| text.as_str()) {
        assert!(text.chars().count() <= 300, "{text}");
    }
    assert!(document.to_string().len() < 100_000);
    for (operation, described) in operations(&document) {
        let id = described["operationId"].as_str().unwrap();
        assert!(id.len() <= 40 && id.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{id}");
        let of_body = &described["requestBody"]["content"]["application/json"]["schema"]["properties"];
        for parameter in described["parameters"].as_array().unwrap() {
            assert_ne!(parameter["in"], "header", "{operation}");
            assert!(of_body.get(parameter["name"].as_str().unwrap()).is_none(), "{operation}: {parameter}");
        }
    }
}

#[tokio::test]
async fn documents_are_served_as_they_are() {
    on_sqlite(async |database| {
        let service = Service::on(&database).await;
        let served = service.get("/openapi.json").send().await.expect(200);
        assert_eq!(served.header("content-type"), "application/json");
        assert_eq!(served.json(), document());
        let served = service.get("/openapi.yaml").send().await.expect(200);
        assert_eq!(served.header("content-type"), "application/yaml");
        assert_eq!(service.get("/openapi-tools.json").send().await.expect(200).json(), tools_document());
        let named = Service::with(&database, &["--public-url=https://tasks.example"]).await;
        let served = named.get("/openapi.json").send().await.expect(200).json();
        assert_eq!(served["servers"][0]["url"], "https://tasks.example");
    })
    .await;
}

#[tokio::test]
async fn the_page_of_the_documents_needs_nothing_from_elsewhere() {
    on_sqlite(async |database| {
        let service = Service::on(&database).await;
        assert_eq!(service.get("/docs").send().await.expect(303).header("location"), "/docs/");
        let page = service.get("/docs/").send().await.expect(200);
        assert_eq!(page.header("content-type"), "text/html");
        assert!(!page.text.contains("://"), "{}", page.text);
        let start = service.get("/docs/swagger-initializer.js").send().await.expect(200);
        assert!(start.text.contains("\"/openapi.json\""), "{}", start.text);
        service.get("/docs/swagger-ui-bundle.js").send().await.expect(200);
        service.get("/docs/nothing").send().await.problem(404, "not_found");
    })
    .await;
}

#[tokio::test]
async fn the_type_of_a_problem_leads_to_its_meaning() {
    on_sqlite(async |database| {
        let service = Service::on(&database).await;
        for code in Code::ALL {
            let kind = service.get(&format!("/problems/{}", code.as_str())).send().await.expect(200).json();
            assert_eq!(kind["status"], code.status().as_u16());
        }
        service.get("/problems/other").send().await.problem(404, "unknown_code");
    })
    .await;
}

#[tokio::test]
async fn the_tools_are_listed_in_every_format() {
    on_sqlite(async |database| {
        let service = Service::on(&database).await;
        let all = service.get("/tools").send().await.expect(200).json();
        assert!(all["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "TaskCreate"));
        let mastra = service.get("/tools?toolset=mastra&format=openai").send().await.expect(200).json();
        let names: Vec<&Value> =
            mastra["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
        assert_eq!(names, ["task_write", "task_update", "task_complete", "task_check"]);
        let document = document();
        let parameters = document["paths"]["/tools"]["get"]["parameters"].as_array().unwrap();
        for parameter in parameters {
            for value in parameter["schema"]["enum"].as_array().unwrap() {
                let query = format!("{}={}", parameter["name"].as_str().unwrap(), value.as_str().unwrap());
                service.get(&format!("/tools?{query}")).send().await.expect(200);
            }
        }
    })
    .await;
}
