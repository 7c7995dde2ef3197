//! Requests that an app sends.

use std::sync::Arc;

use http_body_util::BodyExt;
use hyper::client::conn::http1::handshake;
use hyper::{Request, Response, Uri};
use tokio::net::TcpStream;
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use super::app::Rights;

/// Sends what the manifest allows, by HTTP 1 without TLS. Time-outs that the app asks for are
/// not kept.
pub(crate) struct Outbound(Arc<Rights>);

/// A request that was sent: its response, and how the rest of it ended.
type Sent = (Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>);

impl Outbound {
    pub(crate) fn new(rights: Arc<Rights>) -> Self {
        Self(rights)
    }
}

impl WasiHttpHooks for Outbound {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        _options: Option<RequestOptions>,
        _processed: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<Sent, Error>> + Send> {
        let rights = Arc::clone(&self.0);
        Box::new(async move {
            let uri = request.uri();
            let (scheme, authority) = (uri.scheme_str(), uri.authority());
            let authority = authority.ok_or(Error::HttpRequestUriInvalid)?.to_string();
            let host = format!("{}://{authority}", scheme.unwrap_or_default());
            if !rights.hosts.contains(&host) {
                return Err(Error::HttpRequestDenied);
            }
            send(request, &authority).await
        })
    }
}

async fn send(mut request: Request<WasiBody>, authority: &str) -> Result<Sent, Error> {
    let stream = TcpStream::connect(authority).await.map_err(Error::Connect)?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    // Its errors come to light in what is read of the response.
    let connection = tokio::spawn(async move { drop(connection.await) });
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse::<Uri>().map_err(|_| Error::HttpRequestUriInvalid)?;
    let response = sender.send_request(request).await?;
    let response = response.map(|body| body.map_err(Error::from).boxed_unsync());
    let rest = async move {
        let _ = connection.await;
        Ok(())
    };
    Ok((response, Box::new(rest)))
}
