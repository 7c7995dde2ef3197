//! A call as a vector writes it: long texts are abbreviated, tokens have names.

use serde::{Deserialize, Deserializer};

use super::expect::Tokens;
use crate::call::{Call, CallName};
use crate::to_hex;

/// The arguments of a call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallSpec {
    pub(super) call: CallName,
    #[serde(default)]
    key: Option<Text>,
    #[serde(default)]
    scope: Option<Text>,
    #[serde(default)]
    lease_ms: Option<u64>,
    #[serde(default)]
    ttl_ms: Option<u64>,
    #[serde(default)]
    fingerprint: Option<Hex>,
    #[serde(default)]
    payload: Option<Bytes>,
    #[serde(default)]
    token: Option<TokenSpec>,
    #[serde(default)]
    upsert_on_missing: bool,
    #[serde(default)]
    before_ms: Option<u64>,
    #[serde(default)]
    limit: Option<u32>,
}

/// A text, or one piece of it and how often it stands there.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Text {
    Plain(String),
    Repeat { repeat: (String, usize) },
}

/// Bytes.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Bytes {
    Text { text: String },
    Hex { hex: Hex },
    Repeat { repeat: (String, usize) },
}

/// Bytes in hexadecimal.
#[derive(Clone, Debug)]
pub(super) struct Hex(Vec<u8>);

/// A token by its name, by its distance from a named one, or as it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum TokenSpec {
    Number(u64),
    Name(String),
    Relative { of: String, plus: i64 },
}

impl CallSpec {
    /// The call. An error says which token has no value yet.
    pub(super) fn resolve(&self, tokens: &Tokens) -> Result<Call, String> {
        let token = self.token.as_ref().map(|token| tokens.value(token)).transpose()?;
        Ok(Call {
            name: self.call,
            key: self.key.as_ref().map(Text::text).unwrap_or_default(),
            scope: self.scope.as_ref().map(Text::text),
            lease_ms: self.lease_ms,
            ttl_ms: self.ttl_ms,
            fingerprint: self.fingerprint.as_ref().map(|hex| hex.0.clone()),
            payload: self.payload.as_ref().map(Bytes::bytes),
            token,
            upsert_on_missing: self.upsert_on_missing,
            before_ms: self.before_ms,
            limit: self.limit,
        })
    }
}

impl Text {
    fn text(&self) -> String {
        match self {
            Text::Plain(text) => text.clone(),
            Text::Repeat { repeat: (piece, times) } => piece.repeat(*times),
        }
    }
}

impl Bytes {
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Bytes::Text { text } => text.clone().into_bytes(),
            Bytes::Hex { hex } => hex.0.clone(),
            Bytes::Repeat { repeat: (piece, times) } => piece.repeat(*times).into_bytes(),
        }
    }

    /// As an answer has it.
    pub(super) fn hex(&self) -> String {
        to_hex(&self.bytes())
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let pairs = (0..text.len()).step_by(2).map(|at| text.get(at..at + 2));
        let bytes = pairs.map(|pair| u8::from_str_radix(pair?, 16).ok());
        bytes.collect::<Option<_>>().map(Hex).ok_or_else(|| serde::de::Error::custom("no hex"))
    }
}
