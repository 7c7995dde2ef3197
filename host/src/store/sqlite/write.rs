//! Writes: each looks and writes inside a transaction that no other writer can enter.

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, ToSql, Transaction};

use super::batch::Versions;
use super::threads::Call;
use super::{StoreError, Swap, Version};
use crate::store::{counter_overflow, wrong_kind};

/// A write.
#[derive(Debug)]
pub(super) enum Write {
    Set { key: String, value: Vec<u8> },
    Delete { key: String },
    Increment { key: String, delta: i64 },
    Swap { key: String, expected: Option<Version>, value: Vec<u8> },
}

/// What a write did.
#[derive(Debug)]
pub(super) enum Written {
    Done,
    Sum(i64),
    Swap(Swap),
}

/// What stands under a key.
enum Kind {
    Absent,
    Value(Version),
    Counter(i64),
}

impl Call for Write {
    type Answer = Written;
}

impl Write {
    /// How much it holds.
    pub(super) fn value_bytes(&self) -> usize {
        match self {
            Self::Set { value, .. } | Self::Swap { value, .. } => value.len(),
            Self::Delete { .. } | Self::Increment { .. } => 0,
        }
    }

    /// Look, and write what is to be written. After an error the caller undoes what was.
    pub(super) fn apply(
        &self,
        transaction: &Transaction<'_>,
        versions: &mut Versions,
    ) -> Result<Written, StoreError> {
        match self {
            Self::Set { key, value } => match kind(transaction, key)? {
                Kind::Counter(_) => Err(wrong_kind("counter")),
                _ => put(transaction, versions, key, value).map(|()| Written::Done),
            },
            Self::Delete { key } => delete(transaction, key).map(|()| Written::Done),
            Self::Increment { key, delta } => {
                let before = match kind(transaction, key)? {
                    Kind::Absent => 0,
                    Kind::Counter(count) => count,
                    Kind::Value(_) => return Err(wrong_kind("value")),
                };
                let sum = before.checked_add(*delta).ok_or_else(counter_overflow)?;
                put(transaction, versions, key, &sum).map(|()| Written::Sum(sum))
            }
            Self::Swap { key, expected, value } => {
                let found = match kind(transaction, key)? {
                    Kind::Absent => None,
                    Kind::Value(version) => Some(version),
                    Kind::Counter(_) => return Err(wrong_kind("counter")),
                };
                if found != *expected {
                    return Ok(Written::Swap(Swap::Conflict));
                }
                put(transaction, versions, key, value).map(|()| Written::Swap(Swap::Swapped))
            }
        }
    }
}

fn kind(transaction: &Transaction<'_>, key: &str) -> Result<Kind, StoreError> {
    // Only a counter's content is fetched; a value may be large.
    let sql =
        "SELECT iif(typeof(value) = 'integer', value, NULL), version FROM entry WHERE key = ?1";
    let mut statement = transaction.prepare_cached(sql).map_err(failed)?;
    let found = statement.query_row([key], |row| match row.get_ref(0)? {
        ValueRef::Integer(count) => Ok(Kind::Counter(count)),
        _ => Ok(Kind::Value(Version(row.get::<_, i64>(1)?.cast_unsigned()))),
    });
    Ok(found.optional().map_err(failed)?.unwrap_or(Kind::Absent))
}

/// Write `content` under a version that no key has had.
fn put(
    transaction: &Transaction<'_>,
    versions: &mut Versions,
    key: &str,
    content: &dyn ToSql,
) -> Result<(), StoreError> {
    let mut put = || {
        let upsert = "INSERT INTO entry (key, value, version) VALUES (?1, ?2, ?3) \
            ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version";
        transaction.prepare_cached(upsert)?.execute((key, content, versions.next()))
    };
    put().map(drop).map_err(failed)
}

fn delete(transaction: &Transaction<'_>, key: &str) -> Result<(), StoreError> {
    let delete = || transaction.prepare_cached("DELETE FROM entry WHERE key = ?1")?.execute([key]);
    delete().map(drop).map_err(failed)
}

/// An error of SQLite as the store's.
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::Other(format!("SQLite: {error}"))
}
