//! Between values and the bytes that are recorded: JSON, and the validator at both edges.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::BoxError;

/// Refuses values, with the reason.
pub(crate) type Validator<T> = Arc<dyn Fn(&T) -> Result<(), BoxError> + Send + Sync>;

/// The value's JSON. It is read back, so that nothing is recorded that no one could read: a
/// NaN, which JSON has as `null`, or nesting that is too deep.
pub(crate) fn encode<T: Serialize + DeserializeOwned>(
    value: &T,
    validator: Option<&Validator<T>>,
) -> Result<Vec<u8>, BoxError> {
    if let Some(validator) = validator {
        validator(value)?;
    }
    let json = serde_json::to_vec(value)?;
    decode(Some(&json), validator).map_err(|why| format!("it could not be read again: {why}"))?;
    Ok(json)
}

/// The value that was recorded.
pub(crate) fn decode<T: DeserializeOwned>(
    payload: Option<&[u8]>,
    validator: Option<&Validator<T>>,
) -> Result<T, BoxError> {
    let Some(json) = payload else {
        return Err("it was recorded without a payload, which is not the JSON `null`".into());
    };
    let value = serde_json::from_slice(json)?;
    if let Some(validator) = validator {
        validator(&value)?;
    }
    Ok(value)
}
