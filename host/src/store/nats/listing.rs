//! Listing: a stream delivers its keys in the order of their last writes, so each page walks
//! over all of them and keeps the next ones in order.

use async_nats::jetstream::consumer::push::OrderedConfig;
use async_nats::jetstream::consumer::{DeliverPolicy, ReplayPolicy};
use futures_util::StreamExt;

use super::bucket::{Bucket, failed};
use super::entry::is_deletion;
use super::names::decode;
use super::{Page, StoreError};
use crate::store::listing::NextKeys;

pub(super) async fn page(bucket: &Bucket, cursor: Option<String>) -> Result<Page, StoreError> {
    let mut keys = NextKeys::after(cursor);
    let (stream, deliver_subject) = bucket.stream_and_inbox().await?;
    let config = OrderedConfig {
        deliver_subject,
        filter_subject: format!("{}>", bucket.subjects()),
        headers_only: true,
        replay_policy: ReplayPolicy::Instant,
        deliver_policy: DeliverPolicy::LastPerSubject,
        ..OrderedConfig::default()
    };
    let consumer = stream.create_consumer(config).await.map_err(|error| failed(&error))?;
    if consumer.cached_info().num_pending == 0 {
        return Ok(keys.page());
    }
    let mut messages = consumer.messages().await.map_err(|error| failed(&error))?;
    while let Some(message) = messages.next().await {
        let message = message.map_err(|error| failed(&error))?;
        let info = message.info().map_err(|error| failed(&*error))?;
        let name = message.subject.strip_prefix(bucket.subjects()).and_then(decode);
        if let Some(key) = name.filter(|_| !message.headers.as_ref().is_some_and(is_deletion)) {
            keys.offer(&key);
        }
        if info.pending == 0 {
            return Ok(keys.page());
        }
    }
    Err(StoreError::Other("NATS: a listing was cut short".to_owned()))
}
