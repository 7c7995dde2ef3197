// How much the tests do; the code is the same.

/** What a release is tested with; a few minutes otherwise. */
export const isFull = process.env.LEDGER_TEST_SIZE === "full";
