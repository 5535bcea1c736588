//! The size of a large run: bytes of journal and of memory a task.

use std::{fs, sync::Arc};

use phasm::{
    engine::{run::Run, value::Map},
    store::{Sqlite, Store},
};

use crate::{Bench, plan, raw, workflows};

/// Prints the size of a loop over numbers, and of a wide dag with small objects, in a file, next to the plan and the document.
pub(crate) fn print(bench: &Bench) {
    println!("{:<48} {:>16} {:>16}", "bytes a task", "journal", "memory");
    // A document has 16 MiB at most.
    let sizes = [("a loop", 100_000), ("wide", 50_000)].map(|(name, tasks)| (name, bench.scaled(tasks)));
    for (name, tasks) in sizes {
        let text = if name == "wide" { workflows::wide(tasks) } else { workflows::repeated(tasks) };
        let dir = tempfile::tempdir().expect("a directory for stores");
        let store = Arc::new(Sqlite::open(dir.path().join("size.db")).expect("a store"));
        let host = bench.host(Some(Arc::clone(&store) as Arc<dyn Store>));
        let (before, run) = bench.runtime.block_on(async {
            let plan = plan(&host, &text).await;
            let before = resident();
            let handle = host.submit(&plan, &Map::new()).await.expect("submitted");
            let run: Arc<Run> = handle.ended().await.expect("an end");
            (before, run)
        });
        let memory = resident().saturating_sub(before);
        let journal = bench.runtime.block_on(raw::written(&store)).bytes;
        let each = |bytes: usize| bytes / tasks as usize;
        println!("{:<48} {:>16} {:>16}", format!("{name} of {tasks}"), each(journal), each(memory));
        drop(run);
    }
}

/// Memory that this process has, in bytes.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default() * 4096
}
