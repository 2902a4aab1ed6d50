//! Asks a running service whether it is ready, for containers that have no other client.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long the service may take for each step.
const TIMEOUT: Duration = Duration::from_secs(4);

/// Asks `/readyz` and returns the line with the status.
///
/// # Errors
/// The service does not answer, or answers that it is not ready.
pub fn run(address: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    let line = line.trim_end();
    match line.split(' ').nth(1) {
        Some("200") => Ok(line.to_owned()),
        _ => Err(io::Error::other(format!("not ready: {line}"))),
    }
}
