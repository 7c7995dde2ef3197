//! Components of the ledger's world that do nothing, in a bad way.

use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{LiftLowerAbi, ManglingAndAbi, Resolve};

/// `(loop br 0) unreachable end` without locals, with its size in front.
const ENDLESS: &[u8] = &[8, 0, 0x03, 0x40, 0x0c, 0, 0x0b, 0, 0x0b];

/// `end` without locals, with its size in front.
const EMPTY: &[u8] = &[2, 0, 0x0b];

/// Every call traps.
pub(crate) fn trapping() -> Vec<u8> {
    encode(|module| module)
}

/// Every call computes for ever.
pub(crate) fn looping() -> Vec<u8> {
    encode(|module| with_code(&module))
}

fn encode(change: impl Fn(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let wit = concat!(env!("CARGO_MANIFEST_DIR"), "/wit");
    let (package, _) = resolve.push_path(wit).unwrap();
    let world = resolve.select_world(&[package], Some("provider")).unwrap();
    let module = dummy_module(&resolve, world, ManglingAndAbi::Legacy(LiftLowerAbi::Sync));
    let mut module = change(module);
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
}

/// `module` with every function body replaced by [`ENDLESS`], that of `_initialize` excepted.
fn with_code(module: &[u8]) -> Vec<u8> {
    let (header, mut rest) = module.split_at(8);
    let (mut imports, mut initialize) = (0, 0);
    let mut changed = header.to_vec();
    while let Some((&id, after)) = rest.split_first() {
        let (size, after) = leb128(after);
        let (content, after) = after.split_at(size);
        let (count, entries) = leb128(content);
        match id {
            2 => imports = count,
            7 => initialize = exported_function(entries, b"_initialize") - imports,
            _ => {}
        }
        let content = if id == 10 {
            let bodies: Vec<&[u8]> =
                (0..count).map(|body| if body == initialize { EMPTY } else { ENDLESS }).collect();
            [to_leb128(count), bodies.concat()].concat()
        } else {
            content.to_vec()
        };
        changed.push(id);
        changed.extend(to_leb128(content.len()));
        changed.extend(content);
        rest = after;
    }
    changed
}

/// The index of the function that is exported as `name`.
fn exported_function(exports: &[u8], name: &[u8]) -> usize {
    let at = exports.windows(name.len()).position(|window| window == name).unwrap();
    let (&kind, index) = exports[at + name.len()..].split_first().unwrap();
    assert_eq!(kind, 0);
    leb128(index).0
}

fn leb128(bytes: &[u8]) -> (usize, &[u8]) {
    let len = 1 + bytes.iter().position(|byte| byte & 0x80 == 0).unwrap();
    let value =
        bytes[..len].iter().rev().fold(0, |value, byte| value << 7 | usize::from(byte & 0x7f));
    (value, &bytes[len..])
}

fn to_leb128(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        bytes.push(if value == 0 { low } else { low | 0x80 });
        if value == 0 {
            return bytes;
        }
    }
}
