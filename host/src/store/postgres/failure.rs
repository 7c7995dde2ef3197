//! Errors of the client, the pool and the server as the store's.

use deadpool_postgres::PoolError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::StoreError;
use crate::store::counter_overflow;

/// Whether the server took the statement back, and it can be tried again.
pub(super) fn is_serialization_failure(error: &Error) -> bool {
    let retried = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
    error.code().is_some_and(|code| retried.contains(code))
}

pub(super) fn failed(error: Error) -> StoreError {
    let denied = [
        SqlState::INSUFFICIENT_PRIVILEGE,
        SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
        SqlState::INVALID_PASSWORD,
    ];
    match error.code() {
        Some(code) if denied.contains(code) => StoreError::AccessDenied,
        Some(code) if *code == SqlState::INVALID_CATALOG_NAME => StoreError::NoSuchStore,
        Some(code) if *code == SqlState::NUMERIC_VALUE_OUT_OF_RANGE => counter_overflow(),
        _ => StoreError::Other(format!("PostgreSQL: {}", reason(&error))),
    }
}

pub(super) fn no_connection(error: PoolError) -> StoreError {
    match error {
        PoolError::Backend(error) => failed(error),
        PoolError::Timeout(_) => {
            StoreError::Other("PostgreSQL: no connection became free in time".to_owned())
        }
        error => StoreError::Other(format!("PostgreSQL: {error}")),
    }
}

/// What the server said, or what broke the connection; never a parameter.
fn reason(error: &Error) -> String {
    if let Some(said) = error.as_db_error() {
        return format!("{} ({})", said.message(), said.code().code());
    }
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(error);
    // Errors do not nest deeper.
    for _ in 0..8 {
        let Some(cause) = source else { break };
        if !reason.contains(&cause.to_string()) {
            reason.push_str(&format!(": {cause}"));
        }
        source = cause.source();
    }
    reason
}
