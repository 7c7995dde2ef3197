//! Whether an answer is the expected one; tokens get their values on the way.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::spec::{Bytes, TokenSpec};

/// What the names of tokens stand for: each gets its value where it is first met.
#[derive(Clone, Debug, Default)]
pub(super) struct Tokens(BTreeMap<String, u64>);

/// `{"from": .., "to": ..}`: a number in this range, the ends included.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    from: u64,
    to: u64,
}

impl Tokens {
    /// The value of a token that was met before.
    pub(super) fn value(&self, token: &TokenSpec) -> Result<u64, String> {
        let named = |name: &str| {
            let value = self.0.get(name).copied();
            value.ok_or_else(|| format!("the token {name:?} was never answered"))
        };
        match token {
            TokenSpec::Number(number) => Ok(*number),
            TokenSpec::Name(name) => named(name),
            TokenSpec::Relative { of, plus } => named(of)?
                .checked_add_signed(*plus)
                .ok_or_else(|| format!("no token is {of:?} plus {plus}")),
        }
    }

    /// Whether the answer is the expected one. Tokens keep what they got where it is not, so
    /// try on a clone.
    pub(super) fn fit(&mut self, expected: &Value, got: &Value) -> bool {
        match (expected, got) {
            (Value::Object(expected), Value::Object(got)) => self.fit_object(expected, got),
            (Value::Object(range), Value::Number(number)) => {
                let range = Range::deserialize(range).ok();
                range
                    .zip(number.as_u64())
                    .is_some_and(|(range, number)| (range.from..=range.to).contains(&number))
            }
            _ => expected == got,
        }
    }

    fn fit_object(&mut self, expected: &Map<String, Value>, got: &Map<String, Value>) -> bool {
        if let (Ok(bytes), Some(Value::String(hex))) =
            (Bytes::deserialize(expected), got.get("hex"))
        {
            return bytes.hex() == *hex;
        }
        expected.len() == got.len()
            && expected.iter().all(|(name, expected)| match (name.as_str(), got.get(name)) {
                ("token", Some(got)) => self.fit_token(expected, got),
                (_, Some(got)) => self.fit(expected, got),
                (_, None) => false,
            })
    }

    fn fit_token(&mut self, expected: &Value, got: &Value) -> bool {
        let Some(got) = got.as_u64() else { return false };
        match TokenSpec::deserialize(expected) {
            Ok(TokenSpec::Name(name)) => *self.0.entry(name).or_insert(got) == got,
            Ok(token) => self.value(&token) == Ok(got),
            Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_fits_or_not() {
        let claim = |token: Value, attempt: Value| json!({ "fresh": { "token": token, "attempt": attempt } });
        let got = claim(json!(7), json!(1));
        let rows = [
            (claim(json!("a"), json!(1)), true),
            (claim(json!(7), json!({ "from": 1, "to": 2 })), true),
            (claim(json!(8), json!(1)), false),
            (claim(json!("a"), json!({ "from": 2, "to": 3 })), false),
            (json!({ "fresh": { "token": "a" } }), false),
            (json!("fresh"), false),
            (json!(null), false),
        ];
        for (expected, fits) in rows {
            assert_eq!(Tokens::default().fit(&expected, &got), fits, "{expected}");
        }
    }

    #[test]
    fn a_name_keeps_its_value() {
        let mut tokens = Tokens::default();
        assert!(tokens.fit(&json!({ "token": "a" }), &json!({ "token": 7 })));
        assert!(!tokens.fit(&json!({ "token": "a" }), &json!({ "token": 8 })));
        assert!(tokens.fit(&json!({ "token": { "of": "a", "plus": 1 } }), &json!({ "token": 8 })));
    }

    #[test]
    fn payloads_are_compared_as_bytes() {
        let got = json!({ "payload": { "hex": "7878" } });
        for payload in
            [json!({ "text": "xx" }), json!({ "hex": "7878" }), json!({ "repeat": ["x", 2] })]
        {
            assert!(Tokens::default().fit(&json!({ "payload": payload }), &got), "{payload}");
        }
        for payload in [json!(null), json!({ "text": "" }), json!({ "text": "x" })] {
            assert!(!Tokens::default().fit(&json!({ "payload": payload }), &got), "{payload}");
        }
    }
}
