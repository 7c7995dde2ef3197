//! Reads: each is one statement, so it sees all that was committed before it started.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

use super::threads::Call;
use super::write::failed;
use super::{Page, StoreError, Version, Versioned};
use crate::store::PAGE_KEYS;

/// One more than a page, to see whether there is a next one.
const LIMIT: i64 = PAGE_KEYS as i64 + 1;

/// A read.
#[derive(Debug)]
pub(super) enum Read {
    Get { key: String },
    List { cursor: Option<String> },
}

/// What a read found: the one or the other.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) found: Option<Versioned>,
    pub(super) page: Page,
}

impl Call for Read {
    type Answer = Found;
}

impl Read {
    pub(super) fn perform(&self, connection: &Connection) -> Result<Found, StoreError> {
        match self {
            Self::Get { key } => {
                get(connection, key).map(|found| Found { found, ..Found::default() })
            }
            Self::List { cursor } => list(connection, cursor.as_deref().unwrap_or_default())
                .map(|page| Found { page, ..Found::default() }),
        }
        .map_err(failed)
    }
}

fn get(connection: &Connection, key: &str) -> rusqlite::Result<Option<Versioned>> {
    let mut statement =
        connection.prepare_cached("SELECT value, version FROM entry WHERE key = ?1")?;
    statement.query_row([key], versioned).optional()
}

fn versioned(row: &Row<'_>) -> rusqlite::Result<Versioned> {
    let value = match row.get_ref(0)? {
        ValueRef::Integer(count) => count.to_le_bytes().to_vec(),
        other => other.as_bytes()?.to_vec(),
    };
    Ok(Versioned { value, version: Version(row.get::<_, i64>(1)?.cast_unsigned()) })
}

/// The empty cursor stands before all keys, as no key is empty.
fn list(connection: &Connection, cursor: &str) -> rusqlite::Result<Page> {
    let mut statement =
        connection.prepare_cached("SELECT key FROM entry WHERE key > ?1 ORDER BY key LIMIT ?2")?;
    let rows = statement.query_map((cursor, LIMIT), |row| row.get(0))?;
    let mut keys = rows.collect::<rusqlite::Result<Vec<String>>>()?;
    let more = keys.len() > PAGE_KEYS;
    keys.truncate(PAGE_KEYS);
    let cursor = if more { keys.last().cloned() } else { None };
    Ok(Page { keys, cursor })
}
