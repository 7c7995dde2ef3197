// Takes some of the generated code's costs out of it. A ledger's call crosses between JavaScript
// and the component some thirty times, with short texts and small values, and half of its time
// went into views, decoders and buffers made for each. Nothing of what the code does changes.
//
// Each place is counted: another release of `jco` that writes them differently fails the build.

// Short values for a store share a buffer, as those of Node's `Buffer` do: one for each costs more
// than the copy. Whoever keeps one keeps this much at most.
const SHARED_BYTES = 8_192;
const MAX_SHARED_BYTES = 2_048;

const EDITS = [
  {
    // Views of the component's memory, made anew only where it has grown: then the old ones have
    // no length any more.
    what: "the view of the memory",
    from: /let dv = new DataView\(new ArrayBuffer\(\)\);\n\s*const dataView = mem => [^\n]*\n/g,
    times: 1,
    to: `let bytes = new Uint8Array(0);
  let text = Buffer.alloc(0);
  let dv = new DataView(new ArrayBuffer());
  const refresh = mem => {
    bytes = new Uint8Array(mem.buffer);
    text = Buffer.from(mem.buffer);
    dv = new DataView(mem.buffer);
  };
  const dataView = mem => {
    if (bytes.length === 0) refresh(mem);
    return dv;
  };
  const decodeText = (mem, ptr, len) => {
    if (bytes.length === 0) refresh(mem);
    return text.toString('utf8', ptr, ptr + len);
  };
  const copyBytes = (mem, ptr, len) => {
    if (bytes.length === 0) refresh(mem);
    return bytes.slice(ptr, ptr + len);
  };
  let shared = new ArrayBuffer(0);
  let sharedUsed = 0;
  const copyForStore = (mem, ptr, len) => {
    if (len > ${MAX_SHARED_BYTES}) return copyBytes(mem, ptr, len);
    if (bytes.length === 0) refresh(mem);
    if (len > shared.byteLength - sharedUsed) {
      shared = new ArrayBuffer(${SHARED_BYTES});
      sharedUsed = 0;
    }
    const copy = new Uint8Array(shared, sharedUsed, len);
    copy.set(bytes.subarray(ptr, ptr + len));
    sharedUsed += len;
    return copy;
  };
  class FewObjects {
    keys = [];
    objects = [];
    get(key) {
      const at = this.keys.indexOf(key);
      return at < 0 ? undefined : this.objects[at];
    }
    set(key, object) {
      this.keys.push(key);
      this.objects.push(object);
    }
    delete(key) {
      const at = this.keys.indexOf(key);
      if (at < 0) return;
      const [lastKey, lastObject] = [this.keys.pop(), this.objects.pop()];
      if (at < this.keys.length) {
        this.keys[at] = lastKey;
        this.objects[at] = lastObject;
      }
    }
  }
`,
  },
  {
    // Objects that the component holds a handle of: two at most, so a list is quicker than a map.
    what: "objects by their number",
    from: /(const captureTable\d+ ?= )new Map\(\)/g,
    times: 2,
    to: "$1new FewObjects()",
  },
  {
    what: "decoding a text",
    from: /utf8Decoder\.decode\(new Uint8Array\(memory0\.buffer, (ptr\d+), (len\d+)\)\)/g,
    times: 60,
    to: "decodeText(memory0, $1, $2)",
  },
  {
    what: "encoding a text",
    from: /let buf = utf8Encoder\.encode\(s\);\n\s*let ptr = realloc\(0, 0, 1, buf\.length\);\n\s*new Uint8Array\(memory\.buffer\)\.set\(buf, ptr\);\n\s*utf8EncodedLen = buf\.length;/g,
    times: 1,
    to: `const len = Buffer.byteLength(s);
    const ptr = realloc(0, 0, 1, len);
    if (bytes.length === 0) refresh(memory);
    text.write(s, ptr, len, 'utf8');
    utf8EncodedLen = len;`,
  },
  {
    what: "copying bytes out, for a store",
    from: /new Uint8Array\(memory0\.buffer\.slice\((ptr\d+), ptr\d+ \+ (len\d+) \* 1\)\)(?=;\n\s*let ret;)/g,
    times: 2,
    to: "copyForStore(memory0, $1, $2)",
  },
  {
    what: "copying bytes out",
    from: /new Uint8Array\(memory0\.buffer\.slice\((ptr\d+), ptr\d+ \+ (len\d+) \* 1\)\)/g,
    times: 3,
    to: "copyBytes(memory0, $1, $2)",
  },
  {
    // `now` of this package answers the seconds as a number: a bigint for each of a call's looks at
    // the clock is a twentieth of its time.
    what: "the clock's seconds",
    from: /dataView\(memory0\)\.setBigInt64\(arg0 \+ 0, toUint64\(v0_0\), true\);/g,
    times: 1,
    to: `dataView(memory0).setUint32(arg0 + 0, v0_0 >>> 0, true);
      dataView(memory0).setUint32(arg0 + 4, v0_0 / 2 ** 32, true);`,
  },
  {
    what: "copying bytes in",
    from: /\(new Uint8Array\(memory0\.buffer, (ptr\d+), (len\d+) \* 1\)\)\.set\((src\d+)\)/g,
    times: 4,
    to: "(dataView(memory0), bytes).set($3, $1)",
  },
];

/** The generated module, quicker. */
export function quicken(source) {
  let edited = source;
  for (const { what, from, times, to } of EDITS) {
    const found = edited.match(from)?.length ?? 0;
    if (found !== times) {
      throw new Error(`${what}: found ${found} times in what jco generated, not ${times}`);
    }
    edited = edited.replace(from, to);
  }
  return edited;
}
