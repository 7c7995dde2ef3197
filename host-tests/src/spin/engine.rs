//! What a store of Spin is asked, one label of it.

use async_trait::async_trait;

/// An answer, or the text of Spin's error `other`.
pub type Answer<T> = Result<T, String>;

/// One of Spin's stores, as Spin's host functions see it.
#[async_trait]
pub trait Engine: Send + Sync + 'static {
    /// What happens when a guest opens the store.
    async fn open(&self) -> Answer<()> {
        Ok(())
    }

    /// The value of a key.
    async fn get(&self, key: &str) -> Answer<Option<Vec<u8>>>;

    /// Writes a value.
    async fn set(&self, key: &str, value: Vec<u8>) -> Answer<()>;

    /// Removes a key, which may be absent.
    async fn delete(&self, key: &str) -> Answer<()>;

    /// Whether there is such a key.
    async fn exists(&self, key: &str) -> Answer<bool>;

    /// All keys at once.
    async fn keys(&self) -> Answer<Vec<String>>;

    /// Adds to a counter and answers the sum.
    async fn increment(&self, key: &str, delta: i64) -> Answer<i64>;

    /// A handle of a compare-and-swap; nothing is read yet.
    async fn compare(&self, key: &str) -> Answer<Box<dyn Handle>>;
}

/// A compare-and-swap under way.
#[async_trait]
pub trait Handle: Send + Sync {
    /// Reads what a swap is compared with.
    async fn current(&mut self) -> Answer<Option<Vec<u8>>>;

    /// Writes; `false` is `cas-failed`, whatever was written.
    async fn swap(&mut self, value: Vec<u8>) -> Answer<bool>;
}
