// SQLite without the store, by whatever this Node has of it.

/** Runs some SQL on the file at `path`. */
export async function execute(path, sql) {
  const database = await open(path);
  database.exec(sql);
  database.close();
}

async function open(path) {
  const builtin = process.getBuiltinModule?.("node:sqlite");
  if (builtin !== undefined) {
    return new builtin.DatabaseSync(path);
  }
  const { default: Database } = await import("better-sqlite3");
  return new Database(path);
}
