//! Plays seeded histories on the component: `cargo xtask chaos`.

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use host_tests::chaos::{Kind, Setup, play, run_seeds};
use host_tests::{STRATEGIES, strategy_name};

/// Plays seeded histories of many instances of the component over one store, and checks what
/// their callers were answered. Prints the seed of the first that breaks a promise, its
/// history, and the command that plays it again.
#[derive(Parser)]
#[command(name = "cargo xtask chaos")]
struct Arguments {
    /// How many histories of each kind; without it one of `--seed`, which is printed
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: Option<u64>,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The build of the component: `cas` or `ticket`; every one where not said
    #[arg(long)]
    strategy: Option<String>,
    /// The store; memory and SQLite where not said
    #[arg(long)]
    store: Option<StoreName>,
}

#[derive(Clone, Copy, ValueEnum)]
enum StoreName {
    /// The host crate's store in memory
    Memory,
    /// The host crate's store in an SQLite file, below `TMPDIR`
    Sqlite,
    /// The double of Spin's store on SQLite
    SpinSqlite,
    /// The double of Spin's store on Redis
    SpinRedis,
    /// One whose swaps always succeed: to see a promise broken
    Liar,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match setups(&arguments) {
        Err(why) => {
            eprintln!("chaos: {why}");
            ExitCode::from(2)
        }
        Ok(setups) if setups.iter().all(|setup| holds(*setup, &arguments)) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
    }
}

/// What was asked for.
fn setups(arguments: &Arguments) -> Result<Vec<Setup>, String> {
    let mut builds = STRATEGIES.to_vec();
    if let Some(name) = &arguments.strategy {
        builds.retain(|strategy| strategy_name(*strategy) == name);
        if builds.is_empty() {
            let names: Vec<_> = STRATEGIES.into_iter().map(strategy_name).collect();
            return Err(format!("there is no build `{name}`; say one of {}", names.join(", ")));
        }
    }
    let kinds = match arguments.store {
        None => vec![Kind::Memory, Kind::Sqlite],
        Some(StoreName::Memory) => vec![Kind::Memory],
        Some(StoreName::Sqlite) => vec![Kind::Sqlite],
        Some(StoreName::SpinSqlite) => vec![Kind::SpinSqlite],
        Some(StoreName::SpinRedis) => vec![Kind::SpinRedis],
        Some(StoreName::Liar) => vec![Kind::Liar],
    };
    let setup = |strategy| kinds.iter().map(move |kind| Setup { strategy, kind: *kind });
    Ok(builds.into_iter().flat_map(setup).collect())
}

/// Plays, says what came out, and answers whether every promise was kept.
fn holds(setup: Setup, arguments: &Arguments) -> bool {
    let name = format!("{}, {}", strategy_name(setup.strategy), setup.kind.name());
    let Some(seeds) = arguments.seeds else {
        let folder = tempfile::tempdir().expect("a folder for the store");
        let chaos = play(setup, arguments.seed, folder.path());
        print!("{}", chaos.text);
        let verdict = chaos.violation.as_deref().unwrap_or("every promise was kept");
        println!("{name}, seed {}: {verdict}", arguments.seed);
        return chaos.violation.is_none();
    };
    let outcome = run_seeds(setup, arguments.seed, seeds);
    let totals = outcome.totals;
    println!(
        "{name}: {} histories, {} calls, {} store calls, {} of them failed, {} late, \
         {} processes died, the clock moved {} times",
        outcome.histories,
        totals.calls,
        totals.store_calls,
        totals.failures,
        totals.late_effects,
        totals.crashes,
        totals.clock_moves,
    );
    let Some(found) = outcome.violation else {
        println!("{name}: every promise was kept");
        return true;
    };
    println!("{}{name}, seed {}: {}\n{}", found.text, found.seed, found.why, found.replay);
    false
}
