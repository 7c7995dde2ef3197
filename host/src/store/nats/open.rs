//! The URL, and a bucket that keeps what it is given.

use std::time::Duration;

use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};
use async_nats::jetstream::{Context, ErrorCode};
use async_nats::{ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;
use tokio::time::sleep;
use url::Url;

use super::StoreError;
use super::bucket::{Bucket, failed};
use super::connection::Connection;
use crate::store::options::Options;
use crate::store::{OpenError, crypto, tls};

const DEFAULT_BUCKET: &str = "idempotency";
const MAX_BUCKET_BYTES: usize = 128;
const MAX_REPLICAS: usize = 5;

/// The first server whose leader of a replicated stream compares a revision with messages that
/// are still under way, and not only with those that are stored.
const REPLICATED_SINCE: (i64, i64) = (2, 11);

/// A cluster that has just started has no leader yet; so often is it asked, with this pause.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(500);

pub(super) async fn open(url: &str) -> Result<Bucket, OpenError> {
    let urls = one_for_each_host(url);
    let (first, others) =
        urls.split_first().map_or((url, [].as_slice()), |(first, others)| (first.as_str(), others));
    let mut options = Options::parse(first)?;
    let replicas = options.take_number("replicas", 1..=MAX_REPLICAS)?;
    let credentials = options.take("credentials");
    let ca = options.take("tls_ca");
    let url = options.finish()?;
    let name = match url.path().trim_matches('/') {
        "" => DEFAULT_BUCKET.to_owned(),
        name => name.to_owned(),
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.len() > MAX_BUCKET_BYTES || !name.bytes().all(plain) {
        return Err(options.invalid("a bucket's name has letters, digits, `-` and `_`"));
    }
    let invalid = |error: std::io::Error| options.invalid(error.to_string());
    let mut servers = vec![ServerAddr::from_url(url.clone()).map_err(invalid)?];
    for other in others {
        servers.push(other.parse().map_err(invalid)?);
    }
    let mut connect = match credentials {
        Some(path) => ConnectOptions::with_credentials_file(path).await.map_err(invalid)?,
        None => ConnectOptions::new(),
    };
    connect = with_login(connect, &url).require_tls(url.scheme() == "tls");
    crypto::settle();
    if ca.is_some() || url.scheme() == "tls" {
        let config = tls::client_config(ca.as_deref()).map_err(|why| options.invalid(why))?;
        connect = connect.tls_client_config(config);
    }
    let connection = Connection::new(servers, connect).await?;
    let found = ensure(&connection.jetstream().await?, &name, replicas).await?;
    if found.num_replicas > 1 && !connection.is_at_least(REPLICATED_SINCE).await? {
        let (major, minor) = REPLICATED_SINCE;
        let why = format!(
            "NATS: the server is older than {major}.{minor}, whose replicated buckets let two \
             writers succeed on one revision; take a newer server, or a bucket with one replica"
        );
        return Err(StoreError::Other(why).into());
    }
    Ok(Bucket::new(connection, &name))
}

/// With the user and the password of the URL, or the token where there is no password.
fn with_login(connect: ConnectOptions, url: &Url) -> ConnectOptions {
    let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    match (url.username(), url.password()) {
        ("", _) => connect,
        (token, None) => connect.token(plain(token)),
        (user, Some(password)) => connect.user_and_password(plain(user), plain(password)),
    }
}

/// The URL as it is for each of its hosts: the first with the options, the others without.
fn one_for_each_host(url: &str) -> Vec<String> {
    let Some((scheme, rest)) = url.split_once("://") else { return vec![url.to_owned()] };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (user, hosts) = match authority.rsplit_once('@') {
        Some((user, hosts)) => (format!("{user}@"), hosts),
        None => (String::new(), authority),
    };
    let with = |(number, host): (usize, &str)| {
        let path = if number == 0 { path } else { "" };
        format!("{scheme}://{user}{host}{path}")
    };
    hosts.split(',').enumerate().map(with).collect()
}

/// Make the bucket where it is missing, and refuse one that cannot keep the contract.
async fn ensure(
    jetstream: &Context,
    name: &str,
    replicas: Option<usize>,
) -> Result<Config, StoreError> {
    let wanted = Config {
        name: format!("KV_{name}"),
        subjects: vec![format!("$KV.{name}.>")],
        max_messages_per_subject: 1,
        discard: DiscardPolicy::New,
        storage: StorageType::File,
        num_replicas: replicas.unwrap_or(1),
        allow_rollup: true,
        deny_delete: true,
        ..Config::default()
    };
    let mut last = StoreError::NoSuchStore;
    for _ in 0..ATTEMPTS {
        match find_or_make(jetstream, &wanted).await {
            Ok(found) => return check(&found, name, replicas).map(|()| found),
            Err(error) => last = error,
        }
        sleep(PAUSE).await;
    }
    Err(last)
}

async fn find_or_make(jetstream: &Context, wanted: &Config) -> Result<Config, StoreError> {
    use async_nats::jetstream::context::GetStreamErrorKind;

    match jetstream.get_stream(&wanted.name).await {
        Ok(stream) => return Ok(stream.cached_info().config.clone()),
        Err(error) => match error.kind() {
            GetStreamErrorKind::JetStream(said)
                if said.error_code() == ErrorCode::STREAM_NOT_FOUND => {}
            _ => return Err(failed(&error)),
        },
    }
    match jetstream.create_stream(wanted.clone()).await {
        Ok(stream) => Ok(stream.cached_info().config.clone()),
        Err(error) => Err(failed(&error)),
    }
}

fn check(found: &Config, name: &str, replicas: Option<usize>) -> Result<(), StoreError> {
    let refuse = |why: &str| Err(StoreError::Other(format!("NATS: the bucket {name} {why}")));
    if found.max_age > Duration::ZERO {
        return refuse("expires its keys; set its max age to 0");
    }
    let is_limited = found.max_bytes > 0 || found.max_messages > 0;
    if is_limited && found.discard != DiscardPolicy::New {
        return refuse("drops old keys when it is full; set its discard policy to new");
    }
    if found.mirror.is_some() || found.sources.as_ref().is_some_and(|sources| !sources.is_empty()) {
        return refuse("is a copy of another one; name that one");
    }
    if found.deny_purge {
        return refuse("does not let keys be deleted; make it anew without deny_purge");
    }
    if let Some(wanted) = replicas.filter(|wanted| found.num_replicas < *wanted) {
        let has = found.num_replicas;
        return refuse(&format!("has {has} replicas, not {wanted}; change it, or the URL"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::one_for_each_host;

    #[test]
    fn several_servers_are_named_in_one_url() {
        assert_eq!(
            one_for_each_host("nats://u:p@a:1,b:2,[::1]:3/bucket?replicas=3"),
            ["nats://u:p@a:1/bucket?replicas=3", "nats://u:p@b:2", "nats://u:p@[::1]:3"]
        );
        assert_eq!(one_for_each_host("nats://a?x=1,2"), ["nats://a?x=1,2"]);
    }
}
