//! The project's own rules, as far as a test can hold them. Simple heuristics over the text:
//! where one is wrong about a line, write the line otherwise.

mod core_rules;
mod documents;
mod shape;
mod sources;
