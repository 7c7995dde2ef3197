//! Spans, as a subscriber writes them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Once;

use idempotency_ledger_host::store::Store;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::document::{table, words};
use crate::scene::Scene;

thread_local! {
    /// What happened on this thread, as lines.
    static LINES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Writes down what happens on the thread that it is called on.
struct Lines;

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.with_borrow_mut(|lines| lines.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Write everything down that happens in this process, the end of each span included.
///
/// One subscriber for all tests, there before the first call of any: a place in the code that a
/// thread without subscriber comes by first may stay switched off for all others.
pub(crate) fn subscribe() {
    static SUBSCRIBED: Once = Once::new();
    SUBSCRIBED.call_once(|| {
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing::Level::TRACE)
            .with_span_events(FmtSpan::CLOSE)
            .with_writer(|| Lines)
            .finish();
        tracing::subscriber::set_global_default(subscriber).expect("no other subscriber");
    });
}

/// What happened on this thread since this was asked last.
fn written() -> String {
    String::from_utf8(LINES.take()).unwrap()
}

/// Level, name and fields of the span that a line tells the end of.
fn closed(line: &str) -> Option<(String, String, BTreeMap<String, String>)> {
    let (spans, _) = line.split_once(": idempotency_ledger: close ")?;
    let level = spans.split_whitespace().nth(1)?.to_lowercase();
    let last = spans.rsplit(':').next()?.trim();
    let (name, fields) = last.trim_end_matches('}').split_once('{')?;
    let name = name.rsplit(' ').next()?;
    let fields = fields.split(' ').filter_map(|field| field.split_once('='));
    let fields = fields.map(|(name, value)| (name.into(), value.trim_matches('"').into()));
    Some((level, name.into(), fields.collect()))
}

#[tokio::test]
async fn spans_are_as_documented_and_tell_no_secret() {
    let scene = Scene::new().await;
    written();
    scene.play().await;
    let text = written();
    assert!(!text.contains("secret"), "{text}");

    let mut found: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (level, name, fields) in text.lines().filter_map(closed) {
        assert!(fields["duration_us"].parse::<u64>().is_ok(), "{fields:?}");
        found.entry((name, level)).or_default().extend(fields.into_keys());
    }
    let documented = table("span").into_iter();
    let documented = documented
        .map(|row| ((words(&row[0]).pop_first().unwrap(), row[1].clone()), words(&row[2])));
    assert_eq!(found, documented.collect());
}

/// The slot in the span is the beginning of the record's name in the store.
#[tokio::test]
async fn a_span_leads_to_the_record_in_the_store() {
    let scene = Scene::new().await;
    written();
    scene.begin("secret key").await;
    let text = written();
    let call = text.lines().filter_map(closed).find(|(_, name, _)| name == "ledger_call");
    let (_, _, fields) = call.expect("the span of the call");
    assert_eq!((fields["call"].as_str(), fields["answer"].as_str()), ("begin", "fresh"));
    let keys = scene.store.inner.list(None).await.unwrap().keys;
    let record = keys.iter().find(|key| key.starts_with("il.r.")).expect("the record");
    assert_eq!(fields["slot"].len(), 12);
    assert!(record.starts_with(&format!("il.r.{}", fields["slot"])), "{record}, {fields:?}");
}
