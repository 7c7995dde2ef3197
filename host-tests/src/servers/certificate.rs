//! A certificate for 127.0.0.1, signed by itself, for servers with TLS.

use std::path::PathBuf;
use std::process::Command;

use nix::unistd::chown;
use tempfile::TempDir;

use super::postgres;

/// A certificate and its key, in a folder that goes with it.
#[derive(Debug)]
pub struct Certificate {
    folder: TempDir,
}

impl Certificate {
    /// Made by `openssl`, which comes with Debian's PostgreSQL.
    ///
    /// # Panics
    /// Where that fails.
    #[expect(clippy::new_without_default, reason = "it runs a program")]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the certificate");
        let certificate = Self { folder };
        let output = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
            .args(["-nodes", "-days", "2", "-subj", "/CN=ledger"])
            .args(["-addext", "subjectAltName=IP:127.0.0.1"])
            .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
            .arg(certificate.key())
            .arg("-out")
            .arg(certificate.path())
            .output()
            .expect("openssl is missing: apt-get install -y --no-install-recommends openssl");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // PostgreSQL reads it as a user of its own, and wants nobody else to.
        if let Some(user) = postgres::user() {
            for path in [certificate.folder.path().to_owned(), certificate.key()] {
                chown(&path, Some(user.uid), Some(user.gid)).expect("a file of its own");
            }
        }
        certificate
    }

    /// The certificate, in PEM.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }

    pub(super) fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }
}
