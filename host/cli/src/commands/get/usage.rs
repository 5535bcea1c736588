//! Resources that attempts used, as a table.

use phasm::engine::run::{AttemptView, RunView, TaskView, UsageView};

use crate::terminal::text;

/// A line for each attempt that was measured, and one for all together.
pub(super) fn table(view: &RunView) -> String {
    let Some(all) = view.usage else {
        return "this run has no measurements\n".to_owned();
    };
    let tasks = view.tasks.iter().chain(view.hooks.iter().map(|hook| &hook.task));
    let lines = tasks.flat_map(|task| task.attempts.iter().filter_map(|attempt| line(task, attempt)));
    let header = ["TASK", "ATTEMPT", "CPU", "MEMORY", "IN", "OUT", "CALLS"];
    text::table(header, lines.chain([cells("all".to_owned(), String::new(), all)]))
}

fn line(task: &TaskView, attempt: &AttemptView) -> Option<[String; 7]> {
    let path = if task.scope.is_empty() {
        task.task_name.to_string()
    } else {
        format!("{}/{}", task.scope, task.task_name)
    };
    Some(cells(text::clean(&path).into_owned(), attempt.number.to_string(), attempt.usage?))
}

fn cells(task: String, attempt: String, usage: UsageView) -> [String; 7] {
    let UsageView { cpu_us, memory_bytes, bytes_in, bytes_out, host_calls } = usage;
    let [memory, bytes_in, bytes_out] = [memory_bytes, bytes_in, bytes_out].map(size);
    [task, attempt, time(cpu_us), memory, bytes_in, bytes_out, host_calls.to_string()]
}

/// `35 µs`, `1.3 ms`, then as any length of time.
fn time(micros: u64) -> String {
    match micros {
        0..1000 => format!("{micros} µs"),
        1000..10_000 => format!("{}.{} ms", micros / 1000, micros % 1000 / 100),
        _ => text::elapsed(micros / 1000),
    }
}

/// Bytes for people, roughly.
fn size(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} B"),
        10_240..10_485_760 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rough() {
        let times =
            [(0, "0 µs"), (999, "999 µs"), (1_390, "1.3 ms"), (10_000, "10 ms"), (61_000_000, "1 min 01 s")];
        times.iter().for_each(|(micros, text)| assert_eq!(time(*micros), *text));
        let sizes = [(0, "0 B"), (10_239, "10239 B"), (65_536, "64 KiB"), (64 << 20, "64 MiB")];
        sizes.iter().for_each(|(bytes, text)| assert_eq!(size(*bytes), *text));
    }
}
