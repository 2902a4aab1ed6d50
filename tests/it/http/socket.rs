//! The program itself, over a real socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::support::database::TestDatabase;

/// A running program that is killed when its test ends.
struct Program {
    child: Child,
    address: String,
}

impl Program {
    fn start(database: &TestDatabase, flags: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tasklane"))
            .env_clear()
            .args(["--listen=127.0.0.1:0", "--database-url", database.url(), "--log-format=json"])
            .args(flags)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert_ne!(log.read_line(&mut line).unwrap(), 0, "the program ended");
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            if let Some(address) = line["message"].as_str().and_then(|text| text.strip_prefix("listening on ")) {
                break address.to_owned();
            }
        };
        // Nobody reads on, but a full pipe would stop the program.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Self { child, address }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    fn signal(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads one answer whose body has a length.
fn answer(reader: &mut BufReader<TcpStream>) -> (String, String) {
    let mut status = String::new();
    reader.read_line(&mut status).unwrap();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (status.trim_end().to_owned(), String::from_utf8(body).unwrap())
}

both_databases! {
    async fn a_program_that_is_told_to_end_finishes_what_was_begun(database: TestDatabase) {
        let mut program = Program::start(&database, &[]);
        let mut idle = BufReader::new(program.connect());
        idle.get_mut().write_all(b"GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        assert_eq!(answer(&mut idle).0, "HTTP/1.1 200 OK");

        let body = r#"{"tasks": [{"content": "a", "status": "pending", "activeForm": "a"}]}"#;
        let (first, rest) = body.split_at(20);
        let mut open = BufReader::new(program.connect());
        let head = format!(
            "PUT /threads/t/tasks HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nexpect: 100-continue\r\n\r\n",
            body.len()
        );
        open.get_mut().write_all(head.as_bytes()).unwrap();
        let mut line = String::new();
        // The program asks for the body: the request is being worked on.
        open.read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
        open.read_line(&mut line).unwrap();
        open.get_mut().write_all(first.as_bytes()).unwrap();

        program.signal();
        // The idle connection is closed, which tells that the end has begun.
        assert_eq!(idle.read(&mut [0; 1]).unwrap(), 0);
        open.get_mut().write_all(rest.as_bytes()).unwrap();
        let (status, body) = answer(&mut open);
        assert_eq!(status, "HTTP/1.1 200 OK");
        assert!(body.contains("task_a"), "{body}");
        assert!(program.child.wait().unwrap().success());

        let again = Program::start(&database, &[]);
        let mut reader = BufReader::new(again.connect());
        reader.get_mut().write_all(b"GET /threads/t/tasks HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        assert!(answer(&mut reader).1.contains("task_a"));
    }

    async fn a_program_that_is_told_to_end_does_not_wait_forever(database: TestDatabase) {
        let mut program = Program::start(&database, &["--shutdown-timeout-seconds=0"]);
        let mut open = BufReader::new(program.connect());
        open.get_mut()
            .write_all(b"PUT /threads/t/tasks HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n")
            .unwrap();
        let mut line = String::new();
        open.read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
        program.signal();
        assert!(program.child.wait().unwrap().success());
    }

    async fn a_healthcheck_tells_whether_the_service_is_ready(database: TestDatabase) {
        let program = Program::start(&database, &[]);
        let address = program.address.clone();
        let is_ready = || {
            let mut check = Command::new(env!("CARGO_BIN_EXE_tasklane"));
            check.env_clear().args(["healthcheck", "--listen", &address]).output().unwrap().status.success()
        };
        assert!(is_ready());
        drop(program);
        assert!(!is_ready());
    }
}

#[test]
fn a_program_refuses_to_be_reached_by_strangers() {
    let output = Command::new(env!("CARGO_BIN_EXE_tasklane"))
        .env_clear()
        .args(["--listen=0.0.0.0:0", "--database-url=sqlite::memory:"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("--insecure-no-auth"), "{text}");
}
