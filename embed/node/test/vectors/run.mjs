// Runs vectors on a ledger, and says what is wrong.

import { Tokens, bytesOf } from "./expect.mjs";
import { callLedger } from "./words.mjs";

const STRATEGY = "cas";
const SHOWN_CHARACTERS = 600;
const KNOWN_ARGUMENT = new Set([
  ...["call", "key", "scope", "lease_ms", "ttl_ms", "fingerprint", "payload", "token"],
  ...["upsert_on_missing", "before_ms", "limit"],
]);

/**
 * Runs every scenario that holds for `cas`, each on a target of its own: `{ledger, store,
 * setClock, end}`. Answers how many there were, and a message for each that failed.
 */
export async function runAll(files, makeTarget) {
  const report = { scenarios: 0, steps: 0, failures: [] };
  for (const { name: file, scenarios } of files) {
    for (const { name, only = STRATEGY, steps } of scenarios) {
      if (only !== STRATEGY) {
        continue;
      }
      report.scenarios += 1;
      report.steps += steps.length;
      const target = await makeTarget();
      const why = await runScenario(target, steps).catch((error) => error.stack);
      await target.end();
      if (why !== undefined) {
        report.failures.push(`${file}: ${name}, ${why}`);
      }
    }
  }
  return report;
}

async function runScenario(target, steps) {
  const run = { target, tokens: new Tokens(), greatest: new Map() };
  for (const [index, step] of steps.entries()) {
    if (step.at_ms !== undefined) {
      target.setClock(step.at_ms);
    }
    const why = await runStep(run, step);
    if (why !== undefined) {
      return `step ${index + 1}: ${why}`;
    }
  }
  return undefined;
}

async function runStep(run, step) {
  const { at_ms: _, expect, parallel, store_set: set, store_absent: absent, ...call } = step;
  const unknown = Object.keys(call).find((name) => !KNOWN_ARGUMENT.has(name));
  if (unknown !== undefined) {
    throw new Error(`${unknown} does not belong in this step`);
  }
  if (parallel !== undefined) {
    return runParallel(run, parallel, expect);
  }
  if (set !== undefined) {
    run.target.store.set(set.key, bytesOf(set.value));
    return undefined;
  }
  if (absent !== undefined) {
    return run.target.store.get(absent) === undefined ? undefined : `${absent} is still there`;
  }
  if (!("expect" in step)) {
    throw new Error("no `expect`");
  }
  const got = await callLedger(run.target.ledger, resolve(call, run.tokens));
  if (!run.tokens.fit(expect, got)) {
    return `${call.call}\n  expected ${show(expect)}\n  got      ${show(got)}`;
  }
  return checkToken(run, call, got);
}

async function runParallel(run, parallel, expect) {
  const calls = Array.isArray(parallel)
    ? parallel
    : Array.from({ length: parallel.times }, () => parallel.step);
  const answering = calls.map((call) => callLedger(run.target.ledger, resolve(call, run.tokens)));
  const answers = await Promise.all(answering);
  const left = [...answers];
  for (const { count, answer } of expect) {
    for (let number = 0; number < count; number += 1) {
      const at = findFitting(run, answer, left);
      if (at === -1) {
        return `in parallel\n  expected ${count} times ${show(answer)}\n  got ${show(answers)}`;
      }
      left.splice(at, 1);
    }
  }
  if (left.length > 0) {
    return `in parallel\n  an answer too many: ${show(left[0])}`;
  }
  const wrong = answers.map((got, index) => checkToken(run, calls[index], got));
  return wrong.find((why) => why !== undefined);
}

function findFitting(run, answer, answers) {
  for (const [index, got] of answers.entries()) {
    const tokens = run.tokens.clone();
    if (tokens.fit(answer, got)) {
      run.tokens = tokens;
      return index;
    }
  }
  return -1;
}

/** Each claim has a greater token than all before it on its key. */
function checkToken(run, { scope = null, key }, got) {
  const fresh = got?.fresh?.token;
  const token = fresh ?? got?.recorded?.token;
  if (token === undefined) {
    return undefined;
  }
  const slot = JSON.stringify([scope, key]);
  const greatest = run.greatest.get(slot) ?? 0n;
  if (fresh !== undefined && fresh <= greatest) {
    return `the new token ${fresh} is not greater than ${greatest} before it`;
  }
  run.greatest.set(slot, token > greatest ? token : greatest);
  return undefined;
}

/** The call with what its texts, bytes and names of tokens stand for. */
function resolve(call, tokens) {
  const { key, scope, fingerprint, payload, token } = call;
  return {
    ...call,
    key: textOf(key),
    scope: textOf(scope),
    fingerprint: fingerprint === undefined ? undefined : Buffer.from(fingerprint, "hex"),
    payload: payload === undefined || payload === null ? undefined : bytesOf(payload),
    token: token === undefined || token === null ? undefined : tokens.value(token),
  };
}

function textOf(text) {
  return typeof text === "object" ? text.repeat[0].repeat(text.repeat[1]) : text;
}

function show(value) {
  const write = (_name, part) => (typeof part === "bigint" ? Number(part) : part);
  const text = JSON.stringify(value, write);
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}...`;
}
