//! The cost of runs that only wait, and of runs that have ended: 100 000 suspended runs of a document with 100 tasks, and 200 000
//! finished ones, each in a file of its own.
//!
//! `cargo bench --bench parked` prints the cost of opening and recovering, memory for each run, the time to resume one, and
//! the change that finished runs make. `PHASM_BENCH_SCALE=0.1` makes less of everything. Each part is measured in a process of
//! its own.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark is a program for people"
)]

use std::{
    env, fs,
    future::Future,
    path::Path,
    pin::Pin,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use phasm::{
    Host, Keep, Map, Outcome, Phase, Plan, Retention, RunHandle,
    engine::time::Timestamp,
    executor::{Executor, Invocation, Observer},
    store::{Filter, Sqlite, Store},
};

/// The allocator of the `phasm` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PARKED: usize = 100_000;
const FINISHED: usize = 200_000;
/// Runs of ten tasks that tell the throughput, and how many of them are under way at once.
const DRIVEN: usize = 2_000;
const AT_ONCE: usize = 500;

/// Suspends the tasks that ask; everything else succeeds at once. Another benchmark has the cost of guests.
struct Answers;

impl Executor for Answers {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let code = i32::from(&*call.executor_type == "ask" && !call.resumed);
        Box::pin(async move { Outcome { code, ..Outcome::default() } })
    }
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if arguments.iter().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [part, file] => block_on(measure(part, Path::new(file))),
        _ => all(),
    }
}

/// Each part in a process of its own, so that none is measured with another's memory.
fn all() {
    let dir = env::temp_dir().join(format!("phasm-parked-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("a directory");
    let part = |part: &str, file: &str| {
        let program = env::current_exe().expect("this program");
        let status = Command::new(program).arg(part).arg(dir.join(file)).status().expect("a process");
        assert!(status.success(), "{part}: {status}");
    };
    part("park", "parked.db");
    part("recover", "none.db");
    part("recover", "parked.db");
    part("resume", "parked.db");
    part("drive", "warm.db");
    for _ in 0..3 {
        part("drive", "none.db");
        part("drive", "parked.db");
    }
    part("finish", "finished.db");
    part("recover", "finished.db");
    for _ in 0..3 {
        part("drive", "none.db");
        part("drive", "finished.db");
    }
    part("prune", "finished.db");
    fs::remove_dir_all(dir).expect("a directory");
}

async fn measure(part: &str, file: &Path) {
    match part {
        "park" => park(file).await,
        "recover" => recover(file).await,
        "resume" => resume(file).await,
        "finish" => finish(file).await,
        "drive" => drive(file).await,
        "prune" => prune(file).await,
        _ => panic!("there is no part {part}"),
    }
}

fn block_on(part: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(part);
}

fn open(file: &Path, claims: bool) -> Host {
    let store = Arc::new(Sqlite::open(file).expect("a store"));
    let builder = Host::builder().store(store as Arc<dyn Store>).executor(Arc::new(Answers));
    let builder = if claims { builder.auto_claim(Duration::ZERO) } else { builder };
    builder.open().expect("a host")
}

/// A chain of so many tasks, of which the first asks or does not.
async fn plan(host: &Host, tasks: usize, first: &str) -> Arc<Plan> {
    let task = |number: usize| {
        let (executor, before) = if number == 0 { (first, "") } else { ("work", "x") };
        let before = if before.is_empty() { String::new() } else { format!("\"t{}\"", number - 1) };
        format!(
            r#"{{"name": "t{number}", "dependencies": [{before}], "executor": {{"type": "{executor}",
                "config": {{"note": "what a task of some size says about itself"}}}}}}"#
        )
    };
    let tasks: Vec<String> = (0..tasks).map(task).collect();
    let text = format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w"}}, "spec": {{"entrypoint": "main",
            "templates": [{{"dag": {{"name": "main", "tasks": [{}]}}}}]}}}}"#,
        tasks.join(", ")
    );
    host.plan("w.json", &text).await.expect("a plan")
}

/// Submits so many runs, `AT_ONCE` at a time, each until `reached`.
async fn submit<F: Future<Output = ()> + Send + 'static>(
    host: &Host,
    plan: &Arc<Plan>,
    count: usize,
    reached: fn(RunHandle) -> F,
) {
    let mut under_way = tokio::task::JoinSet::new();
    for _ in 0..count {
        let run = host.submit(plan, &Map::new()).await.expect("a run");
        under_way.spawn(reached(run));
        if under_way.len() >= AT_ONCE
            && let Some(ended) = under_way.join_next().await
        {
            ended.expect("no panic");
        }
    }
    while let Some(ended) = under_way.join_next().await {
        ended.expect("no panic");
    }
}

async fn parked(run: RunHandle) {
    run.wait_or_park().await.expect("a parked run");
}

async fn ended(run: RunHandle) {
    run.ended().await.expect("a run that ended");
}

async fn close(host: Host) {
    tokio::task::spawn_blocking(move || host.close()).await.expect("a host that closes");
}

async fn park(file: &Path) {
    let host = open(file, true);
    let plan = plan(&host, 100, "ask").await;
    let (start, count) = (Instant::now(), scaled(PARKED));
    submit(&host, &plan, count, parked).await;
    close(host).await;
    let bytes = size(file);
    println!(
        "{count} runs of 100 tasks parked in {:.1} s: {:.0} bytes of file each",
        start.elapsed().as_secs_f64(),
        each(bytes, count)
    );
}

/// From an open program to a host that has taken up all that has something to do.
async fn recover(file: &Path) {
    let before = resident();
    let start = Instant::now();
    let host = open(file, false);
    let recovered = host.recover().await.expect("a store").len();
    let census = host.store().census(Timestamp(0)).await.expect("a store");
    let took = start.elapsed();
    println!(
        "open and recover {}: {:.0} ms, {recovered} taken up, {} left parked, {} KiB of memory more",
        name(file),
        took.as_secs_f64() * 1e3,
        census.parked,
        (resident() - before) >> 10
    );
    close(host).await;
}

async fn resume(file: &Path) {
    let host = open(file, true);
    let rows = host.store().list(Filter::default(), 100).await.expect("rows");
    let mut took = Vec::new();
    for row in &rows {
        let start = Instant::now();
        let run = host.recover_run(&row.head.run_id).await.expect("a run");
        assert!(run.resume("t0", Map::new()).await.expect("an answer"), "it was suspended");
        took.push(start.elapsed());
        assert_eq!(run.wait().await.expect("an end").phase, Phase::Succeeded);
    }
    took.sort_unstable();
    let ms = |at: usize| took.get(at).map_or(0.0, |took| took.as_secs_f64() * 1e3);
    println!(
        "resume one of them: median {:.2} ms, worst of {} {:.2} ms",
        ms(rows.len() / 2),
        rows.len(),
        ms(rows.len() - 1)
    );
    close(host).await;
}

async fn finish(file: &Path) {
    let host = open(file, true);
    let plan = plan(&host, 1, "work").await;
    let (start, count) = (Instant::now(), scaled(FINISHED));
    submit(&host, &plan, count, ended).await;
    close(host).await;
    println!(
        "{count} runs of 1 task finished in {:.1} s: {:.0} bytes of file each",
        start.elapsed().as_secs_f64(),
        each(size(file), count)
    );
}

async fn drive(file: &Path) {
    let host = open(file, true);
    let plan = plan(&host, 10, "work").await;
    let start = Instant::now();
    submit(&host, &plan, DRIVEN, ended).await;
    let took = start.elapsed();
    println!(
        "{DRIVEN} runs of 10 tasks beside {}: {:.0} tasks/s",
        name(file),
        10.0 * DRIVEN as f64 / took.as_secs_f64()
    );
    close(host).await;
}

/// Deletes all that has ended while other runs go on.
async fn prune(file: &Path) {
    let host = open(file, true);
    let plan = plan(&host, 10, "work").await;
    let (before, start) = (size(file), Instant::now());
    let retention = Retention { others: Keep { count: Some(0), ..Keep::default() }, ..Retention::default() };
    let beside = Sqlite::beside(file).expect("a store");
    let artifacts = phasm::artifacts::HostArtifacts::default();
    let pruned = phasm::prune(&beside, &retention, Timestamp(0), &artifacts);
    let (pruned, ()) = tokio::join!(pruned, submit(&host, &plan, DRIVEN, ended));
    let took = start.elapsed();
    drop(beside);
    close(host).await;
    println!(
        "{} runs deleted in {:.1} s, {DRIVEN} runs of 10 tasks beside it: {} MiB of file before, {} after",
        pruned.expect("a store").deleted,
        took.as_secs_f64(),
        before >> 20,
        size(file) >> 20
    );
}

fn scaled(count: usize) -> usize {
    let scale: f64 = env::var("PHASM_BENCH_SCALE").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    ((count as f64 * scale) as usize).max(100)
}

fn name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn each(bytes: u64, count: usize) -> f64 {
    bytes as f64 / count as f64
}

fn size(file: &Path) -> u64 {
    fs::metadata(file).expect("a file").len()
}

/// Bytes of memory that this process has.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") << 10
}
