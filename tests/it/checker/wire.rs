//! The wire between the services and their database, which breaks after any byte.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use super::dice::Dice;

/// What a connection may carry that is not to break.
const ENDLESS: i64 = i64::MAX / 2;

#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) port: u16,
    /// What each connection may still carry, both ways together.
    connections: Arc<Mutex<Vec<Weak<AtomicI64>>>>,
    cuts: Arc<AtomicUsize>,
}

impl Wire {
    pub(crate) async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (connections, cuts) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        tokio::spawn(accept(listener, server, Arc::clone(&connections), Arc::clone(&cuts)));
        Self { port, connections, cuts }
    }

    /// Lets some connections break after some more bytes, be it in a statement or in its answer.
    pub(crate) fn cut(&self, dice: &mut Dice) {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.retain(|budget| budget.strong_count() > 0);
        for budget in connections.iter().filter_map(Weak::upgrade) {
            if dice.has(40) {
                budget.store(i64::try_from(dice.below(12_000)).unwrap_or(0), Ordering::Relaxed);
            }
        }
    }

    pub(crate) fn cuts(&self) -> usize {
        self.cuts.load(Ordering::Relaxed)
    }
}

async fn accept(
    listener: TcpListener,
    server: SocketAddr,
    connections: Arc<Mutex<Vec<Weak<AtomicI64>>>>,
    cuts: Arc<AtomicUsize>,
) {
    while let Ok((service, _)) = listener.accept().await {
        let budget = Arc::new(AtomicI64::new(ENDLESS));
        connections.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&budget));
        let cuts = Arc::clone(&cuts);
        tokio::spawn(async move {
            let Ok(database) = TcpStream::connect(server).await else { return };
            // Small messages that wait for each other would make the wire slower than the database.
            let _ = (service.set_nodelay(true), database.set_nodelay(true));
            let (service, database) = (service.into_split(), database.into_split());
            tokio::select! {
                () = carry(service.0, database.1, &budget) => {}
                () = carry(database.0, service.1, &budget) => {}
            }
            if budget.load(Ordering::Relaxed) <= 0 {
                cuts.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
}

/// Carries bytes one way until either side ends or the wire breaks.
async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, budget: &AtomicI64) {
    let mut bytes = vec![0; 16_384];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        let left = budget.fetch_sub(i64::try_from(length).unwrap_or(0), Ordering::Relaxed);
        let passes = length.min(usize::try_from(left).unwrap_or(0));
        if to.write_all(&bytes[..passes]).await.is_err() || passes < length {
            return;
        }
    }
}
