//! The bucket: one stream, one message per key.

use std::time::Duration;

use async_nats::header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use tokio::time::sleep;

use super::connection::Connection;
use super::entry::{Content, Entry};
use super::names::encode;
use super::{StoreError, Swap};

/// While a stream has no leader nobody takes a message, and while one for the same key is under
/// way the leader takes no other; so often is it offered, with pauses that grow to the longest:
/// for 3.5 s in all.
const OFFERS: u32 = 80;
const PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// A bucket, and the way to it.
pub(super) struct Bucket {
    connection: Connection,
    /// The name of the stream.
    stream: String,
    /// What the subjects of the keys begin with.
    subjects: String,
}

impl Bucket {
    pub(super) fn new(connection: Connection, name: &str) -> Self {
        Self { connection, stream: format!("KV_{name}"), subjects: format!("$KV.{name}.") }
    }

    pub(super) fn subjects(&self) -> &str {
        &self.subjects
    }

    pub(super) async fn stream(&self) -> Result<Stream<()>, StoreError> {
        let jetstream = self.connection.jetstream().await?;
        jetstream.get_stream_no_info(&self.stream).await.map_err(|error| failed(&error))
    }

    /// The stream, and a subject of its own for what it delivers.
    pub(super) async fn stream_and_inbox(&self) -> Result<(Stream<()>, String), StoreError> {
        let inbox = self.connection.new_inbox().await?;
        Ok((self.stream().await?, inbox))
    }

    /// What stands under `key`, as the stream's leader says.
    pub(super) async fn last(&self, key: &str) -> Result<Entry, StoreError> {
        let subject = format!("{}{}", self.subjects, encode(key));
        let stream = self.stream().await?;
        match stream.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => Entry::from_message(message),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {
                Ok(Entry::ABSENT)
            }
            Err(error) => Err(failed(&error)),
        }
    }

    /// Write `content` if the last message of `key` is the one with this sequence; 0 means that
    /// there is none.
    pub(super) async fn write(
        &self,
        key: &str,
        content: &Content,
        sequence: u64,
    ) -> Result<Swap, StoreError> {
        let subject = format!("{}{}", self.subjects, encode(key));
        for offer in 1..=OFFERS {
            let (mut headers, payload) = content.message();
            headers.insert(NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, sequence.to_string().as_str());
            let jetstream = self.connection.jetstream().await?;
            let sent = jetstream.publish_with_headers(subject.clone(), headers, payload.into());
            let answered = match sent.await {
                Ok(answer) => answer.await,
                Err(error) => Err(error),
            };
            match answered {
                Ok(_) => return Ok(Swap::Swapped),
                Err(error) => match error.kind() {
                    PublishErrorKind::WrongLastSequence => return Ok(Swap::Conflict),
                    // Nobody has taken it, so it can be sent again.
                    PublishErrorKind::StreamNotFound => {}
                    PublishErrorKind::Other if is_not_now(&error) => {}
                    _ => return Err(failed(&error)),
                },
            }
            sleep(LONGEST_PAUSE.min(PAUSE * offer)).await;
        }
        Err(StoreError::Other("NATS: the bucket takes no message".to_owned()))
    }

    /// Remove every trace of `key`.
    pub(super) async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let subject = format!("{}{}", self.subjects, encode(key));
        let stream = self.stream().await?;
        match stream.purge().filter(subject).await {
            Ok(_) => Ok(()),
            Err(error) => Err(failed(&error)),
        }
    }
}

/// Whether the leader took nothing, as another message for the key is under way, or as it has
/// become the leader just now. It is no conflict yet.
fn is_not_now(error: &PublishError) -> bool {
    let source = std::error::Error::source(error);
    let said = source.and_then(|source| source.downcast_ref::<async_nats::jetstream::Error>());
    said.is_some_and(|said| said.error_code() == ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT)
}

impl std::fmt::Debug for Bucket {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The options of the connection would show a password.
        formatter.debug_struct("Bucket").field("stream", &self.stream).finish_non_exhaustive()
    }
}

/// An error of the client or the server as the store's.
pub(super) fn failed(error: &dyn std::error::Error) -> StoreError {
    let mut reason = error.to_string();
    if let Some(cause) = error.source() {
        let cause = cause.to_string();
        if !reason.contains(&cause) {
            reason = format!("{reason}: {cause}");
        }
    }
    StoreError::Other(format!("NATS: {reason}"))
}
