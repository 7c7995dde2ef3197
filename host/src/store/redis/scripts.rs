//! The writes, each a script that looks and writes at one instant.

use redis::{ErrorKind, FromRedisValue, Pipeline, RedisError, ServerErrorKind};

use super::layout::Keys;
use super::link::Link;
use super::open::Replicas;
use super::{StoreError, failed};

/// One script for each kind of write. Keys: the entry, the versions of its part.
#[derive(Clone)]
pub(super) struct Scripts {
    pub(super) set: Script,
    pub(super) delete: Script,
    pub(super) increment: Script,
    pub(super) swap: Script,
}

/// A script, and the hash by which a server calls one that it knows.
#[derive(Clone)]
pub(super) struct Script {
    text: String,
    hash: String,
}

impl Scripts {
    pub(super) fn new() -> Self {
        const STAMP: &str = include_str!("lua/stamp.lua");
        Self {
            set: Script::new([STAMP, include_str!("lua/set.lua")].concat()),
            delete: Script::new(include_str!("lua/delete.lua").to_owned()),
            increment: Script::new([STAMP, include_str!("lua/increment.lua")].concat()),
            swap: Script::new([STAMP, include_str!("lua/swap.lua")].concat()),
        }
    }
}

impl Script {
    fn new(text: String) -> Self {
        let hash = redis::Script::new(&text).get_hash().to_owned();
        Self { text, hash }
    }
}

/// A script on the keys of one entry.
pub(super) struct Call<'a> {
    pub(super) script: &'a Script,
    pub(super) keys: &'a Keys,
    pub(super) arguments: &'a [&'a [u8]],
    pub(super) replicas: Option<Replicas>,
}

/// Run the script: one round trip, and one more where the server does not know it yet. It says
/// so before it does anything, so the script runs once.
pub(super) async fn run<R: FromRedisValue>(link: &Link, call: &Call<'_>) -> Result<R, StoreError> {
    let by_hash = ("EVALSHA", call.script.hash.as_str());
    let answered = match send(link, call, by_hash).await {
        Err(error) if is_unknown_script(&error) => {
            send(link, call, ("EVAL", call.script.text.as_str())).await
        }
        answered => answered,
    };
    let (answer, held_by) = answered.map_err(failed)?;
    match (call.replicas, held_by) {
        (Some(Replicas { count, .. }), Some(held_by)) if held_by < count => {
            let what = format!("Redis: {held_by} of {count} replicas hold the write so far");
            Err(StoreError::Other(what))
        }
        _ => Ok(answer),
    }
}

fn is_unknown_script(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

/// The script's answer, and how many replicas hold what it wrote, sent and answered in one piece.
async fn send<R: FromRedisValue>(
    link: &Link,
    call: &Call<'_>,
    (command, script): (&str, &str),
) -> Result<(R, Option<u64>), RedisError> {
    let mut pipeline = Pipeline::new();
    pipeline.cmd(command).arg(script).arg(2).arg(&call.keys.entry).arg(&call.keys.version);
    for argument in call.arguments {
        pipeline.arg(*argument);
    }
    let Some(replicas) = call.replicas else {
        let (answer,) = link.pipeline(&pipeline).await?;
        return Ok((answer, None));
    };
    pipeline.cmd("WAIT").arg(replicas.count).arg(replicas.timeout_ms);
    let (answer, held_by) = link.pipeline(&pipeline).await?;
    Ok((answer, Some(held_by)))
}
