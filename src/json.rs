//! One JSON object of numbers and strings, read with serde_json and without its machinery
//! for typed errors, which would be a quarter of the component. Pure.

use alloc::string::String;
use alloc::vec::Vec;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// What a header may hold; anything else is told apart by nobody.
#[derive(Debug, PartialEq, Eq)]
enum Value {
    Number(u64),
    Text(String),
    Object(Vec<(Value, Value)>),
    Other,
}

/// The fields of an object, to be taken out by name. What is wrong with one is noted, and
/// told at the end by [`Object::finish`].
pub(crate) struct Object {
    fields: Vec<(Value, Value)>,
    wrong: Option<&'static str>,
}

impl Object {
    /// None where the bytes are not one JSON object.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Object> {
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(fields)) => Some(Object { fields, wrong: None }),
            _ => None,
        }
    }

    /// The number of that name.
    pub(crate) fn number(&mut self, name: &'static str) -> u64 {
        let number = self.number_if_any(name);
        self.need(name, number)
    }

    /// The string of that name.
    pub(crate) fn text(&mut self, name: &'static str) -> String {
        let text = self.text_if_any(name);
        self.need(name, text)
    }

    pub(crate) fn number_if_any(&mut self, name: &'static str) -> Option<u64> {
        match self.take(name)? {
            Value::Number(number) => Some(number),
            _ => self.note(name),
        }
    }

    pub(crate) fn text_if_any(&mut self, name: &'static str) -> Option<String> {
        match self.take(name)? {
            Value::Text(text) => Some(text),
            _ => self.note(name),
        }
    }

    /// The value, or one that does not matter, since its absence is noted.
    pub(crate) fn need<T: Default>(&mut self, name: &'static str, value: Option<T>) -> T {
        value.unwrap_or_else(|| {
            self.wrong = Some(name);
            T::default()
        })
    }

    /// # Errors
    /// Names a field that was missing, of another kind, twice there, or unknown.
    pub(crate) fn finish(self) -> Result<(), &'static str> {
        match self.wrong {
            None if self.fields.is_empty() => Ok(()),
            None => Err("further field"),
            Some(name) => Err(name),
        }
    }

    fn note<T>(&mut self, name: &'static str) -> Option<T> {
        self.wrong = Some(name);
        None
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        let at = self
            .fields
            .iter()
            .position(|(key, _)| matches!(key, Value::Text(key) if key == name))?;
        Some(self.fields.swap_remove(at).1)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, _: &mut core::fmt::Formatter) -> core::fmt::Result {
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Value::Object(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        while seq.next_element::<Value>()?.is_some() {}
        Ok(Value::Other)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Other)
    }
}
