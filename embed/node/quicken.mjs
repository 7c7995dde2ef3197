// Takes some of the generated code's costs out of it. A ledger's call crosses between JavaScript
// and the component some thirty times, with short texts and small values, and half of its time
// went into views, decoders and buffers made for each. Nothing of what the code does changes.
//
// Each place is counted: another release of `jco` that writes them differently fails the build.

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
`,
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
    what: "copying bytes out",
    from: /new Uint8Array\(memory0\.buffer\.slice\((ptr\d+), ptr\d+ \+ (len\d+) \* 1\)\)/g,
    times: 5,
    to: "copyBytes(memory0, $1, $2)",
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
