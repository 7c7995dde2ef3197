//! The statements: one for each call.

/// The statements of one store.
#[derive(Clone, Debug)]
pub(super) struct Statements {
    /// Version, value and counter of a key.
    pub(super) get: String,
    /// Whether the value was written; otherwise the key holds a counter.
    pub(super) set: String,
    pub(super) delete: String,
    /// The sum, or no row where the key holds a value.
    pub(super) increment: String,
    /// Whether the value was written, and otherwise whether the key held a counter.
    pub(super) create: String,
    /// The same.
    pub(super) replace: String,
    /// The next keys.
    pub(super) list: String,
}

impl Statements {
    /// For the table in `schema`, a name that needs no quotes.
    pub(super) fn new(schema: &str) -> Self {
        let version = format!("nextval('{schema}.version')");
        // The lock comes before the version is drawn, as a row has to be there before its
        // columns are computed; it ends with the transaction. So of two writes the one that
        // takes effect later has the greater version, also where one of them makes the key.
        let turn = format!(
            "turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(\
             hashtextextended('{schema} ' || encode($1, 'hex'), 0)))"
        );
        let written = "EXISTS (SELECT FROM written)";
        let is_counter =
            format!("EXISTS (SELECT FROM {schema}.entry WHERE key = $1 AND counter IS NOT NULL)");
        Self {
            get: format!("SELECT version, value, counter FROM {schema}.entry WHERE key = $1"),
            set: format!(
                "WITH {turn}, written AS (\
                 INSERT INTO {schema}.entry AS found (key, version, value) \
                 SELECT $1, {version}, $2 FROM turn \
                 ON CONFLICT (key) DO UPDATE \
                 SET version = excluded.version, value = excluded.value \
                 WHERE found.counter IS NULL RETURNING 1) SELECT {written}"
            ),
            delete: format!("DELETE FROM {schema}.entry WHERE key = $1"),
            increment: format!(
                "WITH {turn} \
                 INSERT INTO {schema}.entry AS found (key, version, counter) \
                 SELECT $1, {version}, $2 FROM turn \
                 ON CONFLICT (key) DO UPDATE \
                 SET version = excluded.version, counter = found.counter + excluded.counter \
                 WHERE found.value IS NULL RETURNING counter"
            ),
            create: format!(
                "WITH {turn}, written AS (\
                 INSERT INTO {schema}.entry (key, version, value) \
                 SELECT $1, {version}, $2 FROM turn \
                 ON CONFLICT (key) DO NOTHING RETURNING 1) SELECT {written}, {is_counter}"
            ),
            replace: format!(
                "WITH {turn}, written AS (\
                 UPDATE {schema}.entry SET version = {version}, value = $2 FROM turn \
                 WHERE key = $1 AND version = $3 AND counter IS NULL RETURNING 1) \
                 SELECT {written}, {is_counter}"
            ),
            list: format!("SELECT key FROM {schema}.entry WHERE key > $1 ORDER BY key LIMIT $2"),
        }
    }
}
