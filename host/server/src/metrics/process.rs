//! Resource use of this process, and of the disk of its store.

use std::{fmt, fs, path::Path};

use prometheus_client::registry::Unit;

use super::writer::MetricWriter;

/// Resource use of the process. Values that the system does not report are `None`.
#[derive(Clone, Debug, Default)]
pub(super) struct Process {
    cpu_seconds: Option<f64>,
    resident: Option<u64>,
    addresses: Option<u64>,
    threads: Option<u64>,
    files: Option<u64>,
    most_files: Option<u64>,
    started: Option<f64>,
}

/// A store's file, and the disk that it is on, in bytes.
pub(super) struct Room {
    pub(super) file: u64,
    pub(super) free: u64,
    pub(super) disk: u64,
}

impl Process {
    #[cfg(not(target_os = "linux"))]
    pub(super) fn now() -> Self {
        Self::default()
    }

    #[cfg(target_os = "linux")]
    pub(super) fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let kib = |name| field(&status, name).map(|kib| kib << 10);
        let files = fs::read_dir("/proc/self/fd").ok().map(|files| files.count() as u64);
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Self {
            cpu_seconds: std::time::Duration::try_from(cpu).ok().map(|cpu| cpu.as_secs_f64()),
            resident: kib("VmRSS"),
            addresses: kib("VmSize"),
            threads: field(&status, "Threads"),
            // One of them reads the list.
            files: files.map(|files| files.saturating_sub(1)),
            most_files: limit.current,
            started: started(),
        }
    }

    pub(super) fn tell(&self, sheet: &mut MetricWriter<'_>) -> fmt::Result {
        let seconds = Some(&Unit::Seconds);
        let float = |value: Option<f64>| value.map(|value| (Vec::new(), value));
        let one = |value: Option<u64>| value.map(|value| (Vec::new(), value));
        sheet.counters_in("process_cpu", "Time computed", seconds, float(self.cpu_seconds))?;
        sheet.bytes("process_resident_memory", "Memory", one(self.resident))?;
        sheet.bytes("process_virtual_memory", "Addresses in use", one(self.addresses))?;
        sheet.gauges("process_threads", "Threads", one(self.threads))?;
        sheet.gauges("process_open_fds", "Files and connections that are open", one(self.files))?;
        sheet.gauges("process_max_fds", "Files and connections that may be open", one(self.most_files))?;
        let since = "When the process began, since 1970";
        sheet.gauges_in("process_start_time", since, seconds, float(self.started))
    }
}

/// A number of `/proc/self/status`.
#[cfg(target_os = "linux")]
fn field(status: &str, name: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    value.split_whitespace().next()?.parse().ok()
}

/// Clock ticks per second in `/proc`.
#[cfg(target_os = "linux")]
const CLOCK_TICKS_PER_SECOND: f64 = 100.0;

/// When this process began, in seconds since 1970: what it is told in ticks since the machine began.
#[cfg(target_os = "linux")]
fn started() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let ticks: f64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let machine = fs::read_to_string("/proc/stat").ok()?;
    let began: f64 = machine.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(began + ticks / CLOCK_TICKS_PER_SECOND)
}

/// How much room a store in `file` takes and has.
#[cfg(unix)]
pub(super) fn room(file: &Path) -> Option<Room> {
    let size = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    let log = file.file_name().map(|name| {
        let mut name = name.to_owned();
        name.push("-wal");
        file.with_file_name(name)
    });
    let disk = rustix::fs::statvfs(file.parent()?).ok()?;
    Some(Room {
        file: size(file).saturating_add(log.as_deref().map_or(0, size)),
        free: disk.f_bavail.saturating_mul(disk.f_frsize),
        disk: disk.f_blocks.saturating_mul(disk.f_frsize),
    })
}

#[cfg(not(unix))]
pub(super) fn room(_: &Path) -> Option<Room> {
    None
}
