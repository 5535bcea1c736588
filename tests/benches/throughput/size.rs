//! What a large run takes: bytes of journal and of memory a task.

use std::{fs, sync::Arc};

use phasm::{
    engine::{run::Run, value::Map},
    store::{Sqlite, Store},
};

use crate::{Bench, plan, raw, workflows};

/// Of a loop with a number and of a wide dag with a small object, each of 100 000, in memory and in a file.
pub(crate) fn print(bench: &Bench) {
    println!("{:<48} {:>16} {:>16}", "bytes a task", "journal", "memory");
    let tasks = bench.scaled(100_000);
    for (name, text) in [("a loop", workflows::repeated(tasks)), ("wide", workflows::wide(tasks))] {
        let dir = tempfile::tempdir().expect("a directory for stores");
        let store = Arc::new(Sqlite::open(dir.path().join("size.db")).expect("a store"));
        let host = bench.host(Some(Arc::clone(&store) as Arc<dyn Store>));
        let before = resident();
        let (document, run) = bench.runtime.block_on(async {
            let plan = plan(&host, &text).await;
            let handle = host.submit(&plan, &Map::new()).await.expect("submitted");
            let run: Arc<Run> = handle.ended().await.expect("an end");
            (plan.document.to_json().len(), run)
        });
        let memory = resident().saturating_sub(before);
        let journal = bench.runtime.block_on(raw::written(&store)).bytes.saturating_sub(document);
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
