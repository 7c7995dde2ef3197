use super::*;

fn record() -> Record {
    Record {
        state: State::Done,
        token: 7,
        attempt: 2,
        claimed_at_ms: 10,
        completed_at_ms: Some(20),
        expires_at_ms: 86_400_020,
        changed_at_ms: 20,
        fingerprint: Some(vec![0, 0xff]),
        scope: "t\u{1f600}".into(),
        key: "a\n\"\u{0}".into(),
        claim: ClaimId { bucket: TimeBucket::parse("m1").unwrap(), number: 3 },
        payload: Some(b"{\"n\":1.10}\n\x00\xff".to_vec()),
    }
}

const PLACE: Place = Place { position: 2, parent: 1, log: None };

const LINE: &str = r#"{"format":1,"strategy":"cas","state":"inflight","position":1,"parent":0,"token":7,"attempt":1,"claimed_at_ms":0,"expires_at_ms":9,"changed_at_ms":0,"scope":"global","key":"k","bucket":"m0","number":1}"#;

fn read(line: &str) -> Result<(Place, Record), String> {
    decode(format!("{line}\n").as_bytes(), Strategy::Cas)
}

#[test]
fn what_is_written_is_read() {
    let none = Record { payload: None, fingerprint: None, ..record() };
    let empty = Record { payload: Some(Vec::new()), ..record() };
    let null = Record { payload: Some(b"null".to_vec()), ..record() };
    for record in [record(), none, empty, null] {
        let bytes = encode(&record, PLACE, Strategy::Cas);
        assert_eq!(decode(&bytes, Strategy::Cas), Ok((PLACE, record)));
    }
}

#[test]
fn the_payload_stands_behind_the_first_line_as_given() {
    let bytes = encode(&record(), PLACE, Strategy::Cas);
    let line = bytes.iter().position(|b| *b == b'\n').unwrap();
    assert_eq!(&bytes[line + 1..], record().payload.unwrap());
}

#[test]
fn a_record_of_format_1_is_read_for_ever() {
    let (place, record) = read(LINE).unwrap();
    assert_eq!((place.position, record.state, record.expires_at_ms), (1, State::Inflight, 9));
}

#[test]
fn impossible_records_are_corrupt() {
    let rows = [
        ("a later format", r#""format":1"#, r#""format":2"#, "its format is 2"),
        ("no deadline", r#""expires_at_ms":9,"#, "", "expires_at_ms"),
        ("other strategy", r#""strategy":"cas""#, r#""strategy":"ticket""#, "strategy (of this"),
        ("unknown state", r#""state":"inflight""#, r#""state":"lost""#, "its state"),
        ("done without a time", r#""state":"inflight""#, r#""state":"done""#, "its outcome"),
        (
            "inflight with payload",
            r#""number":1"#,
            r#""number":1,"payload_bytes":0"#,
            "its outcome",
        ),
        ("unknown field", r#""number":1"#, r#""number":1,"lease":5"#, "further field"),
        ("field twice", r#""number":1"#, r#""number":1,"number":2"#, "further field"),
        ("float", r#""number":1"#, r#""number":1.5"#, "number"),
        ("negative", r#""number":1"#, r#""number":-1"#, "number"),
        ("too many tries", r#""attempt":1"#, r#""attempt":4294967296"#, "attempt"),
        ("cut off payload", r#""number":1"#, r#""number":1,"payload_bytes":5"#, "payload's size"),
        ("token too great", r#""token":7"#, r#""token":9223372036854775808"#, "its token"),
        ("no position", r#""position":1"#, r#""position":0"#, "its position"),
        ("its own parent", r#""parent":0"#, r#""parent":1"#, "its position"),
        ("fingerprint", r#""scope":"#, r#""fingerprint":"0G","scope":"#, "fingerprint"),
        ("odd fingerprint", r#""scope":"#, r#""fingerprint":"0","scope":"#, "fingerprint"),
        ("empty fingerprint", r#""scope":"#, r#""fingerprint":"","scope":"#, "fingerprint"),
        ("kind", r#""scope":"#, r#""fingerprint":5,"scope":"#, "fingerprint"),
        ("other order", r#""number":1"#, r#""number":1,"fingerprint":"00""#, "further field"),
        ("blanks", r#""number":1"#, r#""number": 1"#, "number"),
        ("a zero before", r#""number":1"#, r#""number":01"#, "number"),
        ("too great", r#""number":1"#, r#""number":18446744073709551616"#, "number"),
        ("no number", r#""number":1"#, r#""number":"#, "number"),
        ("no text", r#""key":"k""#, r#""key":7"#, "key"),
        ("open text", r#""key":"k""#, r#""key":"k"#, "bucket"),
        ("no such escape", r#""key":"k""#, r#""key":"\x""#, "key"),
        ("half a pair", r#""key":"k""#, r#""key":"\ud83d""#, "key"),
        ("other kind", r#""number":1"#, r#""number":1,"payload_bytes":"0""#, "payload_bytes"),
        ("bucket", r#""bucket":"m0""#, r#""bucket":"w0""#, "its bucket"),
    ];
    for (name, from, to, says) in rows {
        assert!(LINE.contains(from), "{name}");
        let error = read(&LINE.replace(from, to)).unwrap_err();
        assert!(error.contains(says), "{name}: {error}");
    }
}

#[test]
fn garbage_is_corrupt_and_never_a_panic() {
    let whole = encode(&record(), PLACE, Strategy::Cas);
    for bytes in [&b""[..], b"\n", b"{}\n", b"\xff\xfe\n", b"null\n", b"8 bytes."] {
        assert!(decode(bytes, Strategy::Cas).is_err(), "{bytes:?}");
    }
    for cut in 0..whole.len() {
        assert!(decode(&whole[..cut], Strategy::Cas).is_err(), "cut at {cut}");
    }
    let deep = format!("{}\n", "[".repeat(100_000));
    assert!(decode(deep.as_bytes(), Strategy::Cas).is_err());
}

#[test]
fn the_greatest_token_is_read() {
    let record = Record { token: MAX_TOKEN, ..record() };
    let bytes = encode(&record, PLACE, Strategy::Cas);
    assert_eq!(decode(&bytes, Strategy::Cas), Ok((PLACE, record)));
}

#[test]
fn only_what_removes_a_key_without_naming_it_is_blank() {
    let blank = Record::blank(record().claim, 5);
    assert!(blank.is_blank());
    assert!(Record { state: State::Deleting, ..blank.clone() }.is_blank());
    assert!(!Record { state: State::Inflight, ..blank.clone() }.is_blank());
    assert!(!Record { key: "k".into(), ..blank }.is_blank());
    assert!(!record().is_blank());
}
