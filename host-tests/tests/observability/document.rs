//! The tables of `docs/observability.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The rows of the table whose first heading is this, as cells.
pub(crate) fn table(first_heading: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/observability.md");
    let text = fs::read_to_string(path).expect("the document");
    let heading = format!("| {first_heading} |");
    let lines = text.lines().skip_while(|line| !line.starts_with(&heading)).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|'));
    let cells = |row: &str| {
        let cells = row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        cells.collect::<Vec<_>>()
    };
    let rows: Vec<_> = rows.map(cells).collect();
    assert!(!rows.is_empty(), "no table {first_heading}");
    rows
}

/// The words in backquotes.
pub(crate) fn words(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Which answers a table lists for a call.
pub(crate) fn answers(table: &[Vec<String>], call: &str) -> BTreeSet<String> {
    let row = table.iter().find(|row| words(&row[0]).contains(call));
    row.map(|row| words(&row[1])).unwrap_or_default()
}
