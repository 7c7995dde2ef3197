//! The schema: made when the store first connects, brought up to date later.

use deadpool_postgres::Object;

use super::StoreError;
use super::failure::failed;

/// How each version is made from the one before; the first one from nothing. `@` is the schema.
const STEPS: &[&str] = &["
    DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '@') THEN
            CREATE SCHEMA @;
        END IF;
    END $$;
    CREATE TABLE @.format (version integer NOT NULL);
    INSERT INTO @.format (version) VALUES (0);
    CREATE SEQUENCE @.version AS bigint;
    CREATE TABLE @.entry (
        key bytea PRIMARY KEY,
        version bigint NOT NULL,
        value bytea,
        counter bigint,
        CHECK (num_nonnulls(value, counter) = 1)
    );
"];

/// Make what is missing. A schema that is up to date needs no right to make anything.
pub(super) async fn ensure(connection: &mut Object, schema: &str) -> Result<(), StoreError> {
    let newest = STEPS.len();
    if version(connection, schema).await? == newest {
        return Ok(());
    }
    let transaction = connection.transaction().await.map_err(failed)?;
    // One at a time; who waited finds the work done.
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 1))";
    transaction.query(lock, &[&schema]).await.map_err(failed)?;
    let found = version(&transaction, schema).await?;
    if found > newest {
        let what = format!(
            "PostgreSQL: the schema {schema} was made by a newer version \
             (format {found}, this one knows {newest})"
        );
        return Err(StoreError::Other(what));
    }
    for (number, step) in STEPS.iter().enumerate().skip(found) {
        let update = format!("UPDATE @.format SET version = {};", number + 1);
        let step = [*step, update.as_str()].concat().replace('@', schema);
        transaction.batch_execute(&step).await.map_err(failed)?;
    }
    transaction.commit().await.map_err(failed)
}

/// 0 where there is no schema of a ledger.
async fn version(
    connection: &impl deadpool_postgres::GenericClient,
    schema: &str,
) -> Result<usize, StoreError> {
    // Not `to_regclass`, which may go by a cache from before the schema was made.
    let exists = "SELECT EXISTS (SELECT FROM pg_class JOIN pg_namespace AS space \
        ON space.oid = relnamespace WHERE nspname = $1 AND relname = 'format')";
    let row = connection.query_one(exists, &[&schema]).await.map_err(failed)?;
    if !row.try_get::<_, bool>(0).map_err(failed)? {
        return Ok(0);
    }
    let found = format!("SELECT version FROM {schema}.format");
    let row = connection.query_one(&found, &[]).await.map_err(failed)?;
    let version: i32 = row.try_get(0).map_err(failed)?;
    usize::try_from(version).map_err(|_| {
        StoreError::Other(format!("PostgreSQL: the schema {schema} is not a ledger's"))
    })
}
