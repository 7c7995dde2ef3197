//! Stores by URL: what is refused, and that no message tells a secret.

use idempotency_ledger_host::store::{OpenError, open_url};

async fn refusal(url: &str) -> String {
    match open_url(url).await {
        Err(OpenError::InvalidUrl(why)) => why,
        Err(error) => panic!("{url}: {error}"),
        Ok(_) => panic!("{url} was opened"),
    }
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    for (url, why) in [
        ("redis:x", "expected one of"),
        ("http://host", "expected one of"),
        ("redis://host/?prefix=a{b", "no braces"),
        ("redis://host/?fsync=never", "`fsync` is one of: always"),
        ("redis://host/?replicas=x", "`replicas` is a number from 0 to 100"),
        ("redis://host/?replica=1", "there is no option `replica`"),
        ("redis://host/x", "database number"),
        ("nats://host/a.b", "a bucket's name"),
        ("nats://host/a?replicas=6", "from 1 to 5"),
        ("nats://host/a?credentials=/nowhere", "No such file"),
        ("postgres://host/db?schema=a-b", "`schema` has"),
        ("postgres://host/db?schema=1a", "`schema` has"),
        ("postgres://host/db?connections=0", "from 1 to 1000"),
        ("postgres://host/db?synchronous_commit=off", "one of: on, remote_apply"),
        ("postgres://host/db?sslmode=verify-full", "one of: disable, prefer, require"),
        ("postgres://host/db?tls_ca=/nowhere", "tls_ca: /nowhere"),
    ] {
        let said = refusal(url).await;
        assert!(said.contains(why), "{url}: {said}");
    }
}

#[tokio::test]
async fn no_message_tells_a_secret() {
    for url in [
        "redis://user:secret@127.0.0.1:1/",
        "redis://:secret@127.0.0.1:1/?prefix=secret",
        "rediss://user:secret@127.0.0.1:1/x",
        "redis://user:secret@127.0.0.1:1/?secret=secret",
        "nats://user:secret@127.0.0.1:1/b",
        "nats://secret@127.0.0.1:1/b.c",
        "postgres://user:secret@127.0.0.1:1/db",
        "postgres://user:secret@127.0.0.1:1/db?password=secret",
        "postgres://user:secret@127.0.0.1:x/db",
        "mysql://user:secret@host",
        "user:secret@host",
    ] {
        let Err(error) = open_url(url).await else { panic!("{url} was opened") };
        let said = format!("{error} {error:?}");
        // The names of options are shown, and one of them is called that.
        let said = said.replace("option `secret`", "").replace("secret=***", "");
        assert!(!said.contains("secret"), "{url}: {said}");
    }
}
