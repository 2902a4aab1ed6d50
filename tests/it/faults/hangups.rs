//! A client that goes away stops nothing and blocks nobody.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tasklane::http::state::Draining;
use tasklane::server::{self, Shutdown};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use crate::support::app::{self, App};
use crate::support::clock::TestClock;
use crate::support::database::TestDatabase;

const ROUNDS: usize = 10;
const BODY: &str = r#"{"subject":"Of one who hung up","description":""}"#;

both_databases! {
    async fn a_write_whose_client_hung_up_is_done_and_the_next_is_answered(database: TestDatabase) {
        let clock = Arc::new(TestClock::days_ahead(0));
        let address = serve(&database, &clock).await;
        let app = App::at(address);
        for round in 1..=ROUNDS {
            let thread = format!("round-{round}");
            let block = database.block_writes().await;
            let drawn = clock.versions_drawn();
            let stream = send(address, &thread, BODY).await;
            // Now it has been read, and is about to be stored.
            clock.wait_for_version_after(drawn).await;
            hang_up(stream, round);
            block.lift().await;
            app.done(&thread, "TaskCreate", &json!({"subject": "Next", "description": ""})).await;
            assert_eq!(contents(&app, &thread).await, ["Of one who hung up", "Next"]);
        }
    }

    async fn a_write_whose_client_broke_off_is_not_done_and_the_next_is_answered(database: TestDatabase) {
        let address = serve(&database, &Arc::new(TestClock::days_ahead(0))).await;
        let app = App::at(address);
        for round in 1..=ROUNDS {
            let thread = format!("round-{round}");
            hang_up(send(address, &thread, &BODY[..round * 4]).await, round);
            app.done(&thread, "TaskCreate", &json!({"subject": "Next", "description": ""})).await;
            assert_eq!(contents(&app, &thread).await, ["Next"]);
        }
    }
}

/// Serves over a real socket, in this process, so that the test has the clock.
async fn serve(database: &TestDatabase, clock: &Arc<TestClock>) -> SocketAddr {
    let settings = app::settings(&[]);
    let lists = app::lists(database, &settings, Arc::clone(clock) as _).await;
    let draining = Draining::default();
    let router = server::app(&settings, lists.clone(), draining.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shutdown = Shutdown { delay: Duration::ZERO, timeout: Duration::ZERO };
    tokio::spawn(server::serve(listener, router, lists, draining, shutdown, std::future::pending()));
    address
}

/// Sends a call, of whose body there may be less than is announced.
async fn send(address: SocketAddr, thread: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /threads/{thread}/tools/TaskCreate HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        BODY.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    stream
}

/// Ends the connection, every other time without a word.
fn hang_up(stream: TcpStream, round: usize) {
    if round.is_multiple_of(2) {
        stream.set_zero_linger().unwrap();
    }
    drop(stream);
}

async fn contents(app: &App, thread: &str) -> Vec<String> {
    app::texts(&app.list(thread).await["tasks"], "content")
}
