//! An app, served over HTTP on loopback.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use wasmtime_wasi_http::handler::ProxyHandler;
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::{Error, WasiBody};

use super::app::App;
use super::engine::Answer;
use super::pool::{Counts, Pool};

/// A served app; dropped, it stops listening and ends its connections.
pub struct Double {
    address: SocketAddr,
    counts: Arc<Counts>,
    server: AbortHandle,
}

impl Double {
    /// Serves the app on a port of loopback, any where 0 is given. Needs a runtime of several
    /// threads, as Spin has.
    ///
    /// # Errors
    /// Where the port cannot be listened on.
    pub async fn serve(app: App, port: u16) -> Answer<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let listener = listener.map_err(|why| why.to_string())?;
        let address = listener.local_addr().map_err(|why| why.to_string())?;
        let counts = Arc::new(Counts::default());
        let handler = ProxyHandler::new(Pool { app, counts: Arc::clone(&counts) });
        let server = tokio::spawn(accept(listener, handler)).abort_handle();
        Ok(Self { address, counts, server })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many instances there have been.
    pub fn instances(&self) -> usize {
        self.counts.instances.load(Ordering::Relaxed)
    }

    /// The most requests that were in one instance at once.
    pub fn most_at_once(&self) -> usize {
        self.counts.most_at_once.load(Ordering::Relaxed)
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn accept(listener: TcpListener, handler: ProxyHandler<Pool>) {
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(connections.spawn(connection(stream, handler.clone()))),
            Err(why) => eprintln!("spin: {why}"),
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(stream: TcpStream, handler: ProxyHandler<Pool>) {
    let service = service_fn(|request| respond(request, handler.clone()));
    // Who hung up knows.
    let _ = Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// An app that traps or answers an error is a 500, as with Spin.
async fn respond(
    request: Request<Incoming>,
    handler: ProxyHandler<Pool>,
) -> Result<Response<WasiBody>, Error> {
    let request = request.map(|body| body.map_err(Error::from).boxed_unsync());
    Ok(handler.handle((), request).await.unwrap_or_else(|why| {
        let body = Full::from(format!("{why:#}")).map_err(|never| match never {}).boxed_unsync();
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    }))
}
