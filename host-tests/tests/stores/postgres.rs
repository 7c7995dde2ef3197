//! What only the PostgreSQL store says of itself.

use idempotency_ledger_host::store::{Store, StoreError, conformance, open_url};

use crate::shared::{new_name, postgres, postgres_url};

/// Has a statement carried out in the database of the stores.
async fn execute(statement: &str) {
    let url = format!("postgres://ledger@127.0.0.1:{}/ledger", postgres().await.port());
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(statement).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}

/// The first three statements on the table are taken back as serialisation failures.
#[tokio::test]
async fn what_the_server_takes_back_is_tried_again() {
    let schema = new_name();
    let store = open_url(&postgres().await.url(&schema)).await.unwrap();
    execute(&format!(
        "CREATE SEQUENCE {schema}.tries;
         CREATE FUNCTION {schema}.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF nextval('{schema}.tries') <= 3 THEN
                 RAISE EXCEPTION 'try again' USING ERRCODE = 'serialization_failure';
             END IF;
             RETURN NEW;
         END $$;
         CREATE TRIGGER fail BEFORE INSERT ON {schema}.entry
             FOR EACH ROW EXECUTE FUNCTION {schema}.fail();"
    ))
    .await;
    assert_eq!(store.increment("c", 1).await, Ok(1));
    execute(&format!("ALTER SEQUENCE {schema}.tries MINVALUE -1000 RESTART WITH -1000")).await;
    let said = store.set("k", Vec::new()).await.unwrap_err().to_string();
    assert!(said.contains("40001"), "{said}");
}

/// A database whose default is the strictest isolation, and read-only at that.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_defaults_of_the_database_do_not_matter() {
    let server = postgres().await;
    let name = new_name();
    execute(&format!("CREATE DATABASE {name}")).await;
    execute(&format!(
        "ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'; \
         ALTER DATABASE {name} SET default_transaction_read_only = on; \
         ALTER DATABASE {name} SET synchronous_commit = off"
    ))
    .await;
    let url = format!("postgres://ledger@127.0.0.1:{}/{name}", server.port());
    conformance::check(open_url(&url).await.unwrap()).await.unwrap();
}

#[tokio::test]
async fn many_stores_make_the_schema_once() {
    let url = postgres_url().await;
    let opened = (0..8).map(|_| {
        let url = url.clone();
        tokio::spawn(async move { open_url(&url).await.unwrap().increment("c", 1).await.unwrap() })
    });
    let mut sums = Vec::new();
    for store in opened.collect::<Vec<_>>() {
        sums.push(store.await.unwrap());
    }
    sums.sort_unstable();
    assert!(sums.into_iter().eq(1..=8));
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let schema = new_name();
    let url = postgres().await.url(&schema);
    open_url(&url).await.unwrap();
    execute(&format!("UPDATE {schema}.format SET version = 2")).await;
    let said = open_url(&url).await.err().unwrap().to_string();
    assert!(said.contains("newer version (format 2, this one knows 1)"), "{said}");
}

#[tokio::test]
async fn a_missing_database_and_a_missing_right_have_their_errors() {
    let port = postgres().await.port();
    let said = open_url(&format!("postgres://ledger@127.0.0.1:{port}/none")).await.err().unwrap();
    assert_eq!(said.to_string(), StoreError::NoSuchStore.to_string());
    let schema = new_name();
    execute(&format!(
        "CREATE ROLE {schema}_guest LOGIN; REVOKE CREATE ON DATABASE ledger FROM PUBLIC"
    ))
    .await;
    let guest = format!("postgres://{schema}_guest@127.0.0.1:{port}/ledger?schema={schema}");
    let said = open_url(&guest).await.err().unwrap().to_string();
    assert_eq!(said, StoreError::AccessDenied.to_string());
}

/// A schema that an administrator has made is used by a guest who may not make one.
#[tokio::test]
async fn a_schema_that_is_there_needs_no_right_to_make_one() {
    let schema = new_name();
    let server = postgres().await;
    open_url(&server.url(&schema)).await.unwrap();
    execute(&format!(
        "CREATE ROLE {schema}_user LOGIN; GRANT USAGE ON SCHEMA {schema} TO {schema}_user; \
         GRANT SELECT ON {schema}.format TO {schema}_user; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.entry TO {schema}_user; \
         GRANT USAGE ON SEQUENCE {schema}.version TO {schema}_user"
    ))
    .await;
    let url = server.url(&schema).replace("ledger@", &format!("{schema}_user@"));
    assert_eq!(open_url(&url).await.unwrap().increment("c", 1).await, Ok(1));
}
