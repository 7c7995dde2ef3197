//! The suite that checks stores.

mod broken;
