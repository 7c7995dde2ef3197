// The conformance vectors as they stand, see host-tests/vectors/README.md.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FORMAT = 1;
const folder = fileURLToPath(new URL("../../../../host-tests/vectors/", import.meta.url));

/** Every file of the vectors, in the order of their names. */
export function readAll() {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.sort().map((name) => {
    const { format, scenarios } = parse(readFileSync(folder + name, "utf8"));
    if (format !== FORMAT) {
      throw new Error(`${name}: an unknown format ${format}`);
    }
    return { name, scenarios };
  });
}

/** As `JSON.parse`, with bigints where a number would not be exact. */
function parse(text) {
  const tagged = text.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}/g, (token) =>
    token.startsWith('"') ? token : `"bigint:${token}"`,
  );
  return JSON.parse(tagged, (_name, value) =>
    typeof value === "string" && value.startsWith("bigint:") ? BigInt(value.slice(7)) : value,
  );
}
