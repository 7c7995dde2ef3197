//! Counters and histograms.

use std::collections::{BTreeMap, BTreeSet};

use metrics_util::MetricKind;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};

use crate::document::{answers, table, words};
use crate::scene::Scene;

/// One series.
struct Series {
    kind: &'static str,
    name: String,
    labels: BTreeMap<String, String>,
    value: DebugValue,
    described: bool,
}

/// What the scene leaves in a recorder.
async fn series() -> Vec<Series> {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    // For this thread, on which everything runs.
    let _installed = metrics::set_default_local_recorder(&recorder);
    Scene::new().await.play().await;
    let found = snapshotter.snapshot().into_vec().into_iter();
    let series = found.map(|(key, _unit, description, value)| {
        let kind = match key.kind() {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        let (name, labels) = key.key().clone().into_parts();
        let labels = labels.iter().map(|label| (label.key().into(), label.value().into()));
        Series {
            kind,
            name: name.as_str().to_owned(),
            labels: labels.collect(),
            value,
            described: description.is_some(),
        }
    });
    series.collect()
}

/// Pairs of the values of two labels, of the metric with this name.
fn pairs(series: &[Series], name: &str, labels: [&str; 2]) -> BTreeSet<(String, String)> {
    let of_name = series.iter().filter(|series| series.name == name);
    of_name
        .map(|series| {
            let [one, other] = labels.map(|label| series.labels[label].clone());
            (one, other)
        })
        .collect()
}

fn count(series: &[Series], name: &str, labels: &[(&str, &str)]) -> u64 {
    let fits = |series: &&Series| {
        series.name == name
            && labels.iter().all(|(label, value)| series.labels.get(*label).unwrap() == value)
    };
    let values = series.iter().filter(fits).map(|series| match &series.value {
        DebugValue::Counter(count) => *count,
        DebugValue::Histogram(samples) => samples.len() as u64,
        DebugValue::Gauge(_) => 0,
    });
    values.sum()
}

#[tokio::test]
async fn every_metric_is_documented_and_every_documented_one_exists() {
    let series = series().await;
    let found: BTreeSet<_> = series
        .iter()
        .map(|series| {
            let labels: BTreeSet<String> = series.labels.keys().cloned().collect();
            assert!(series.described, "{} is not described", series.name);
            (series.name.clone(), series.kind.to_owned(), labels)
        })
        .collect();
    let documented: BTreeSet<_> = table("metric")
        .iter()
        .map(|row| (words(&row[0]).pop_first().unwrap(), row[1].clone(), words(&row[2])))
        .collect();
    assert_eq!(found, documented);
}

#[tokio::test]
async fn every_answer_is_documented_and_every_documented_one_is_given() {
    let series = series().await;
    let found = pairs(&series, "idempotency_ledger_calls_total", ["call", "answer"]);
    let documented = table("call");
    let any = documented.iter().find(|row| row[0] == "any").expect("a row for any call");
    let any = words(&any[1]);
    let mut errors = BTreeSet::new();
    for (call, answer) in &found {
        let known = answers(&documented, call).contains(answer);
        assert!(known || any.contains(answer), "{call}: {answer} is not documented");
        if !known {
            errors.insert(answer.clone());
        }
    }
    assert_eq!(errors, any, "errors that were given, and those documented");
    for row in documented.iter().filter(|row| row[0] != "any") {
        let call = words(&row[0]).pop_first().unwrap();
        for answer in words(&row[1]) {
            assert!(found.contains(&(call.clone(), answer.clone())), "{call}: never {answer}");
        }
    }
    let found =
        pairs(&series, "idempotency_ledger_store_call_duration_seconds", ["method", "answer"]);
    let documented = table("method of the store");
    let mut given = BTreeSet::new();
    for (method, answer) in found {
        assert!(answers(&documented, &method).contains(&answer), "{method}: {answer}");
        given.insert(answer);
    }
    assert_eq!(given, answers(&documented, "compare_and_swap"));
}

/// One claim and one completion, counted to the last call.
#[tokio::test]
async fn calls_are_counted_once_each() {
    let recorder = DebuggingRecorder::new();
    let _installed = metrics::set_default_local_recorder(&recorder);
    let scene = Scene::new().await;
    scene.begin("k").await;
    scene.begin("k").await;
    let found = recorder.snapshotter().snapshot().into_vec();
    let calls: BTreeMap<String, u64> = found
        .into_iter()
        .filter(|(key, ..)| key.key().name() == "idempotency_ledger_calls_total")
        .map(|(key, _, _, value)| {
            let answer = key.key().labels().find(|label| label.key() == "answer").unwrap();
            let DebugValue::Counter(count) = value else { panic!("{value:?}") };
            (answer.value().to_owned(), count)
        })
        .collect();
    assert_eq!(calls, BTreeMap::from([("fresh".into(), 1), ("inflight".into(), 1)]));
}

#[tokio::test]
async fn what_purges_do_is_counted() {
    let series = series().await;
    let removed = count(&series, "idempotency_ledger_purge_removed_total", &[]);
    let reclaimed = count(&series, "idempotency_ledger_purge_reclaimed_total", &[]);
    assert!(removed >= 2 && reclaimed >= 2, "{removed} removed, {reclaimed} reclaimed");
    let calls = count(&series, "idempotency_ledger_calls_total", &[("call", "purge")]);
    let timed = count(&series, "idempotency_ledger_call_duration_seconds", &[("call", "purge")]);
    assert_eq!((calls, timed), (5, 5));
}
