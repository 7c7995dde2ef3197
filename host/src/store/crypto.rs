//! The cryptography of clients that take the process's, and panic where it is not settled.

use rustls::crypto::{CryptoProvider, ring};

/// Settle it, unless the program has.
pub(super) fn settle() {
    if CryptoProvider::get_default().is_none() {
        // Whoever settles it at the same moment does as well.
        let _ = ring::default_provider().install_default();
    }
}
