//! The checks that a plugin is put to.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use phasm::{
    Value,
    engine::{outcome::Outcome, plan::PinnedExecutor, value::Map},
    plugins::PluginView,
    sandbox::{FaultKind, Grants, WallClock},
};

use super::{
    bench::{CallRequest, CallResult, TestBench},
    example::PluginExample,
    report::{Check, Figures, Report, Verdict},
    variants::variants,
};

/// Time after which an attempt that has to end is late.
const GRACE: Duration = Duration::from_secs(2);
/// Time that is left to an attempt which has to end early.
const SHORT_TIME: Duration = Duration::from_millis(20);
/// Calls whose median is the time of a warm one.
const WARM_CALLS: usize = 21;
/// The least memory that an attempt is called with, in bytes.
const LEAST_MEMORY: u64 = 1 << 20;

/// A plugin under test.
pub(super) struct Subject<'a> {
    pub(super) view: &'a PluginView,
    /// The file of the component.
    pub(super) file: PathBuf,
    pub(super) grants: Grants,
    pub(super) bench: &'a TestBench,
    pub(super) executor: PinnedExecutor,
    pub(super) examples: Vec<PluginExample>,
}

impl Subject<'_> {
    /// Makes all checks, each of which `told` is told at once.
    pub(super) async fn check(&self, mut told: impl FnMut(&Check)) -> Report {
        let mut report = Report::new(self.view);
        let mut add = |check: Check| {
            told(&check);
            report.checks.push(check);
        };
        self.check_manifest(&mut add);
        let mut figures = Figures { bytes: self.view.bytes, ..Figures::default() };
        match self.bench.compile().await {
            Ok(took) => figures.first_compile = Some(took),
            Err(why) => {
                add(Check::new("component", "can be used", Verdict::Failed, why));
                report.figures = figures;
                return report;
            }
        }
        let mut reached = Vec::new();
        let mut usual = None;
        for example in &self.examples {
            let (check, result) = self.check_example(example).await;
            reached.push(result.outcome.code);
            if usual.is_none() && check.verdict == Verdict::Passed && example.code == 0 {
                usual = Some(example);
            }
            add(check);
        }
        self.check_codes(&reached, &mut add);
        let Some(usual) = usual else {
            let why = "no example of the manifest ends with code 0 here, which the other checks begin from";
            add(Check::new("example", "succeeds", Verdict::Skipped, why.to_owned()));
            report.figures = figures;
            return report;
        };
        self.check_determinism(&mut add).await;
        self.check_time(usual, &mut add).await;
        self.check_inputs(usual, &mut add).await;
        self.check_grants(&mut add).await;
        figures.least_memory = self.check_memory(usual, &mut add).await;
        figures.warm_call = Some(self.warm_call(usual).await);
        report.figures = figures;
        report
    }

    fn check_manifest(&self, add: &mut impl FnMut(Check)) {
        for (name, schema) in [("inputs", &self.view.inputs), ("outputs", &self.view.outputs)] {
            let check = |verdict, why: &str| {
                Check::new("manifest", format!("describes its {name}"), verdict, why.to_owned())
            };
            add(if schema.is_null() {
                check(
                    Verdict::Skipped,
                    "the manifest has no schema of them, so workflows are not checked when they are submitted",
                )
            } else {
                check(Verdict::Passed, "")
            });
        }
        if self.examples.is_empty() {
            let why = "the manifest has none; give some, each with `inputs` and the `code` or `outputs` that they lead to";
            add(Check::new("manifest", "has examples", Verdict::Failed, why.to_owned()));
        }
        for example in &self.examples {
            let settings = Value::from(example.settings.clone());
            if let Some(why) = self.executor.check_inputs(&settings, example.inputs.iter()) {
                let why = format!("{why}; a workflow with these inputs is refused");
                add(Check::new("manifest", format!("inputs of {}", example.name()), Verdict::Failed, why));
            }
            if !self.view.codes.is_empty()
                && example.code > 1
                && self.view.codes.iter().all(|one| one.code != example.code)
            {
                let why = format!("code {} is not among `codes`", example.code);
                add(Check::new("manifest", format!("code of {}", example.name()), Verdict::Failed, why));
            }
        }
    }

    async fn check_example(&self, example: &PluginExample) -> (Check, CallResult) {
        let result = self.bench.call_example(example).await;
        let lacking = self.view.wants.lacking(&self.grants);
        let (verdict, why) = match self.mismatch(example, &result) {
            None => (Verdict::Passed, format!("code {}", result.outcome.code)),
            // The example may need that grant.
            Some(_) if !lacking.is_empty() => {
                let why = format!(
                    "it asks for {} under [grants.{}], which the configuration does not grant",
                    lacking.join(", "),
                    self.view.name
                );
                (Verdict::Skipped, why)
            }
            Some(why) => (Verdict::Failed, why),
        };
        (Check::new("example", example.name(), verdict, why).took(result.took), result)
    }

    /// Returns what differs from an example.
    fn mismatch(&self, example: &PluginExample, result: &CallResult) -> Option<String> {
        let outcome = &result.outcome;
        if outcome.code != example.code {
            return Some(format!("expected code {}, got {}", example.code, told(outcome)));
        }
        for (name, expected) in &example.outputs {
            match output(outcome, name) {
                Some(found) if found == expected => {}
                Some(found) => {
                    return Some(format!(
                        "output `{name}`: expected {}, got {}",
                        brief(expected),
                        brief(found)
                    ));
                }
                None => return Some(format!("output `{name}`: expected {}, got none", brief(expected))),
            }
        }
        if let Some(part) = example.message.as_deref().filter(|part| !outcome.message.contains(part)) {
            return Some(format!("expected a message with {part:?}, got {:?}", &*outcome.message));
        }
        self.unfit(outcome)
    }

    /// Returns the output of a success that does not fit the manifest.
    fn unfit(&self, outcome: &Outcome) -> Option<String> {
        if outcome.code != 0 {
            return None;
        }
        let outputs = outcome.outputs.iter().map(|output| (output.name.clone(), output.value.clone()));
        self.executor.check_outputs(&Value::from(outputs.collect::<Map>()))
    }

    fn check_codes(&self, reached: &[i32], add: &mut impl FnMut(Check)) {
        for declared in &self.view.codes {
            let name = format!("code {} ({})", declared.code, declared.meaning);
            add(if reached.contains(&declared.code) {
                Check::new("codes", name, Verdict::Passed, String::new())
            } else {
                Check::new("codes", name, Verdict::Failed, "no example leads to it".to_owned())
            });
        }
    }

    async fn check_determinism(&self, add: &mut impl FnMut(Check)) {
        if !self.view.deterministic {
            let why = "the manifest does not claim it";
            return add(Check::new("deterministic", "all examples", Verdict::Skipped, why.to_owned()));
        }
        for example in &self.examples {
            let first = self.bench.call_example(example).await.outcome;
            let second = self.bench.call_example(example).await.outcome;
            let is_same = first.code == second.code
                && first.message == second.message
                && first.outputs == second.outputs;
            let why =
                if is_same { String::new() } else { format!("{}, then {}", told(&first), told(&second)) };
            let verdict = if is_same { Verdict::Passed } else { Verdict::Failed };
            add(Check::new("deterministic", example.name(), verdict, why));
        }
    }

    async fn check_time(&self, usual: &PluginExample, add: &mut impl FnMut(Check)) {
        let request = CallRequest { timeout: Some(SHORT_TIME), ..CallRequest::of(usual) };
        let result = self.bench.call(&request).await;
        let name = format!("ends within {} ms, its remaining time", SHORT_TIME.as_millis());
        let (verdict, why) = if result.took > SHORT_TIME + GRACE {
            (Verdict::Failed, format!("it took {} ms", result.took.as_millis()))
        } else {
            (Verdict::Passed, told(&result.outcome))
        };
        add(Check::new("time", name, verdict, why).took(result.took));
        let begin = Instant::now();
        let has_left = self.bench.cancels(&CallRequest::of(usual), SHORT_TIME / 4, GRACE).await;
        let (verdict, why) = if has_left {
            (Verdict::Passed, String::new())
        } else {
            (Verdict::Failed, format!("the cancelled attempt still ran after {} s", GRACE.as_secs()))
        };
        add(Check::new("time", "ends when it is cancelled", verdict, why).took(begin.elapsed()));
    }

    async fn check_inputs(&self, usual: &PluginExample, add: &mut impl FnMut(Check)) {
        for variant in variants(&self.executor, &usual.settings, &usual.inputs) {
            let request = CallRequest { inputs: variant.inputs, ..CallRequest::of(usual) };
            let result = self.bench.call(&request).await;
            let (verdict, why) = match (result.fault, self.unfit(&result.outcome)) {
                // A limit of the operator that a large value meets is said as such.
                (None | Some(FaultKind::Limit), None) => (Verdict::Passed, told(&result.outcome)),
                (None | Some(FaultKind::Limit), Some(unfit)) => (Verdict::Failed, unfit),
                (Some(fault), _) => (Verdict::Failed, ended_by(fault, &result.outcome)),
            };
            add(Check::new("inputs", variant.name, verdict, why).took(result.took));
        }
    }

    /// Takes each grant away, one after the other. The plugin must say why it cannot work, and not trap.
    async fn check_grants(&self, add: &mut impl FnMut(Check)) {
        for (name, grants) in without_each(&self.grants) {
            let bench = self.bench.granted(self.file.clone(), grants);
            for example in &self.examples {
                let result = bench.call_example(example).await;
                let (verdict, why) = match result.fault {
                    None => (Verdict::Passed, told(&result.outcome)),
                    Some(fault) => (Verdict::Failed, ended_by(fault, &result.outcome)),
                };
                add(Check::new("grants", format!("{}, without {name}", example.name()), verdict, why)
                    .took(result.took));
            }
        }
    }

    /// Calls with less and less room. Returns the least power of two of memory that the example succeeds with, in bytes.
    async fn check_memory(&self, usual: &PluginExample, add: &mut impl FnMut(Check)) -> Option<u64> {
        let mut memory = LEAST_MEMORY;
        while memory <= self.bench.memory_limit() {
            let request = CallRequest { memory: Some(memory), ..CallRequest::of(usual) };
            let result = self.bench.call(&request).await;
            if result.outcome.code == usual.code {
                return Some(memory);
            }
            let (verdict, why) = match result.fault {
                Some(FaultKind::Exit | FaultKind::Timeout) => (
                    Verdict::Failed,
                    format!("it does not end for lack of memory: {}", told(&result.outcome)),
                ),
                _ => (Verdict::Passed, told(&result.outcome)),
            };
            add(Check::new("memory", format!("ends with {} MiB", memory >> 20), verdict, why)
                .took(result.took));
            memory *= 2;
        }
        None
    }

    async fn warm_call(&self, usual: &PluginExample) -> Duration {
        let mut times = Vec::with_capacity(WARM_CALLS);
        for _ in 0..WARM_CALLS {
            times.push(self.bench.call(&CallRequest::of(usual)).await.took);
        }
        times.sort_unstable();
        times.get(WARM_CALLS / 2).copied().unwrap_or_default()
    }
}

/// Returns the grants without each part of them, with its name.
fn without_each(grants: &Grants) -> Vec<(String, Grants)> {
    let mut all = Vec::new();
    for (at, dir) in grants.dirs.iter().enumerate() {
        let mut dirs = grants.dirs.clone();
        dirs.remove(at);
        all.push((format!("the directory {}", dir.guest), Grants { dirs, ..grants.clone() }));
    }
    if !grants.http.is_empty() {
        all.push(("requests".to_owned(), Grants { http: Default::default(), ..grants.clone() }));
    }
    if !grants.tcp.is_empty() {
        all.push(("TCP connections".to_owned(), Grants { tcp: Default::default(), ..grants.clone() }));
    }
    if !grants.env.is_empty() {
        all.push(("its environment".to_owned(), Grants { env: Default::default(), ..grants.clone() }));
    }
    if matches!(grants.wall_clock, WallClock::Real) {
        all.push((
            "the real clock".to_owned(),
            Grants { wall_clock: WallClock::default(), ..grants.clone() },
        ));
    }
    all
}

fn output<'o>(outcome: &'o Outcome, name: &str) -> Option<&'o Value> {
    outcome.outputs.iter().rfind(|output| &*output.name == name).map(|output| &output.value)
}

/// Returns an outcome in a few words.
fn told(outcome: &Outcome) -> String {
    if outcome.message.is_empty() {
        format!("code {}", outcome.code)
    } else {
        format!("code {}: {}", outcome.code, outcome.message)
    }
}

fn ended_by(fault: FaultKind, outcome: &Outcome) -> String {
    let word = match fault {
        FaultKind::Timeout => "did not end in its time",
        FaultKind::Limit => "met a limit",
        FaultKind::Exit => "exited instead of returning an outcome",
        FaultKind::Trap => "trapped instead of returning an outcome",
    };
    format!("it {word}: {}", outcome.message)
}

/// Longest value in a detail, in bytes.
const MAX_VALUE_BYTES: usize = 200;

fn brief(value: &Value) -> String {
    phasm::engine::text::cut(&value.to_json(), MAX_VALUE_BYTES).into_owned()
}
