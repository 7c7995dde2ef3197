//! The store of a model: a small value, so that states can be copied and compared by the
//! million. Keys and values are named by numbers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use idempotency_ledger::bucket::{Bucket, StoreError, SwapError};

use crate::hashed::Hashed;

/// A key or a value; the same text has the same number as long as the thread lives.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Text(u32);

#[derive(Default)]
struct Texts {
    numbers: HashMap<Rc<[u8]>, u32>,
    all: Vec<Rc<[u8]>>,
}

thread_local! {
    static TEXTS: RefCell<Texts> = RefCell::default();
}

impl Text {
    pub(crate) fn of(bytes: &[u8]) -> Text {
        TEXTS.with_borrow_mut(|texts| {
            if let Some(number) = texts.numbers.get(bytes) {
                return Text(*number);
            }
            let number = u32::try_from(texts.all.len()).expect("fewer texts");
            let bytes: Rc<[u8]> = bytes.into();
            texts.numbers.insert(Rc::clone(&bytes), number);
            texts.all.push(bytes);
            Text(number)
        })
    }

    pub(crate) fn bytes(self) -> Rc<[u8]> {
        TEXTS.with_borrow(|texts| Rc::clone(&texts.all[self.0 as usize]))
    }

    pub(crate) fn show(self) -> String {
        String::from_utf8_lossy(&self.bytes()).replace('\n', "|")
    }
}

/// A store call on its way.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub(crate) enum Request {
    Get(Text),
    Set(Text, Text),
    Delete(Text),
    Exists(Text),
    Increment(Text, i64),
    Swap(Text, u32, Text),
}

impl Request {
    /// A read has no effect that could come late.
    pub(crate) fn is_read(self) -> bool {
        matches!(self, Request::Get(_) | Request::Exists(_) | Request::Increment(_, 0))
    }

    pub(crate) fn key(self) -> Text {
        match self {
            Request::Get(key)
            | Request::Set(key, _)
            | Request::Delete(key)
            | Request::Exists(key)
            | Request::Increment(key, _)
            | Request::Swap(key, ..) => key,
        }
    }

    /// Of the index or the marker: nobody but a purge looks at what another wrote there.
    pub(crate) fn is_of_index(self) -> bool {
        let key = self.key().bytes();
        ["il.b.", "il.n.", "il.e.", "il.l.", "il.c", "il.m"]
            .iter()
            .any(|start| key.starts_with(start.as_bytes()))
    }

    pub(crate) fn show(self) -> String {
        match self {
            Request::Set(key, value) => format!("set {} {}", key.show(), value.show()),
            Request::Swap(key, _, value) => format!("swap {} {}", key.show(), value.show()),
            Request::Get(key) => format!("get {}", key.show()),
            Request::Delete(key) => format!("delete {}", key.show()),
            Request::Exists(key) => format!("exists {}", key.show()),
            Request::Increment(key, by) => format!("increment {} {by}", key.show()),
        }
    }
}

/// What the store answers.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub(crate) enum Response {
    /// Value and version; version 0 is absent.
    Value(Option<Text>, u32),
    There(bool),
    Written,
    Number(i64),
    Conflict,
    Failed,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
enum Content {
    Absent,
    Value(Text),
    Counter(i64),
}

/// Values with versions that never recur, and counters.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct Store {
    /// Sorted. A key that was swapped and deleted stays, for its version. Stores share it until
    /// it changes.
    cells: Rc<Hashed<Vec<(Text, Content, u32)>>>,
}

impl Store {
    /// Carries out a call.
    pub(crate) fn apply(&mut self, request: Request) -> Response {
        let cells = self.cells.value();
        let at = cells.binary_search_by_key(&request.key(), |cell| cell.0);
        let (content, version) = at.map_or((Content::Absent, 0), |at| {
            let (_, content, version) = cells[at];
            (content, version)
        });
        let version = if content == Content::Absent { 0 } else { version };
        match request {
            Request::Get(_) => match content {
                Content::Value(value) => Response::Value(Some(value), version),
                _ => Response::Value(None, 0),
            },
            Request::Exists(_) => Response::There(content != Content::Absent),
            Request::Set(key, value) => self.write(key, Content::Value(value), false),
            Request::Delete(key) => match at {
                Ok(at) if cells[at].2 == 0 => {
                    Rc::make_mut(&mut self.cells).value_mut().remove(at);
                    Response::Written
                }
                Ok(_) => self.write(key, Content::Absent, false),
                Err(_) => Response::Written,
            },
            Request::Increment(key, delta) => {
                let Content::Counter(sum) = content else {
                    self.write(key, Content::Counter(delta), false);
                    return Response::Number(delta);
                };
                self.write(key, Content::Counter(sum + delta), false);
                Response::Number(sum + delta)
            }
            Request::Swap(key, expected, value) if expected == version => {
                self.write(key, Content::Value(value), true)
            }
            Request::Swap(..) => Response::Conflict,
        }
    }

    /// Versions count for keys only that are swapped: others would part equal states.
    fn write(&mut self, key: Text, content: Content, swaps: bool) -> Response {
        let cells = Rc::make_mut(&mut self.cells).value_mut();
        match cells.binary_search_by_key(&key, |cell| cell.0) {
            Ok(at) => {
                let (_, old, version) = &mut cells[at];
                *old = content;
                *version += u32::from(swaps);
            }
            Err(at) => cells.insert(at, (key, content, u32::from(swaps))),
        }
        Response::Written
    }

    /// The keys that hold something.
    pub(crate) fn keys(&self) -> Vec<String> {
        let held = self.cells.value().iter().filter(|cell| cell.1 != Content::Absent);
        held.map(|cell| cell.0.show()).collect()
    }
}

/// The core's store: each call goes through the function, which may switch to another worker.
pub(crate) struct ModelBucket<F>(pub(crate) F);

/// A key, and the version that was read.
#[derive(Debug)]
pub(crate) struct ModelCas(Text, std::cell::Cell<u32>);

impl<F: Fn(Request) -> Response> ModelBucket<F> {
    fn ask(&self, request: Request) -> Result<Response, StoreError> {
        match (self.0)(request) {
            Response::Failed => Err(StoreError::Other("injected".into())),
            response => Ok(response),
        }
    }

    fn read(&self, key: Text) -> Result<(Option<Vec<u8>>, u32), StoreError> {
        match self.ask(Request::Get(key))? {
            Response::Value(value, version) => {
                Ok((value.map(|text| text.bytes().to_vec()), version))
            }
            other => unreachable!("{other:?}"),
        }
    }
}

impl<F: Fn(Request) -> Response> Bucket for ModelBucket<F> {
    type Cas = ModelCas;

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.read(Text::of(key.as_bytes()))?.0)
    }

    fn set(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.ask(Request::Set(Text::of(key.as_bytes()), Text::of(value))).map(drop)
    }

    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.ask(Request::Delete(Text::of(key.as_bytes()))).map(drop)
    }

    fn exists(&self, key: &str) -> Result<bool, StoreError> {
        match self.ask(Request::Exists(Text::of(key.as_bytes())))? {
            Response::There(there) => Ok(there),
            other => unreachable!("{other:?}"),
        }
    }

    fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        match self.ask(Request::Increment(Text::of(key.as_bytes()), delta))? {
            Response::Number(number) => Ok(number),
            other => unreachable!("{other:?}"),
        }
    }

    fn cas(&self, key: &str) -> Result<ModelCas, StoreError> {
        Ok(ModelCas(Text::of(key.as_bytes()), std::cell::Cell::new(0)))
    }

    fn current(&self, cas: &ModelCas) -> Result<Option<Vec<u8>>, StoreError> {
        let (value, version) = self.read(cas.0)?;
        cas.1.set(version);
        Ok(value)
    }

    fn swap(&self, cas: ModelCas, value: &[u8]) -> Result<(), SwapError<ModelCas>> {
        match self.ask(Request::Swap(cas.0, cas.1.get(), Text::of(value))) {
            Ok(Response::Conflict) => Err(SwapError::Failed(cas)),
            Ok(_) => Ok(()),
            Err(error) => Err(SwapError::Store(error)),
        }
    }
}
