//! What a command answers, for people and for programs.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use idempotency_ledger_host::LostReason;
use serde_json::{Map, Value, json};

use crate::exit::Exit;
use crate::failure::Failure;

/// One command's answer.
pub(crate) struct Answer {
    pub(crate) exit: Exit,
    /// An object.
    pub(crate) json: Value,
    /// Lines for people, the last without its end.
    pub(crate) human: String,
}

impl Answer {
    pub(crate) fn new(exit: Exit, json: Value, human: impl Into<String>) -> Self {
        Self { exit, json, human: human.into() }
    }

    /// A holder's call that changed nothing.
    pub(crate) fn lost(reason: LostReason, advice: &str) -> Self {
        let name = name_of_reason(reason);
        Self::new(
            exit_of_reason(reason),
            json!({"answer": "lost", "reason": name}),
            format!("lost: {name}\n  {advice}"),
        )
    }
}

/// Prints to standard output; a reader that went away is none of our business.
pub(crate) fn print(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// A failure as JSON on standard output, where programs look for the answer.
pub(crate) fn print_failure(failure: &Failure) {
    let json = json!({
        "answer": "error",
        "exit_code": failure.exit.code(),
        "message": failure.what,
        "advice": failure.advice,
    });
    print(&json.to_string());
}

/// Adds a payload to `object`: base64, and as text where it is text. None at all is `null`.
pub(crate) fn add_payload(object: &mut Map<String, Value>, payload: Option<&[u8]>) {
    object.insert("payload".into(), payload.map(|bytes| STANDARD.encode(bytes)).into());
    if let Some(text) = payload.and_then(|bytes| std::str::from_utf8(bytes).ok()) {
        object.insert("payload_text".into(), text.into());
    }
}

/// How a payload is described to people.
pub(crate) fn describe_payload(payload: Option<&[u8]>) -> String {
    const SHOWN_MAX_BYTES: usize = 60;
    match payload {
        None => "none".into(),
        Some([]) => "empty (0 bytes)".into(),
        Some(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if bytes.len() <= SHOWN_MAX_BYTES && !text.contains(char::is_control) => {
                format!("{text} ({} bytes)", bytes.len())
            }
            _ => format!("{} bytes; --payload writes them out", bytes.len()),
        },
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The scope that the ledger takes where none is given.
pub(crate) fn name_of_scope(scope: Option<&str>) -> &str {
    scope.unwrap_or("global")
}

pub(crate) fn name_of_reason(reason: LostReason) -> &'static str {
    match reason {
        LostReason::Missing => "missing",
        LostReason::Expired => "expired",
        LostReason::Superseded => "superseded",
        LostReason::AlreadyDone => "already-done",
    }
}

fn exit_of_reason(reason: LostReason) -> Exit {
    match reason {
        LostReason::Missing => Exit::Missing,
        LostReason::Expired => Exit::Expired,
        LostReason::Superseded => Exit::Superseded,
        LostReason::AlreadyDone => Exit::AlreadyDone,
    }
}
