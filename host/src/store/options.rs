//! The query of a store URL: options, each known or refused.

use std::ops::RangeInclusive;
use std::str::FromStr;

use url::Url;

use super::OpenError;
use super::url::redact;

/// A URL whose options are being taken out of it.
pub(super) struct Options {
    /// For messages, without secrets.
    shown: String,
    url: Url,
    options: Vec<(String, String)>,
}

impl Options {
    /// Read the URL, and the options in its query.
    pub(super) fn parse(url: &str) -> Result<Self, OpenError> {
        let shown = redact(url);
        let mut url = match Url::parse(url) {
            Ok(url) => url,
            Err(error) => return Err(OpenError::InvalidUrl(format!("{shown}: {error}"))),
        };
        let options = url.query_pairs().into_owned().collect();
        url.set_query(None);
        url.set_fragment(None);
        Ok(Self { shown, url, options })
    }

    /// The URL is wrong in some way.
    pub(super) fn invalid(&self, why: impl AsRef<str>) -> OpenError {
        OpenError::InvalidUrl(format!("{}: {}", self.shown, why.as_ref()))
    }

    /// The last value of an option.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let mut found = None;
        for (_, value) in self.options.extract_if(.., |(option, _)| option == name) {
            found = Some(value);
        }
        found
    }

    /// An option that is one of a few words.
    #[cfg(any(feature = "postgres", feature = "redis"))]
    pub(super) fn take_one_of(
        &mut self,
        name: &str,
        words: &[&str],
    ) -> Result<Option<String>, OpenError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        if words.contains(&value.as_str()) {
            return Ok(Some(value));
        }
        Err(self.invalid(format!("`{name}` is one of: {}", words.join(", "))))
    }

    /// An option that is a number.
    pub(super) fn take_number<N>(
        &mut self,
        name: &str,
        range: RangeInclusive<N>,
    ) -> Result<Option<N>, OpenError>
    where
        N: FromStr + PartialOrd + std::fmt::Display,
    {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number = value.parse().ok().filter(|number| range.contains(number));
        let (least, most) = (range.start(), range.end());
        let wrong = || self.invalid(format!("`{name}` is a number from {least} to {most}"));
        number.ok_or_else(wrong).map(Some)
    }

    /// The URL without its options; those that are left were mistaken.
    pub(super) fn finish(&self) -> Result<Url, OpenError> {
        match self.options.first() {
            Some((name, _)) => Err(self.invalid(format!("there is no option `{name}`"))),
            None => Ok(self.url.clone()),
        }
    }
}
