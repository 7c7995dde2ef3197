//! What `run` records: one line of JSON, then the bytes of standard output, then those of
//! standard error.
//!
//! A stream is recorded whole or not at all. One that is cut somewhere would look whole to
//! the program that reads a replay.

use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::failure::Failure;

/// The most that a ledger records for one key.
pub(crate) const LIMIT_BYTES: usize = 524_288;
const FORMAT: &str = "idempotency-run";
const VERSION: u32 = 1;
/// The header is shorter than this, whatever the numbers in it.
const HEADER_MAX_BYTES: usize = 512;

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) exit_code: u8,
    /// The signal that ended it, if one did.
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: Stream,
    pub(crate) stderr: Stream,
}

/// What a command wrote to one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Whole(Vec<u8>),
    /// Too large to be recorded: its size is all that is known.
    Missing {
        size_bytes: u64,
    },
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    exit_code: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    stdout: StreamHeader,
    stderr: StreamHeader,
}

#[derive(Serialize, Deserialize)]
struct StreamHeader {
    size_bytes: u64,
    recorded: bool,
}

impl Stream {
    pub(crate) fn size_bytes(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Missing { size_bytes } => *size_bytes,
        }
    }

    pub(crate) fn missing_bytes(&self) -> u64 {
        match self {
            Self::Whole(_) => 0,
            Self::Missing { size_bytes } => *size_bytes,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) => bytes,
            Self::Missing { .. } => &[],
        }
    }

    fn header(&self) -> StreamHeader {
        StreamHeader { size_bytes: self.size_bytes(), recorded: matches!(self, Self::Whole(_)) }
    }

    fn drop_bytes(&mut self) {
        *self = Self::Missing { size_bytes: self.size_bytes() };
    }
}

impl Outcome {
    /// Drops the larger stream, then the other, until the rest can be recorded.
    pub(crate) fn fit(mut self) -> Self {
        for _ in 0..2 {
            let (stdout, stderr) = (self.stdout.bytes().len(), self.stderr.bytes().len());
            if stdout + stderr <= LIMIT_BYTES - HEADER_MAX_BYTES {
                break;
            }
            let larger = if stdout >= stderr { &mut self.stdout } else { &mut self.stderr };
            larger.drop_bytes();
        }
        self
    }

    /// The payload to record.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, Failure> {
        let header = Header {
            format: FORMAT.into(),
            version: VERSION,
            exit_code: self.exit_code,
            signal: self.signal,
            stdout: self.stdout.header(),
            stderr: self.stderr.header(),
        };
        let mut payload =
            serde_json::to_vec(&header).map_err(|error| unreadable(&error.to_string()))?;
        payload.push(b'\n');
        payload.extend_from_slice(self.stdout.bytes());
        payload.extend_from_slice(self.stderr.bytes());
        Ok(payload)
    }

    /// Reads a payload back; one that `run` did not write is a failure, never a reason to
    /// run anything.
    pub(crate) fn decode(payload: Option<&[u8]>) -> Result<Self, Failure> {
        let payload = payload.ok_or_else(|| unreadable("it has no payload"))?;
        let end = payload
            .iter()
            .take(HEADER_MAX_BYTES)
            .position(|byte| *byte == b'\n')
            .ok_or_else(|| unreadable("it does not begin with a header"))?;
        let (line, rest) = payload.split_at(end);
        let rest = rest.get(1..).unwrap_or_default();
        let header: Header = serde_json::from_slice(line)
            .map_err(|_| unreadable("its header is not one of `run`"))?;
        if header.format != FORMAT {
            return Err(unreadable("its header is not one of `run`"));
        }
        if header.version != VERSION {
            return Err(unreadable(&format!(
                "its format version is {}, this program reads {VERSION}",
                header.version
            )));
        }
        let (stdout, rest) = take(rest, &header.stdout)?;
        let (stderr, rest) = take(rest, &header.stderr)?;
        if !rest.is_empty() {
            return Err(unreadable("it is longer than its header says"));
        }
        Ok(Self { exit_code: header.exit_code, signal: header.signal, stdout, stderr })
    }
}

fn take<'a>(bytes: &'a [u8], header: &StreamHeader) -> Result<(Stream, &'a [u8]), Failure> {
    if !header.recorded {
        return Ok((Stream::Missing { size_bytes: header.size_bytes }, bytes));
    }
    usize::try_from(header.size_bytes)
        .ok()
        .and_then(|size| bytes.split_at_checked(size))
        .map(|(stream, rest)| (Stream::Whole(stream.to_vec()), rest))
        .ok_or_else(|| unreadable("it is shorter than its header says"))
}

fn unreadable(why: &str) -> Failure {
    Failure::new(
        Exit::Unreadable,
        format!("this key has an outcome that `idempotency run` cannot replay: {why}"),
        "The command was not run. Another program uses this key: take another --key or --scope.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(stdout: &[u8], stderr: &[u8]) -> Outcome {
        Outcome {
            exit_code: 3,
            signal: None,
            stdout: Stream::Whole(stdout.to_vec()),
            stderr: Stream::Whole(stderr.to_vec()),
        }
    }

    fn read(payload: &[u8]) -> Result<Outcome, Exit> {
        Outcome::decode(Some(payload)).map_err(|failure| failure.exit)
    }

    #[test]
    fn bytes_in_are_bytes_out() {
        for (stdout, stderr) in [(&b""[..], &b""[..]), (b"\n\0\xff", b"{}\n"), (b"1", b"")] {
            let outcome = outcome(stdout, stderr);
            let payload = outcome.encode().unwrap();
            assert_eq!(read(&payload), Ok(outcome));
        }
    }

    #[test]
    fn the_larger_stream_goes_first_and_each_whole() {
        let all = vec![b'x'; LIMIT_BYTES];
        let half = vec![b'y'; LIMIT_BYTES / 2];
        let fitted = outcome(&all, b"err").fit();
        assert_eq!(fitted.stdout, Stream::Missing { size_bytes: 524_288 });
        assert_eq!(fitted.stderr, Stream::Whole(b"err".to_vec()));
        let fitted = outcome(&half, &half).fit();
        assert_eq!((fitted.stdout.missing_bytes(), fitted.stderr.missing_bytes()), (262_144, 0));
        let fitted = outcome(&all, &all).fit();
        assert_eq!(
            (fitted.stdout.missing_bytes(), fitted.stderr.missing_bytes()),
            (524_288, 524_288)
        );
        assert_eq!(outcome(b"a", b"b").fit(), outcome(b"a", b"b"));
    }

    #[test]
    fn what_fits_is_within_the_limit_and_comes_back() {
        let most = vec![b'x'; LIMIT_BYTES - HEADER_MAX_BYTES];
        let outcome = Outcome { exit_code: 255, signal: Some(i32::MIN), ..outcome(&most, b"") };
        let payload = outcome.clone().fit().encode().unwrap();
        assert!(payload.len() <= LIMIT_BYTES);
        assert_eq!(read(&payload), Ok(outcome));
    }

    #[test]
    fn anything_else_is_unreadable() {
        assert_eq!(Outcome::decode(None).map_err(|failure| failure.exit), Err(Exit::Unreadable));
        let good = outcome(b"out", b"err").encode().unwrap();
        let newer =
            String::from_utf8(good.clone()).unwrap().replace("\"version\":1", "\"version\":2");
        let longer = [&good[..], b"x"].concat();
        let shorter = &good[..good.len() - 1];
        let foreign = br#"{"format":"other","version":1}"#;
        let cases: [&[u8]; 8] =
            [b"", b"7", b"{}\n", b"null\n", foreign, newer.as_bytes(), &longer, shorter];
        for payload in cases {
            assert_eq!(
                read(payload),
                Err(Exit::Unreadable),
                "{}",
                String::from_utf8_lossy(payload)
            );
        }
    }
}
