//! One JSON object on one line: numbers and strings, written in one order and read back in the
//! same. Pure.
//!
//! A line is written and read with every call, and only what is written here is read, byte for
//! byte: it needs no library for any JSON, which took a third of a call's time and, with the
//! formatter that it brings, a sixth of the component. The tests and the fuzzer compare with
//! serde_json.

use alloc::string::String;
use alloc::vec::Vec;
use core::slice;

use crate::key::{from_hex, to_hex};

/// Room for a line's names and numbers.
const ROOM_BYTES: usize = 384;

/// Room that a string gets when it is read.
const TEXT_BYTES: usize = 64;

/// Characters with an escape of two characters, and its second one.
const SHORT_ESCAPES: [(u8, u8); 7] = [
    (b'"', b'"'),
    (b'\\', b'\\'),
    (b'\x08', b'b'),
    (b'\t', b't'),
    (b'\n', b'n'),
    (b'\x0c', b'f'),
    (b'\r', b'r'),
];

/// A line in the making.
pub(crate) struct Writer {
    bytes: Vec<u8>,
    separator: u8,
}

impl Writer {
    /// A line that needs so many bytes besides its names and numbers.
    pub(crate) fn new(further_bytes: usize) -> Writer {
        let bytes = Vec::with_capacity(further_bytes.saturating_add(ROOM_BYTES));
        Writer { bytes, separator: b'{' }
    }

    pub(crate) fn number(&mut self, name: &str, number: u64) {
        self.name(name);
        self.bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }

    /// A string in which nothing needs an escape.
    pub(crate) fn word(&mut self, name: &str, word: &str) {
        self.name(name);
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(word.as_bytes());
        self.bytes.push(b'"');
    }

    /// Any string.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        self.bytes.push(b'"');
        for byte in text.bytes() {
            match SHORT_ESCAPES.iter().find(|(escaped, _)| *escaped == byte) {
                Some((_, letter)) => self.bytes.extend_from_slice(&[b'\\', *letter]),
                None if byte < b' ' => {
                    self.bytes.extend_from_slice(b"\\u00");
                    self.bytes.extend_from_slice(to_hex(&[byte]).as_bytes());
                }
                None => self.bytes.push(byte),
            }
        }
        self.bytes.push(b'"');
    }

    /// The line, its newline, and what follows.
    pub(crate) fn end(mut self, rest: &[u8]) -> Vec<u8> {
        self.bytes.extend_from_slice(b"}\n");
        self.bytes.extend_from_slice(rest);
        self.bytes
    }

    fn name(&mut self, name: &str) {
        self.bytes.extend_from_slice(&[self.separator, b'"']);
        self.separator = b',';
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(b"\":");
    }
}

/// What is left of a line. Its errors name the field that is missing at its place, or of another
/// kind.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    separator: u8,
}

impl<'a> Reader<'a> {
    /// A line without its newline.
    pub(crate) fn new(line: &'a [u8]) -> Reader<'a> {
        Reader { rest: line, separator: b'{' }
    }

    pub(crate) fn number(&mut self, name: &'static str) -> Result<u64, &'static str> {
        self.number_if_any(name)?.ok_or(name)
    }

    pub(crate) fn number_if_any(
        &mut self,
        name: &'static str,
    ) -> Result<Option<u64>, &'static str> {
        self.take_if_any(name, Self::take_number)
    }

    /// A string as [`Writer::word`] writes it.
    pub(crate) fn word(&mut self, name: &'static str) -> Result<&'a str, &'static str> {
        self.word_if_any(name)?.ok_or(name)
    }

    pub(crate) fn word_if_any(
        &mut self,
        name: &'static str,
    ) -> Result<Option<&'a str>, &'static str> {
        self.take_if_any(name, Self::take_word)
    }

    /// A string as [`Writer::text`] writes it.
    pub(crate) fn text(&mut self, name: &'static str) -> Result<String, &'static str> {
        self.take_if_any(name, Self::take_text)?.ok_or(name)
    }

    /// # Errors
    /// Where anything but the end follows.
    pub(crate) fn end(self) -> Result<(), &'static str> {
        if self.rest == b"}" { Ok(()) } else { Err("further field") }
    }

    /// The value of the next field, where it has that name.
    fn take_if_any<T>(
        &mut self,
        name: &'static str,
        take: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Result<Option<T>, &'static str> {
        if self.skip_name(name) { take(self).ok_or(name).map(Some) } else { Ok(None) }
    }

    /// Whether the next field has that name. If so, its value comes next.
    fn skip_name(&mut self, name: &str) -> bool {
        let value = self
            .rest
            .strip_prefix(&[self.separator, b'"'])
            .and_then(|rest| rest.strip_prefix(name.as_bytes()))
            .and_then(|rest| rest.strip_prefix(b"\":"));
        let Some(value) = value else { return false };
        (self.rest, self.separator) = (value, b',');
        true
    }

    fn take_number(&mut self) -> Option<u64> {
        let size = self.rest.iter().position(|byte| !byte.is_ascii_digit())?;
        let (digits, rest) = self.rest.split_at_checked(size)?;
        let is_whole = matches!(rest, [b',' | b'}', ..]);
        if !is_whole || matches!(digits, [b'0', _, ..]) {
            return None;
        }
        self.rest = rest;
        core::str::from_utf8(digits).ok()?.parse().ok()
    }

    fn take_word(&mut self) -> Option<&'a str> {
        let rest = self.rest.strip_prefix(b"\"")?;
        let size = rest.iter().position(|byte| *byte == b'"')?;
        let (word, rest) = rest.split_at_checked(size)?;
        self.rest = rest.strip_prefix(b"\"")?;
        core::str::from_utf8(word).ok()
    }

    fn take_text(&mut self) -> Option<String> {
        let mut bytes = self.rest.strip_prefix(b"\"")?.iter();
        let mut text = Vec::with_capacity(TEXT_BYTES);
        while let Some(byte) = bytes.next() {
            match *byte {
                b'"' => {
                    self.rest = bytes.as_slice();
                    return String::from_utf8(text).ok();
                }
                b'\\' => text.push(take_escaped(&mut bytes)?),
                byte if byte < b' ' => return None,
                byte => text.push(byte),
            }
        }
        None
    }
}

/// The character of an escape whose backslash was taken.
fn take_escaped(bytes: &mut slice::Iter<u8>) -> Option<u8> {
    let letter = *bytes.next()?;
    if letter == b'u' {
        let (digits, rest) = bytes.as_slice().strip_prefix(b"00")?.split_at_checked(2)?;
        *bytes = rest.iter();
        let byte = *from_hex(core::str::from_utf8(digits).ok()?)?.first()?;
        let has_short = SHORT_ESCAPES.iter().any(|(escaped, _)| *escaped == byte);
        return (byte < b' ' && !has_short).then_some(byte);
    }
    SHORT_ESCAPES.iter().find(|(_, short)| *short == letter).map(|(byte, _)| *byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(text: &str) -> Vec<u8> {
        let mut line = Writer::new(0);
        line.text("t", text);
        line.end(b"rest")
    }

    fn read(line: &[u8]) -> Option<String> {
        let mut reader = Reader::new(line);
        let text = reader.text("t").ok()?;
        reader.end().ok().map(|()| text)
    }

    #[test]
    fn a_text_is_written_as_serde_json_does_and_read_back() {
        let all: String = (0..0x300).chain([0x1f600]).filter_map(char::from_u32).collect();
        for text in ["", "plain", "\"", "\\", "a\"\\\u{0}\u{1f}\u{7f}\n", all.as_str()] {
            let line = line_of(text);
            let line = line.strip_suffix(b"\nrest").unwrap();
            assert_eq!(line, serde_json::to_vec(&serde_json::json!({ "t": text })).unwrap());
            assert_eq!(read(line).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_is_no_text_of_ours_is_refused() {
        for value in [
            r#"""#,
            r#""\"#,
            r#""\""#,
            r#""\x""#,
            r#""\u""#,
            r#""\u001""#,
            r#""\u0020""#,
            r#""\u001F""#,
            r#""\u+0f1""#,
            r#""\u000a""#,
            r#""\/""#,
            r#""\ud83d\ude00""#,
            "\"\n\"",
            "7",
            "null",
        ] {
            assert_eq!(read(format!(r#"{{"t":{value}}}"#).as_bytes()), None, "{value}");
        }
        assert_eq!(read(b"{\"t\":\"\xff\"}"), None);
    }

    #[test]
    fn fields_stand_in_one_order() {
        let mut line = Writer::new(0);
        line.number("n", u64::MAX);
        line.word("w", "word");
        line.number("m", 0);
        let line = line.end(b"");
        assert_eq!(line, b"{\"n\":18446744073709551615,\"w\":\"word\",\"m\":0}\n");
        let mut reader = Reader::new(line.strip_suffix(b"\n").unwrap());
        assert_eq!(reader.number("n"), Ok(u64::MAX));
        assert_eq!(reader.number("m"), Err("m"));
        assert_eq!(reader.word("w"), Ok("word"));
        assert_eq!(reader.word_if_any("x"), Ok(None));
        assert_eq!(reader.number_if_any("m"), Ok(Some(0)));
        assert_eq!(reader.end(), Ok(()));
    }
}
