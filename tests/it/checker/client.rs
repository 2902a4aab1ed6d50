//! How a call reaches a service: over a real socket, or straight into a router of this process.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tower::ServiceExt;

use super::call::{Answer, Outcome, Request};

/// Longer than the service's own deadline, so that silence means that it is gone.
const PATIENCE: Duration = Duration::from_secs(15);

/// What a client does in the middle of a request, to be nasty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manners {
    /// It waits for the answer.
    Waits,
    /// It hangs up when it has sent all.
    HangsUp,
    /// It hangs up when it has sent a part.
    BreaksOff,
}

/// The way to the services, each with its number.
#[derive(Debug, Clone)]
pub(crate) enum Servers {
    Routers(Vec<Router>),
    Addresses(Vec<std::net::SocketAddr>),
}

/// One client with its open connections.
#[derive(Debug)]
pub(crate) struct Client {
    servers: Servers,
    connections: HashMap<usize, BufReader<TcpStream>>,
}

impl Servers {
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Routers(routers) => routers.len(),
            Self::Addresses(addresses) => addresses.len(),
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client { servers: self.clone(), connections: HashMap::new() }
    }
}

impl Client {
    pub(crate) async fn send(&mut self, server: usize, request: &Request, manners: Manners) -> Outcome {
        let sent = match self.servers.clone() {
            Servers::Routers(routers) => tokio::time::timeout(PATIENCE, ask(&routers[server], request)).await,
            Servers::Addresses(addresses) => {
                let exchange = self.exchange(server, addresses[server], request, manners);
                tokio::time::timeout(PATIENCE, exchange).await
            }
        };
        match sent {
            Ok(outcome) => judged(outcome),
            Err(_) => Outcome::Unknown("no answer in time".to_owned()),
        }
    }

    async fn exchange(
        &mut self,
        server: usize,
        address: std::net::SocketAddr,
        request: &Request,
        manners: Manners,
    ) -> Outcome {
        let kept = self.connections.remove(&server);
        let mut connection = match kept {
            Some(connection) => connection,
            None => match TcpStream::connect(address).await {
                Ok(stream) => BufReader::new(stream),
                Err(error) => return Outcome::NotDone(format!("no connection: {error}")),
            },
        };
        let bytes = written(request);
        let part = if manners == Manners::BreaksOff { bytes.len() * 2 / 3 } else { bytes.len() };
        // Whatever arrived of a request that could not be written as a whole, the end is missing.
        if let Err(error) = connection.write_all(&bytes[..part]).await {
            return Outcome::Unknown(format!("sending failed: {error}"));
        }
        match manners {
            Manners::BreaksOff => Outcome::NotDone("broken off".to_owned()),
            Manners::HangsUp => Outcome::Unknown("hung up".to_owned()),
            Manners::Waits => match read(&mut connection).await {
                Ok(answer) => {
                    self.connections.insert(server, connection);
                    Outcome::Answered(answer)
                }
                Err(error) => Outcome::Unknown(format!("no answer: {error}")),
            },
        }
    }
}

/// Tells what a failure says about whether the call happened.
fn judged(outcome: Outcome) -> Outcome {
    match &outcome {
        Outcome::Answered(answer) if answer.status == 503 => {
            let code = answer.body["code"].as_str().unwrap_or_default().to_owned();
            match code.as_str() {
                "busy" | "overloaded" | "draining" | "store_unavailable" => Outcome::NotDone(code),
                _ => Outcome::Unknown(code),
            }
        }
        // An equal call, or this one's first half, may still be running.
        Outcome::Answered(answer) if answer.body["code"] == "idempotency_key_in_use" => {
            Outcome::Unknown("idempotency_key_in_use".to_owned())
        }
        _ => outcome,
    }
}

fn written(request: &Request) -> Vec<u8> {
    let Request { method, path, headers, body } = request;
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: tasklane\r\n");
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    match body {
        Some(body) => {
            let _ = write!(text, "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        }
        None => text.push_str("\r\n"),
    }
    text.into_bytes()
}

async fn read(connection: &mut BufReader<TcpStream>) -> std::io::Result<Answer> {
    let cut = || std::io::Error::other("the connection ended");
    let mut line = String::new();
    if connection.read_line(&mut line).await? == 0 {
        return Err(cut());
    }
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(cut)?;
    let mut headers: HashMap<String, String> = HashMap::new();
    loop {
        let mut line = String::new();
        if connection.read_line(&mut line).await? == 0 {
            return Err(cut());
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) => drop(headers.insert(name.to_ascii_lowercase(), value.trim().to_owned())),
            None => break,
        }
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    connection.read_exact(&mut body).await?;
    Ok(answer(status, |name| headers.get(name).cloned(), &body))
}

async fn ask(router: &Router, request: &Request) -> Outcome {
    let mut built = axum::http::Request::builder().method(request.method).uri(&request.path);
    for (name, value) in &request.headers {
        built = built.header(*name, value);
    }
    if request.body.is_some() {
        built = built.header("Content-Type", "application/json");
    }
    let built = built.body(Body::from(request.body.clone().unwrap_or_default())).expect("a request");
    let Ok(response) = router.clone().oneshot(built).await;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    match response.into_body().collect().await {
        Ok(body) => {
            let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
            Outcome::Answered(answer(status, header, &body.to_bytes()))
        }
        Err(error) => Outcome::Unknown(format!("the body broke: {error}")),
    }
}

fn answer(status: u16, header: impl Fn(&str) -> Option<String>, body: &[u8]) -> Answer {
    Answer {
        status,
        etag: header("etag"),
        is_replayed: header("idempotency-replayed").is_some(),
        body: serde_json::from_slice(body).unwrap_or(Value::Null),
    }
}
