//! Runs vectors, and says what is wrong.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::expect::Tokens;
use super::file::{Action, Counted, ParallelCalls, Scenario, Step, VectorFile};
use crate::call::{Call, CallName};
use crate::target::Target;

/// Longest text of a value in a message.
const SHOWN_CHARACTERS: usize = 600;

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Scenarios that were run.
    pub scenarios: usize,
    /// Steps of these.
    pub steps: usize,
    /// One message for each scenario that failed: file, scenario, step, expected, got.
    pub failures: Vec<String>,
}

/// Runs every scenario that holds for `strategy`, each on a target of its own.
pub async fn run_all<F>(files: &[VectorFile], strategy: &str, make: impl Fn() -> F) -> Report
where
    F: Future<Output = Arc<dyn Target>>,
{
    let mut report = Report::default();
    for file in files {
        for scenario in &file.scenarios {
            if scenario.only.as_deref().is_some_and(|only| only != strategy) {
                continue;
            }
            report.scenarios += 1;
            report.steps += scenario.steps.len();
            let waits = strategy == "ticket";
            if let Err(why) = run_scenario(scenario, make().await, waits).await {
                report.failures.push(format!("{}: {:?}, {why}", file.name, scenario.name));
            }
        }
    }
    report
}

async fn run_scenario(
    scenario: &Scenario,
    target: Arc<dyn Target>,
    waits: bool,
) -> Result<(), String> {
    let mut run = Run { target, waits, tokens: Tokens::default(), greatest: BTreeMap::new() };
    for (number, step) in scenario.steps.iter().enumerate() {
        if let Some(at_ms) = step.at_ms {
            run.target.set_clock(at_ms);
        }
        let now_ms = run.target.now_ms();
        let done = run.step(step).await;
        done.map_err(|why| format!("step {} at {now_ms} ms: {why}", number + 1))?;
    }
    Ok(())
}

struct Run {
    target: Arc<dyn Target>,
    /// Whoever meets another caller between deciding and writing is told to come again.
    waits: bool,
    tokens: Tokens,
    /// The greatest token so far of each scope and key.
    greatest: BTreeMap<(Option<String>, String), u64>,
}

impl Run {
    async fn step(&mut self, step: &Step) -> Result<(), String> {
        match &step.action {
            Action::Call { call, expect } => {
                let call = call.resolve(&self.tokens)?;
                let got = self.target.call(&call).await;
                if !self.tokens.fit(expect, &got) {
                    let (expected, got) = (show(expect), show(&got));
                    return Err(format!(
                        "{}\n  expected {expected}\n  got      {got}",
                        title(&call)
                    ));
                }
                self.check_token(&call, &got)
            }
            Action::Parallel { calls, expect } => self.parallel(calls, expect).await,
            Action::StoreSet(set) => {
                self.target.store_set(&set.key, set.value.bytes()).await;
                Ok(())
            }
            Action::StoreAbsent(key) => match self.target.store_get(key).await {
                None => Ok(()),
                Some(_) => Err(format!("{key} is still in the store")),
            },
        }
    }

    async fn parallel(&mut self, calls: &ParallelCalls, expect: &[Counted]) -> Result<(), String> {
        let specs = match calls {
            ParallelCalls::Times { times, step } => vec![(**step).clone(); *times],
            ParallelCalls::Each(specs) => specs.clone(),
        };
        let mut calls = JoinSet::new();
        for spec in &specs {
            let (call, target) = (spec.resolve(&self.tokens)?, Arc::clone(&self.target));
            calls.spawn(async move {
                let got = target.call(&call).await;
                (call, got)
            });
        }
        let mut answers = calls.join_all().await;
        if self.waits {
            self.ask_again(&mut answers).await;
        }
        self.fit_all(expect, answers.iter().map(|(_, got)| got).collect())?;
        answers.iter().try_for_each(|(call, got)| self.check_token(call, got))
    }

    /// Whoever was told that the outcome is unknown repeats the call. Where that is answered
    /// `already-done` and nobody was told `recorded`, one of them recorded it.
    async fn ask_again(&self, answers: &mut [(Call, Value)]) {
        let mut nobody = !answers.iter().any(|(_, got)| got["recorded"].is_object());
        for (call, got) in answers {
            if call.name != CallName::Complete || got["error"] != "outcome-unknown" {
                continue;
            }
            let again = self.target.call(call).await;
            let landed = nobody && again["lost"] == "already-done";
            nobody &= !landed && !again["recorded"].is_object();
            *got = if landed { json!({ "landed": true }) } else { again };
        }
    }

    /// Every answer is expected, as often as it came, in any order.
    fn fit_all(&mut self, expected: &[Counted], mut answers: Vec<&Value>) -> Result<(), String> {
        let all = answers.clone();
        for Counted { count, answer } in expected {
            for _ in 0..*count {
                let mut tokens = self.tokens.clone();
                let at = answers.iter().position(|got| {
                    tokens = self.tokens.clone();
                    tokens.fit(answer, got)
                });
                let at = at.or_else(|| {
                    let waits = self.waits && !is_change(answer);
                    let landed = answer["recorded"].is_object();
                    answers.iter().position(|got| {
                        waits && says_to_come_again(got) || landed && got["landed"] == true
                    })
                });
                let Some(at) = at else {
                    let mut why = format!("in parallel\n  expected {count} times {}", show(answer));
                    for got in &all {
                        let _ = write!(why, "\n  got      {}", show(got));
                    }
                    return Err(why);
                };
                answers.remove(at);
                self.tokens = tokens;
            }
        }
        match answers.first() {
            None => Ok(()),
            Some(got) => Err(format!("in parallel\n  an answer too many: {}", show(got))),
        }
    }

    /// Each claim has a greater token than all before it on its key.
    fn check_token(&mut self, call: &Call, got: &Value) -> Result<(), String> {
        let fresh = &got["fresh"]["token"];
        let recorded = &got["recorded"]["token"];
        let Some(token) = fresh.as_u64().or(recorded.as_u64()) else { return Ok(()) };
        let greatest = self.greatest.entry((call.scope.clone(), call.key.clone())).or_default();
        if fresh.is_u64() && token <= *greatest {
            return Err(format!("the new token {token} is not greater than {greatest} before it"));
        }
        *greatest = token.max(*greatest);
        Ok(())
    }
}

fn is_change(answer: &Value) -> bool {
    ["fresh", "recorded", "renewed"].iter().any(|change| answer[*change].is_object())
}

fn says_to_come_again(answer: &Value) -> bool {
    let hint_ms = answer["inflight"]["retry-after-ms"].as_u64();
    hint_ms.is_some_and(|ms| (1..=1_000).contains(&ms)) || answer["error"]["contended"].is_u64()
}

fn title(call: &Call) -> String {
    match call.name {
        CallName::Purge | CallName::CheckStore => format!("{:?}", call.name),
        _ => format!("{:?} of {}", call.name, cut(&format!("{:?}", call.key))),
    }
}

fn show(value: &Value) -> String {
    cut(&value.to_string())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        None => text.into(),
        Some((at, _)) => format!("{}... ({} bytes)", &text[..at], text.len()),
    }
}
