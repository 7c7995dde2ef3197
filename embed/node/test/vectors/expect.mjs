// Whether an answer is the expected one; tokens get their values on the way.

/** The bytes that a vector writes as `{text}`, `{hex}` or `{repeat}`. */
export function bytesOf({ text, hex, repeat }) {
  if (text !== undefined) {
    return Buffer.from(text);
  }
  return hex !== undefined ? Buffer.from(hex, "hex") : Buffer.from(repeat[0].repeat(repeat[1]));
}

/** What the names of tokens stand for. */
export class Tokens {
  #values;

  constructor(values = new Map()) {
    this.#values = values;
  }

  clone() {
    return new Tokens(new Map(this.#values));
  }

  /** The value of a token that was met before. */
  value(token) {
    if (typeof token === "string") {
      if (!this.#values.has(token)) {
        throw new Error(`the token ${token} was never answered`);
      }
      return this.#values.get(token);
    }
    return typeof token === "object" ? this.value(token.of) + BigInt(token.plus) : BigInt(token);
  }

  /** Whether the answer is the expected one. Where it is not, tokens may have changed. */
  fit(expected, got) {
    if (!isObject(expected)) {
      return expected === got;
    }
    if (!isObject(got)) {
      const { from, to } = expected;
      return typeof got === "number" && from <= got && got <= to;
    }
    if (typeof got.hex === "string") {
      return isBytes(expected) && bytesOf(expected).toString("hex") === got.hex;
    }
    const names = Object.keys(expected);
    const same = names.length === Object.keys(got).length;
    return same && names.every((name) => name in got && this.#fitField(name, expected, got));
  }

  #fitField(name, expected, got) {
    return name === "token" && typeof got.token === "bigint"
      ? this.#fitToken(expected.token, got.token)
      : this.fit(expected[name], got[name]);
  }

  #fitToken(expected, got) {
    if (typeof expected === "string" && !this.#values.has(expected)) {
      this.#values.set(expected, got);
    }
    return this.value(expected) === got;
  }
}

function isBytes({ text, hex, repeat }) {
  return [text, hex, repeat].filter((given) => given !== undefined).length === 1;
}

function isObject(value) {
  return typeof value === "object" && value !== null;
}
