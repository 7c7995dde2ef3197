//! What a process needs once: the engine, the ticker of its epochs, and the compiled component.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine};

use crate::bindings::ProviderPre;
use crate::error::Error;
use crate::instance::State;
use crate::keyvalue;
use crate::types::Strategy;

/// The components that this crate carries.
static LEDGER_CAS: &[u8] = include_bytes!(env!("LEDGER_CAS_WASM"));
static LEDGER_TICKET: &[u8] = include_bytes!(env!("LEDGER_TICKET_WASM"));

/// Most memory that one instance may use, in bytes.
pub(crate) const MEMORY_LIMIT_BYTES: usize = 32 << 20;

/// How long an epoch lasts: how long an instance may compute before it lets others run.
pub(crate) const EPOCH: Duration = Duration::from_millis(10);

/// The engine, made at first use and kept for the life of the process.
pub(crate) struct Runtime {
    engine: Engine,
    ticker: Ticker,
}

/// Advances the engine's epoch, on a thread of its own that sleeps while no call is under way.
struct Ticker {
    thread: Thread,
}

/// Calls under way.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

/// Keeps the epochs advancing.
pub(crate) struct Active(());

/// The runtime of this process. The error is that of the first attempt, for ever.
pub(crate) fn runtime() -> Result<&'static Runtime, Error> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    RUNTIME.get_or_init(Runtime::new).as_ref().map_err(|error| Error::Component(error.clone()))
}

/// A component that this crate carries, compiled at first use: some hundred milliseconds of
/// computing, so not for the executor's threads.
pub(crate) fn carried(strategy: Strategy) -> Result<ProviderPre<State>, Error> {
    static CAS: OnceLock<Result<ProviderPre<State>, Error>> = OnceLock::new();
    static TICKET: OnceLock<Result<ProviderPre<State>, Error>> = OnceLock::new();
    match strategy {
        Strategy::Cas => CAS.get_or_init(|| compile(LEDGER_CAS)).clone(),
        Strategy::Ticket => TICKET.get_or_init(|| compile(LEDGER_TICKET)).clone(),
    }
}

/// Compile `component` and link it with what [`State`] offers. Takes as long as [`carried`].
pub(crate) fn compile(component: &[u8]) -> Result<ProviderPre<State>, Error> {
    let engine = &runtime()?.engine;
    let compile = || {
        let component = Component::from_binary(engine, component)?;
        let mut linker = Linker::new(engine);
        keyvalue::add_to_linker(&mut linker)?;
        ProviderPre::new(linker.instantiate_pre(&component)?)
    };
    compile().map_err(|error| Error::Component(format!("{error:#}")))
}

impl Runtime {
    fn new() -> Result<Self, String> {
        let mut config = Config::new();
        config.epoch_interruption(true);
        // Reserve what an instance may use, not the usual 4 GiB: a thousand instances then fit
        // where the address space is limited.
        config.memory_reservation(MEMORY_LIMIT_BYTES as u64);
        config.memory_may_move(false);
        let engine = Engine::new(&config).map_err(|error| format!("{error:#}"))?;
        let ticker = Ticker::start(engine.clone())
            .map_err(|error| format!("no thread for the ticker: {error}"))?;
        Ok(Self { engine, ticker })
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Let the epochs advance until the answer is dropped.
    pub(crate) fn activate(&self) -> Active {
        if ACTIVE.fetch_add(1, Ordering::SeqCst) == 0 {
            self.ticker.thread.unpark();
        }
        Active(())
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        ACTIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Ticker {
    /// The thread lives as long as the process: the engine does too.
    fn start(engine: Engine) -> std::io::Result<Self> {
        let tick = move || {
            loop {
                // An `unpark` between the look and the `park` makes the `park` return at once.
                if ACTIVE.load(Ordering::SeqCst) == 0 {
                    thread::park();
                } else {
                    thread::sleep(EPOCH);
                    engine.increment_epoch();
                }
            }
        };
        let ticker = thread::Builder::new().name("ledger-epochs".to_owned()).spawn(tick)?;
        Ok(Self { thread: ticker.thread().clone() })
    }
}
