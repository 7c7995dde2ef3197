//! Texts of parts, put together without the standard library's formatter, which took an eighth of
//! a call's time. Pure.

use alloc::string::String;

/// Room that a text gets at once: store keys and index entries fit.
pub(crate) const ROOM_BYTES: usize = 96;

/// What a text can be made of.
pub(crate) trait Part {
    /// Appends it.
    fn add_to(&self, text: &mut String);
}

impl Part for &str {
    fn add_to(&self, text: &mut String) {
        text.push_str(self);
    }
}

impl Part for &String {
    fn add_to(&self, text: &mut String) {
        text.push_str(self);
    }
}

impl Part for u64 {
    fn add_to(&self, text: &mut String) {
        text.push_str(itoa::Buffer::new().format(*self));
    }
}

/// The parts, one after the other.
macro_rules! text {
    ($($part:expr),+ $(,)?) => {{
        let mut text = ::alloc::string::String::with_capacity($crate::text::ROOM_BYTES);
        $($crate::text::Part::add_to(&$part, &mut text);)+
        text
    }};
}
pub(crate) use text;
