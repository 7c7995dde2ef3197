//! A TCP proxy on loopback between a store and its server: it counts, cuts and refuses.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Bytes passed on at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Passes on what a store and its server say to each other. Connections end with it.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    server: SocketAddr,
    /// Whether new connections are closed at once.
    refuses: AtomicBool,
    /// Whether what the server says is dropped, and the connection with it.
    cuts_answers: AtomicBool,
    /// The round trip whose answer is the first to be cut; 0 for none.
    cut_from: AtomicU64,
    /// Answers that were cut.
    cut: AtomicU64,
    /// How often the store said something after the server had.
    round_trips: AtomicU64,
    /// A new number ends every connection.
    generation: watch::Sender<u64>,
}

impl Proxy {
    /// In front of the server that listens on this port of loopback.
    ///
    /// # Panics
    /// Where no port is free.
    pub async fn start(server_port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let port = listener.local_addr().expect("its number").port();
        let state = Arc::new(State {
            server: SocketAddr::from(([127, 0, 0, 1], server_port)),
            refuses: AtomicBool::new(false),
            cuts_answers: AtomicBool::new(false),
            cut_from: AtomicU64::new(0),
            cut: AtomicU64::new(0),
            round_trips: AtomicU64::new(0),
            generation: watch::Sender::new(0),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&state)));
        Self { port, state, accepting }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Closes every connection, and new ones at once. None is open when it returns.
    pub async fn close(&self) {
        self.state.refuses.store(true, Ordering::SeqCst);
        self.end_connections();
        // Each connection holds a receiver.
        self.state.generation.closed().await;
    }

    /// Lets connections through again.
    pub fn open(&self) {
        self.state.cuts_answers.store(false, Ordering::SeqCst);
        self.state.refuses.store(false, Ordering::SeqCst);
    }

    /// Closes every connection; new ones are let through.
    pub fn end_connections(&self) {
        self.state.generation.send_modify(|generation| *generation += 1);
    }

    /// Lets the next request of each connection reach the server, and closes the connection
    /// instead of passing on the answer.
    pub fn cut_answers(&self) {
        self.state.cuts_answers.store(true, Ordering::SeqCst);
    }

    /// The same, from the answer to the round trip with this number on, the next being 1.
    pub fn cut_answers_from(&self, number: u64) {
        self.state.cut_from.store(self.round_trips() + number, Ordering::SeqCst);
    }

    /// How many answers were cut.
    pub fn cut(&self) -> u64 {
        self.state.cut.load(Ordering::SeqCst)
    }

    /// How often the store said something after the server had said something, over all
    /// connections: the round trips of calls that come one after the other.
    pub fn round_trips(&self) -> u64 {
        self.state.round_trips.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.end_connections();
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    while let Ok((store, _)) = listener.accept().await {
        // In this order: whoever closes meanwhile ends this one too.
        let generation = state.generation.subscribe();
        if !state.refuses.load(Ordering::SeqCst) {
            tokio::spawn(serve(store, Arc::clone(&state), generation));
        }
    }
}

async fn serve(store: TcpStream, state: Arc<State>, mut generation: watch::Receiver<u64>) {
    let Ok(server) = TcpStream::connect(state.server).await else { return };
    // Small messages go at once, as between the store and the server themselves.
    let (_, _) = (store.set_nodelay(true), server.set_nodelay(true));
    let (from_store, to_store) = store.into_split();
    let (from_server, to_server) = server.into_split();
    // The server speaks first, or is about to.
    let server_spoke = Arc::new(AtomicBool::new(true));
    let requests = requests(from_store, to_server, Arc::clone(&state), Arc::clone(&server_spoke));
    let answers = answers(from_server, to_store, Arc::clone(&state), server_spoke);
    tokio::select! {
        () = requests => {}
        () = answers => {}
        _ = generation.changed() => {}
    }
}

async fn requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    state: Arc<State>,
    server_spoke: Arc<AtomicBool>,
) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(bytes @ 1..) = from.read(&mut chunk).await {
        if server_spoke.swap(false, Ordering::SeqCst) {
            let number = state.round_trips.fetch_add(1, Ordering::SeqCst) + 1;
            if number == state.cut_from.load(Ordering::SeqCst) {
                state.cuts_answers.store(true, Ordering::SeqCst);
            }
        }
        if to.write_all(&chunk[..bytes]).await.is_err() {
            return;
        }
    }
}

async fn answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    state: Arc<State>,
    server_spoke: Arc<AtomicBool>,
) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(bytes @ 1..) = from.read(&mut chunk).await {
        if state.cuts_answers.load(Ordering::SeqCst) {
            state.cut.fetch_add(1, Ordering::SeqCst);
            return;
        }
        server_spoke.store(true, Ordering::SeqCst);
        if to.write_all(&chunk[..bytes]).await.is_err() {
            return;
        }
    }
}
