//! Requests to an app, each on a connection of its own.

use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper::header::HOST;
use hyper::{HeaderMap, Method, Request, StatusCode};
use serde_json::Value;
use tokio::net::TcpStream;
use wasmtime_wasi_http::io::TokioIo;

use super::engine::Answer;

/// An app's answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body as JSON, or as a string where it is none.
    pub body: Value,
}

/// Sends one request and reads the answer.
///
/// # Errors
/// Where the connection fails, or breaks before the answer is whole.
pub async fn request(
    address: SocketAddr,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: String,
) -> Answer<Reply> {
    let stream = TcpStream::connect(address).await.map_err(|why| why.to_string())?;
    let (mut sender, connection) =
        handshake(TokioIo::new(stream)).await.map_err(|why| why.to_string())?;
    let connection = tokio::spawn(connection);
    let mut builder = Request::builder().method(method).uri(path).header(HOST, "localhost");
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    let request = builder.body(Full::<Bytes>::from(body)).map_err(|why| why.to_string())?;
    let reply = async {
        let (head, body) = sender.send_request(request).await?.into_parts();
        hyper::Result::Ok((head, body.collect().await?.to_bytes()))
    };
    let reply = reply.await.map_err(|why| why.to_string());
    connection.abort();
    let (head, body) = reply?;
    let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
    let body = serde_json::from_slice(&body).unwrap_or_else(|_| text());
    Ok(Reply { status: head.status, headers: head.headers, body })
}
