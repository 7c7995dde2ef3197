//! TLS by rustls, with the system's root certificates or those of a file.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// What checks a server's certificate and name: by the certificates in the PEM file `ca`, else
/// by the system's. Errors are for people.
pub(super) fn client_config(ca: Option<&str>) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    match ca {
        Some(path) => {
            for certificate in certificates(path)? {
                let added = roots.add(certificate);
                added.map_err(|error| format!("tls_ca: {path}: {error}"))?;
            }
        }
        None => {
            // Some of a system's certificates may be unfit; without any, no server is trusted.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// The certificates in a PEM file, at least one.
fn certificates(path: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<_, _>>);
    let found: Vec<_> = read.map_err(|error| format!("tls_ca: {path}: {error}"))?;
    if found.is_empty() {
        return Err(format!("tls_ca: {path} holds no certificate"));
    }
    Ok(found)
}
