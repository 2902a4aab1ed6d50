//! A wire between a store and its database that can be cut at a chosen moment.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// When the wire is cut, once a message with the mark comes from the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The database never gets the message.
    BeforeTheDatabase,
    /// The database gets the message and answers, but the store never gets the answer.
    BeforeTheAnswer,
}

/// A wire to a database.
#[derive(Debug)]
pub(crate) struct Proxy {
    url: String,
    mark: Arc<Mutex<Option<(String, Cut)>>>,
    is_up: watch::Sender<bool>,
}

impl Proxy {
    /// Lays a wire to the server of a URL like `postgres://user@host:port/name`.
    pub(crate) async fn to(url: &str) -> Self {
        let after_user = url.find('@').map_or(url.len(), |at| at + 1);
        let length = url[after_user..].find('/').unwrap_or(0);
        let server = url[after_user..after_user + length].to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let here = listener.local_addr().expect("an address");
        let url = format!("{}{here}{}", &url[..after_user], &url[after_user + length..]);

        let mark: Arc<Mutex<Option<(String, Cut)>>> = Arc::default();
        let (is_up, watched) = watch::channel(true);
        tokio::spawn({
            let mark = Arc::clone(&mark);
            async move {
                while let Ok((store, _)) = listener.accept().await {
                    let (mark, mut watched, server) = (Arc::clone(&mark), watched.clone(), server.clone());
                    tokio::spawn(async move {
                        if let Ok(database) = TcpStream::connect(server).await {
                            tokio::select! {
                                () = carry(store, database, &mark) => {}
                                _ = watched.wait_for(|is_up| !is_up) => {}
                            }
                        }
                    });
                }
            }
        });
        Self { url, mark, is_up }
    }

    /// Returns the URL of the database behind the wire.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Cuts the connection over which a message with this mark comes.
    pub(crate) fn cut(&self, mark: &str, cut: Cut) {
        *self.mark.lock().unwrap_or_else(PoisonError::into_inner) = Some((mark.to_owned(), cut));
    }

    /// Lets every message through again.
    pub(crate) fn mend(&self) {
        *self.mark.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Cuts all connections, and new ones, until it is up again.
    pub(crate) fn set_up(&self, is_up: bool) {
        self.is_up.send_replace(is_up);
    }
}

/// Carries bytes both ways until one side ends, or the wire is cut.
async fn carry(mut store: TcpStream, mut database: TcpStream, mark: &Mutex<Option<(String, Cut)>>) {
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    let mut all_asked: Vec<u8> = Vec::new();
    let mut is_deaf = false;
    loop {
        tokio::select! {
            length = store.read(&mut asked) => {
                let Ok(length @ 1..) = length else { return };
                all_asked.extend(&asked[..length]);
                match cut_of(mark, &all_asked) {
                    Some(Cut::BeforeTheDatabase) => return,
                    Some(Cut::BeforeTheAnswer) => is_deaf = true,
                    None => {}
                }
                if database.write_all(&asked[..length]).await.is_err() {
                    return;
                }
            }
            length = database.read(&mut answered) => {
                let Ok(length @ 1..) = length else { return };
                if is_deaf || store.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn cut_of(mark: &Mutex<Option<(String, Cut)>>, asked: &[u8]) -> Option<Cut> {
    let mark = mark.lock().unwrap_or_else(PoisonError::into_inner);
    mark.as_ref().filter(|(text, _)| asked.windows(text.len()).any(|part| part == text.as_bytes())).map(|(_, cut)| *cut)
}
