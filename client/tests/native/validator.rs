//! The validator, at both edges, and what no longer fits.

use std::error::Error as _;

use idempotency_ledger_client::{Begin, Complete, Error, Idempotency, Run, State};
use serde::{Deserialize, Serialize};

use crate::scene::Scene;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Receipt {
    cents: i64,
}

fn positive(scene: &Scene) -> Idempotency<Receipt> {
    scene.client().validate(|receipt: &Receipt| match receipt.cents {
        1.. => Ok(()),
        cents => Err(format!("{cents} cents")),
    })
}

#[test]
fn a_refused_value_never_reaches_the_store() {
    let scene = Scene::new();
    let client = positive(&scene);
    // Not even as an upsert on a key that nobody has touched.
    let upsert = client.clone().upsert_on_missing(true);
    let refused = upsert.complete("untouched", None, &Receipt { cents: 0 });
    let Err(error) = refused else { panic!("{refused:?}") };
    assert!(matches!(error, Error::Refused(_)));
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("0 cents"));
    assert!(client.get("untouched").expect("a look").is_none());
    // The claim stays with its holder, who may record another value.
    let Ok(Begin::Fresh(claim)) = client.begin("claimed") else { panic!("not fresh") };
    let before = client.get("claimed").expect("a look");
    let refused = client.complete("claimed", claim.token, &Receipt { cents: -1 });
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    assert_eq!(client.get("claimed").expect("a look"), before);
    let recorded = client.complete("claimed", claim.token, &Receipt { cents: 1 });
    assert!(matches!(recorded, Ok(Complete::Recorded(_))), "{recorded:?}");
}

#[test]
fn a_run_whose_value_is_refused_has_it_in_hand_and_keeps_its_claim() {
    let scene = Scene::new();
    let client = positive(&scene);
    let run = client.run("key", |_| Ok::<_, std::fmt::Error>(Receipt { cents: 0 }));
    let Ok(Run::NotRecorded { value, claim, error }) = run else { panic!("{run:?}") };
    assert_eq!(value, Receipt { cents: 0 });
    assert!(matches!(error, Error::Refused(_)));
    // The work was done: nobody else may begin it.
    assert!(matches!(client.begin("key"), Ok(Begin::Inflight(_))));
    let recorded = client.complete("key", claim.token, &Receipt { cents: 2 });
    assert!(matches!(recorded, Ok(Complete::Recorded(_))), "{recorded:?}");
}

#[test]
fn what_no_longer_fits_is_a_typed_error() {
    let scene = Scene::new();
    let payloads: [&[u8]; 6] =
        [b"{\"cents\":0}", b"{\"euros\":1}", b"\"text\"", b"{\"cents\":1", b"\xff\xfe", b"\0"];
    for (number, payload) in payloads.into_iter().enumerate() {
        let key = format!("key-{number}");
        scene.record(&key, Some(payload));
        let client = positive(&scene);
        let ran = std::cell::Cell::new(false);
        let run = client.run(&key, |_| {
            ran.set(true);
            Ok::<_, std::fmt::Error>(Receipt { cents: 1 })
        });
        assert!(matches!(run, Err(Error::Unfit { .. })), "{run:?}");
        assert!(!ran.get(), "the work of {key} ran");
        let Err(Error::Unfit { outcome, source }) = client.begin(&key) else { panic!("{key}") };
        assert_eq!(outcome.value.as_deref(), Some(payload), "what is recorded is in hand");
        assert!(!source.to_string().is_empty());
        assert!(matches!(client.get(&key), Err(Error::Unfit { .. })));
        assert_eq!(scene.recorded(&key).as_deref(), Some(payload), "and stays");
    }
}

/// A client without a validator reads what another refuses.
#[test]
fn the_validator_is_its_clients_own() {
    let scene = Scene::new();
    scene.record("key", Some(b"{\"cents\":0}"));
    let entry = scene.client::<Receipt>().get("key").expect("a look").expect("a record");
    assert_eq!(entry.state, State::Done(Receipt { cents: 0 }));
}
