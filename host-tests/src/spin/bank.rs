//! A bank that charges whenever it is asked to, and remembers it. It refuses orders whose names
//! begin with `refused-`, and fails at those with `silent-`.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tokio::time::sleep;
use wasmtime_wasi_http::io::TokioIo;

/// What the bank was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Charge {
    /// The order.
    pub order: String,
    /// The amount.
    pub cents: u32,
    /// Of the claim.
    pub token: u64,
}

/// A bank on loopback; it ends when it is dropped.
pub struct Bank {
    address: SocketAddr,
    desk: Arc<Desk>,
    server: AbortHandle,
}

#[derive(Default)]
struct Desk {
    charges: Mutex<Vec<Charge>>,
    pause: Duration,
    is_loud: bool,
}

impl Bank {
    /// Takes `pause` for each charge; a loud one says what it does on standard output.
    ///
    /// # Panics
    /// Where there is no free port.
    pub async fn open(pause: Duration, is_loud: bool) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its number");
        let desk = Arc::new(Desk { pause, is_loud, ..Desk::default() });
        let server = tokio::spawn(accept(listener, Arc::clone(&desk))).abort_handle();
        Self { address, desk, server }
    }

    /// Its host, as a manifest allows it.
    pub fn host(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All charges so far, in their order.
    pub fn charges(&self) -> Vec<Charge> {
        self.desk.charges.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The tokens under which an order was charged, in their order.
    pub fn tokens(&self, order: &str) -> Vec<u64> {
        let charges = self.charges().into_iter();
        charges.filter(|charge| charge.order == order).map(|charge| charge.token).collect()
    }
}

impl Drop for Bank {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn accept(listener: TcpListener, desk: Arc<Desk>) {
    while let Ok((stream, _)) = listener.accept().await {
        let desk = Arc::clone(&desk);
        let service = service_fn(move |request| charge(request, Arc::clone(&desk)));
        tokio::spawn(Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn charge(
    request: Request<Incoming>,
    desk: Arc<Desk>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(|body| body.to_bytes());
    let charge = body.ok().and_then(|body| serde_json::from_slice::<Charge>(&body).ok());
    let Some(charge) = charge else {
        return Ok(refusal(StatusCode::BAD_REQUEST, "that is no charge"));
    };
    let Charge { order, cents, token } = &charge;
    if desk.is_loud {
        println!("bank: charging {cents} cents for {order}");
    }
    let answer = match order.split('-').next() {
        Some("refused") => refusal(StatusCode::PAYMENT_REQUIRED, "the card is blocked"),
        Some("silent") => refusal(StatusCode::INTERNAL_SERVER_ERROR, ""),
        _ => {
            let receipt = json!({ "receipt": format!("receipt-{order}-{token}") });
            Response::new(Full::from(receipt.to_string()))
        }
    };
    desk.charges.lock().unwrap_or_else(PoisonError::into_inner).push(charge);
    sleep(desk.pause).await;
    Ok(answer)
}

fn refusal(status: StatusCode, why: &'static str) -> Response<Full<Bytes>> {
    let mut refusal = Response::new(Full::from(why));
    *refusal.status_mut() = status;
    refusal
}
