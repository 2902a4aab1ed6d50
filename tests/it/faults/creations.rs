//! New tasks get numbers that nothing else ever had, and stand where they came.

use serde_json::json;

use crate::support::app::App;
use crate::support::process::Server;
use crate::support::wait::at_once;

both_databases! {
    async fn tasks_created_at_once_over_two_connections_get_every_number_once(database: TestDatabase) {
        let servers: [Server; 2] = Server::start_several(&database).await;
        let apps = servers.each_ref().map(Server::app);
        let mut numbers = at_once(16, 1..=100, {
            let apps = apps.clone();
            move |caller, number| {
                let app = apps[caller % 2].clone();
                async move {
                    let arguments = json!({"subject": format!("Task {number}"), "description": ""});
                    let created = app.done("t", "TaskCreate", &arguments).await;
                    created["task"]["id"].as_str().unwrap().parse::<u32>().unwrap()
                }
            }
        })
        .await;
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=100).collect::<Vec<u32>>());
        let in_order: Vec<String> = (1..=100).map(|number: u32| number.to_string()).collect();
        assert_eq!(apps[0].ids("t").await, in_order);
    }

    async fn the_number_of_a_deleted_task_never_comes_back(database: TestDatabase) {
        let app = App::on(&database).await;
        let create = json!({"subject": "A task", "description": ""});
        app.done("t", "TaskCreate", &create).await;
        app.done("t", "TaskCreate", &create).await;
        app.done("t", "TaskUpdate", &json!({"task_id": "2", "status": "deleted"})).await;
        assert_eq!(app.done("t", "TaskCreate", &create).await["task"]["id"], "3");
        app.delete("/threads/t/tasks").await.ok();
        assert_eq!(app.done("t", "TaskCreate", &create).await["task"]["id"], "4");
        assert_eq!(app.delete("/threads/t").await.status, 204);
        assert_eq!(app.done("t", "TaskCreate", &create).await["task"]["id"], "5");
        assert_eq!(App::on(&database).await.ids("t").await, ["5"]);
    }

    async fn a_list_keeps_the_order_in_which_its_tasks_came(database: TestDatabase) {
        let app = App::on(&database).await;
        let in_order: Vec<String> = (1..=12).map(|number: u32| number.to_string()).collect();
        for id in &in_order {
            app.done("t", "TaskCreate", &json!({"subject": format!("Task {id}"), "description": ""})).await;
        }
        for (id, change) in [
            ("7", json!({"status": "completed"})),
            ("1", json!({"status": "in_progress", "owner": "a"})),
            ("12", json!({"subject": "Renamed"})),
            ("2", json!({"add_blocked_by": ["11"]})),
            ("10", json!({"metadata": {"priority": 1}})),
            ("7", json!({"status": "pending"})),
        ] {
            let mut arguments = change;
            arguments["task_id"] = id.into();
            app.done("t", "TaskUpdate", &arguments).await;
        }
        assert_eq!(app.ids("t").await, in_order);
        let listed = app.done("t", "TaskList", &json!({})).await;
        assert_eq!(crate::support::app::texts(&listed["tasks"], "id"), in_order);
    }
}
