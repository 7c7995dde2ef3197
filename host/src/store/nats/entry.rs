//! What the last message of a key says.

use async_nats::HeaderMap;
use async_nats::jetstream::message::StreamMessage;

use super::{StoreError, Version};

/// Marks a counter, whose payload is its decimal text.
const KIND: &str = "Ledger-Kind";
const COUNTER: &str = "counter";

/// Set by other programs that delete keys of a bucket.
const OPERATION: &str = "KV-Operation";

/// The last message of a key, or that there is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Of the message in the stream; 0 where there is none.
    pub(super) sequence: u64,
    pub(super) content: Content,
}

/// What stands under a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    Absent,
    Value(Vec<u8>),
    Counter(i64),
}

impl Entry {
    pub(super) const ABSENT: Self = Self { sequence: 0, content: Content::Absent };

    pub(super) fn from_message(message: StreamMessage) -> Result<Self, StoreError> {
        let content = if is_deletion(&message.headers) {
            Content::Absent
        } else if message.headers.get(KIND).is_some_and(|kind| kind.as_str() == COUNTER) {
            let text = str::from_utf8(&message.payload).ok();
            let count = text.and_then(|text| text.parse().ok());
            let wrong = || StoreError::Other("NATS: a counter is no number".to_owned());
            Content::Counter(count.ok_or_else(wrong)?)
        } else {
            Content::Value(message.payload.into())
        };
        Ok(Self { sequence: message.sequence, content })
    }

    /// Even for a value, odd for a counter, so that a swap cannot take the one for the other.
    pub(super) fn version(&self) -> Version {
        let is_counter = matches!(self.content, Content::Counter(_));
        Version(self.sequence.saturating_mul(2).saturating_add(u64::from(is_counter)))
    }

    /// The sequence in a version, unless it is a counter's.
    pub(super) fn sequence_of_value(version: Version) -> Option<u64> {
        version.0.is_multiple_of(2).then_some(version.0 / 2)
    }
}

impl Content {
    /// The headers and the payload of a message that says this.
    pub(super) fn message(&self) -> (HeaderMap, Vec<u8>) {
        let mut headers = HeaderMap::new();
        match self {
            Content::Absent => (headers, Vec::new()),
            Content::Value(value) => (headers, value.clone()),
            Content::Counter(count) => {
                headers.insert(KIND, COUNTER);
                (headers, count.to_string().into_bytes())
            }
        }
    }
}

/// Whether a message stands for a key that is no more.
pub(super) fn is_deletion(headers: &HeaderMap) -> bool {
    headers.get(OPERATION).is_some()
}
