//! The store in a PostgreSQL table.

use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Object, Pool};
use tokio::time::{sleep, timeout};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::{
    OpenError, PAGE_KEYS, Page, Store, StoreError, Swap, Version, Versioned, check_key, wrong_kind,
};

mod failure;
mod open;
mod schema;
mod statements;

use failure::{failed, is_serialization_failure, no_connection};
use statements::Statements;

/// How long a call may take. Below the 5 s that a ledger waits for a store call by default, so
/// that the caller learns the reason.
const CALL_TIMEOUT: Duration = Duration::from_secs(4);

/// How often a statement is tried that the server takes back for the sake of another one, and
/// the first pause between two; each is twice as long as the one before.
const ATTEMPTS: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// One more than a page, to see whether there is a next one.
const LIMIT: i64 = PAGE_KEYS as i64 + 1;

/// The parameters of a statement.
type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A store in a table of a PostgreSQL database, version 12 or later.
///
/// Every call is one prepared statement and one round trip, in a transaction of its own under
/// `READ COMMITTED`, whatever the database's default is. A statement that the server takes back
/// as a serialisation failure or a deadlock has changed nothing, and is tried again, up to ten
/// times. A write takes an advisory lock on its key, so versions are drawn in the order in which
/// writes take effect.
///
/// An answered write survives a crash of the server: `synchronous_commit` is `on` for the store's
/// connections, and `fsync` must not be off. It survives a failover where the standby that takes
/// over is one that `synchronous_standby_names` makes each commit wait for; PostgreSQL then also
/// shows nobody what that standby does not hold yet. Standbys themselves are never asked.
///
/// The store makes its schema, or brings an older one up to date, when it connects. Behind
/// PgBouncer it needs session pooling. Clones share the connections.
#[derive(Clone)]
pub struct PostgresStore {
    pool: Pool,
    statements: Statements,
}

impl PostgresStore {
    /// Connect to `url`: `postgres://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE[?OPTIONS]`.
    ///
    /// | option | |
    /// | --- | --- |
    /// | `schema=NAME` | where the table lies, `idempotency_ledger` unless set; made where missing |
    /// | `connections=N` | most connections at once, 1 to 1 000, 8 unless set |
    /// | `synchronous_commit=on` or `remote_apply` | `on` unless set |
    /// | `sslmode=disable`, `prefer` or `require` | `prefer` unless set: TLS where the server has it |
    /// | `tls_ca=PATH` | trust the certificates of this PEM file, and not the system's |
    /// | `application_name=TEXT` | `idempotency-ledger` unless set |
    ///
    /// Where there is TLS, the server's certificate and name are checked.
    ///
    /// # Errors
    ///
    /// [`OpenError::InvalidUrl`] for a URL or an option that is none of these, and
    /// [`OpenError::Store`] for a server that cannot be reached, denies access or is a standby,
    /// and for a schema that a newer version of this crate made. None of them tells the password.
    pub async fn connect(url: &str) -> Result<Self, OpenError> {
        open::connect(url).await
    }

    /// Carry out one statement within [`CALL_TIMEOUT`].
    async fn query(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, StoreError> {
        let answered = timeout(CALL_TIMEOUT, self.query_often(sql, parameters)).await;
        let late = || StoreError::Other(format!("PostgreSQL: no answer within {CALL_TIMEOUT:?}"));
        answered.unwrap_or_else(|_| Err(late()))
    }

    /// The same, again where the server takes it back.
    async fn query_often(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            match self.query_once(sql, parameters).await? {
                Err(error) if is_serialization_failure(&error) => sleep(pause).await,
                answered => return answered.map_err(failed),
            }
            pause *= 2;
        }
        self.query_once(sql, parameters).await?.map_err(failed)
    }

    async fn query_once(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Result<Vec<Row>, tokio_postgres::Error>, StoreError> {
        let connection = self.pool.get().await.map_err(no_connection)?;
        let lent = Lent(Some(connection));
        let answered = lent.query(sql, parameters).await;
        lent.give_back();
        Ok(answered)
    }

    /// The answer of a statement that answers one row.
    async fn query_row(&self, sql: &str, parameters: Parameters<'_>) -> Result<Row, StoreError> {
        let row = self.query(sql, parameters).await?.pop();
        row.ok_or_else(|| StoreError::Other("PostgreSQL: a statement answered no row".to_owned()))
    }
}

/// A connection in use. It goes back into the pool only once its answer is there: one whose call
/// was given up may hang, and would hold up the next.
struct Lent(Option<Object>);

impl Lent {
    async fn query(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        let Some(connection) = &self.0 else { return Ok(Vec::new()) };
        let statement = connection.prepare_cached(sql).await?;
        connection.query(&statement, parameters).await
    }

    fn give_back(mut self) {
        self.0 = None;
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            drop(Object::take(connection));
        }
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PostgresStore").field("pool", &self.pool.status()).finish()
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let key = check_key(key)?.as_bytes();
        let Some(row) = self.query(&self.statements.get, &[&key]).await?.pop() else {
            return Ok(None);
        };
        let version: i64 = column(&row, 0)?;
        let value: Option<Vec<u8>> = column(&row, 1)?;
        let count: Option<i64> = column(&row, 2)?;
        let value = match (value, count) {
            (Some(value), _) => value,
            (None, count) => count.unwrap_or_default().to_le_bytes().to_vec(),
        };
        Ok(Some(Versioned { value, version: Version(version.cast_unsigned()) }))
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        let key = check_key(key)?.as_bytes();
        let row = self.query_row(&self.statements.set, &[&key, &value]).await?;
        if column(&row, 0)? { Ok(()) } else { Err(wrong_kind("counter")) }
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let key = check_key(key)?.as_bytes();
        self.query(&self.statements.delete, &[&key]).await.map(drop)
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        let key = check_key(key)?.as_bytes();
        let row = self.query(&self.statements.increment, &[&key, &delta]).await?.pop();
        row.map_or_else(|| Err(wrong_kind("value")), |row| column(&row, 0))
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        let key = check_key(key)?.as_bytes();
        let row = match expected {
            None => self.query_row(&self.statements.create, &[&key, &value]).await?,
            Some(Version(expected)) => {
                let expected = expected.cast_signed();
                self.query_row(&self.statements.replace, &[&key, &value, &expected]).await?
            }
        };
        match (column(&row, 0)?, column(&row, 1)?) {
            (true, _) => Ok(Swap::Swapped),
            (false, false) => Ok(Swap::Conflict),
            (false, true) => Err(wrong_kind("counter")),
        }
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        // The empty cursor stands before all keys, as no key is empty.
        let cursor = cursor.unwrap_or_default();
        let rows = self.query(&self.statements.list, &[&cursor.as_bytes(), &LIMIT]).await?;
        let mut keys = Vec::with_capacity(rows.len());
        for row in &rows {
            let key = String::from_utf8(column(row, 0)?);
            let foreign = |_| StoreError::Other("PostgreSQL: a key is not UTF-8".to_owned());
            keys.push(key.map_err(foreign)?);
        }
        let more = keys.len() > PAGE_KEYS;
        keys.truncate(PAGE_KEYS);
        let cursor = if more { keys.last().cloned() } else { None };
        Ok(Page { keys, cursor })
    }
}

fn column<'a, T: tokio_postgres::types::FromSql<'a>>(
    row: &'a Row,
    number: usize,
) -> Result<T, StoreError> {
    row.try_get(number).map_err(failed)
}
