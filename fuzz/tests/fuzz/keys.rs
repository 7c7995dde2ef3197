//! Keys, scopes and fingerprints: within their sizes or a typed error, and no two share a slot.

use bolero::check;
use idempotency_ledger::Error;
use idempotency_ledger::key::{
    Address, DEFAULT_SCOPE, MAX_FINGERPRINT_BYTES, MAX_KEY_BYTES, MAX_SCOPE_BYTES,
    check_fingerprint,
};

use crate::choices::time;

type Pair = (Option<String>, String);

/// The address, after what must hold of it.
fn address((scope, key): &Pair) -> Option<Address> {
    let scope_bytes = scope.as_deref().unwrap_or(DEFAULT_SCOPE).len();
    let fits =
        (1..=MAX_KEY_BYTES).contains(&key.len()) && (1..=MAX_SCOPE_BYTES).contains(&scope_bytes);
    match Address::new(scope.as_deref(), key) {
        Ok(address) => {
            assert!(fits);
            assert_eq!(
                (&address.scope, &address.key),
                (&scope.clone().unwrap_or(DEFAULT_SCOPE.into()), key)
            );
            let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            assert!(address.slot.len() == 40 && address.slot.bytes().all(is_hex));
            Some(address)
        }
        Err(error) => {
            assert!(!fits && matches!(error, Error::InvalidKey(_)), "{error:?}");
            None
        }
    }
}

/// Moving the border between scope and key included: those pairs are made of one text.
#[test]
fn no_two_addresses_share_a_slot() {
    check!().with_test_time(time()).with_type::<(Pair, Pair, u8)>().for_each(|(one, other, at)| {
        let whole = format!("{}{}", one.0.as_deref().unwrap_or_default(), one.1);
        let border = whole.char_indices().map(|(at, _)| at).nth(usize::from(*at)).unwrap_or(0);
        let (scope, key) = whole.split_at(border);
        let moved = (Some(scope.to_owned()), key.to_owned());
        let all: Vec<Address> = [one, other, &moved].into_iter().filter_map(address).collect();
        for (i, a) in all.iter().enumerate() {
            for b in &all[i + 1..] {
                assert_eq!(
                    a.slot == b.slot,
                    (&a.scope, &a.key) == (&b.scope, &b.key),
                    "{a:?} {b:?}"
                );
            }
        }
    });
}

#[test]
fn fingerprints_have_1_to_64_bytes() {
    check!().with_test_time(time()).for_each(|bytes| {
        let fits = (1..=MAX_FINGERPRINT_BYTES).contains(&bytes.len());
        assert_eq!(check_fingerprint(Some(bytes)).is_ok(), fits);
    });
}
