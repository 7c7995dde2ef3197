//! `ledger-model`: explores the scenarios, on every core. `cargo xtask check-model` runs it.

use std::cmp::Reverse;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use idempotency_ledger::record::Strategy;
use ledger_model::{Explored, Scenario, Size, Violation, explore, scenarios, shortest};

const HELP: &str = "\
ledger-model [--full] [--strategy cas|ticket] [--only TEXT] [--shortest]

Explores every interleaving of the scenarios, small ones unless --full, and checks each history.
--only: scenarios whose name holds the text. --shortest: shows of all histories that break a
promise one of the fewest steps; takes more memory. Ends with 1 where a promise was broken, with
3 where no scenario has such a name.";

struct Ask {
    size: Size,
    strategy: Option<Strategy>,
    only: String,
    shortest: bool,
}

fn main() -> ExitCode {
    let ask = match Ask::parse(std::env::args().skip(1)) {
        Ok(ask) => ask,
        Err(why) => {
            eprintln!("ledger-model: {why}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let mut all: Vec<Scenario> = [Strategy::Cas, Strategy::Ticket]
        .into_iter()
        .filter(|strategy| ask.strategy.is_none_or(|wanted| wanted == *strategy))
        .flat_map(|strategy| scenarios(strategy, ask.size))
        .collect();
    all.retain(|scenario| scenario.title().contains(&ask.only));
    if ask.only.is_empty() {
        // The largest come first, so that no core waits for another's in the end.
        all.sort_by_key(|scenario| Reverse((scenario.workers.len(), scenario.failures)));
    }
    if all.is_empty() {
        eprintln!("ledger-model: no scenario's title holds {:?}", ask.only);
        return ExitCode::from(3);
    }
    let is_kept = if ask.shortest { find_shortest(&all) } else { explore_all(&all) };
    if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Ask {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Ask, String> {
        let (size, only) = (Size::Small, String::new());
        let mut ask = Ask { size, strategy: None, only, shortest: false };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--full" => ask.size = Size::Full,
                "--shortest" => ask.shortest = true,
                "--only" => ask.only = arguments.next().ok_or("--only needs a text")?,
                "--strategy" => {
                    ask.strategy = Some(match arguments.next().as_deref() {
                        Some("cas") => Strategy::Cas,
                        Some("ticket") => Strategy::Ticket,
                        _ => return Err("--strategy needs cas or ticket".into()),
                    });
                }
                other => return Err(format!("what is {other:?}?")),
            }
        }
        Ok(ask)
    }
}

/// Answers whether every promise was kept.
#[expect(clippy::disallowed_methods, reason = "how long it took, for people to read")]
fn explore_all(all: &[Scenario]) -> bool {
    let began = Instant::now();
    let total = Mutex::new((Explored::default(), 0));
    on_every_core(all, |scenario| {
        let began = Instant::now();
        let explored = explore(scenario);
        let (title, seconds) = (scenario.title(), began.elapsed().as_secs_f64());
        let mut total = total.lock().expect("nobody panics here");
        match explored {
            Ok(Explored { states, histories }) => {
                println!("{title}: {states} states, {histories} histories, {seconds:.1} s");
                total.0.states += states;
                total.0.histories += histories;
            }
            Err(found) => {
                println!("{title}: {found}");
                total.1 += 1;
            }
        }
    });
    let (Explored { states, histories }, violations) = total.into_inner().expect("all are done");
    println!(
        "{} scenarios: {states} states, {histories} histories, {violations} violations, {:.0} s",
        all.len(),
        began.elapsed().as_secs_f64()
    );
    violations == 0
}

/// Answers whether every promise was kept.
fn find_shortest(all: &[Scenario]) -> bool {
    let found: Mutex<Option<(&Scenario, Violation)>> = Mutex::default();
    let found = || found.lock().expect("nobody panics here");
    let fewest = || found().as_ref().map_or(usize::MAX, |(_, violation)| violation.steps);
    on_every_core(all, |scenario| {
        let Err(violation) = shortest(scenario, fewest) else { return };
        let mut found = found();
        // Another may have been found meanwhile.
        if found.as_ref().is_none_or(|(_, other)| violation.steps < other.steps) {
            *found = Some((scenario, violation));
        }
    });
    match &*found() {
        Some((scenario, violation)) => println!("{}: {violation}", scenario.title()),
        None => println!("{} scenarios: 0 violations", all.len()),
    }
    fewest() == usize::MAX
}

fn on_every_core<'a>(all: &'a [Scenario], each: impl Fn(&'a Scenario) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(scenario) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            each(scenario);
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
}
