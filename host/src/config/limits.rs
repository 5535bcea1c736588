//! `[limits]`: what every guest may use.

use std::{num::NonZeroUsize, time::Duration};

use phasm_engine::{
    form::{Field, Form, Object, SIZE, SIZE_OR_0, TIMEOUT, Table, whole},
    time::Millis,
};

use super::isolation::{self, ISOLATION};
use phasm_sandbox::{Isolation, Limits};

static TABLE: Table = Table::closed(
    "limits",
    "Limits of every guest. Sizes are bytes or text such as `64 MiB`, `64Mi` or `64 MB`; all values are above 0, except `kept-log`.",
    &[
        &MEMORY,
        &ALL_MEMORY,
        &CPU,
        &STACK,
        &OUTPUT,
        &OUTPUT_VALUES,
        &LOG,
        &KEPT_LOG,
        &LINE,
        &TCP_CONNECTS,
        &TCP_CONNECTIONS,
        &TCP_SENT,
        &TCP_RECEIVED,
        &TCP_CONNECT_TIME,
        &HOSTCALL,
        &RANDOM,
        &COMPONENT,
        &COMPILE_MEMORY,
        &COMPILE_TIME,
        &MEMORIES,
        &TABLES,
        &TABLE_ELEMENTS,
        &INSTANCES,
        &HANDLES,
        &RESOURCES,
        &DESCRIPTORS,
        &SLOTS,
        &ISOLATION_TIER,
        &PROCESSES,
        &THREADS,
        &ENGINE_THREADS,
    ],
    &[],
);

const COUNT: Form<u32> = whole::<u32, 1, { u32::MAX as i64 }>();

static MEMORY: Field<u64> =
    Field::optional("memory", SIZE, "Linear memory of a guest; tenants, plugins and tasks can have less.")
        .or("64 MiB");
static ALL_MEMORY: Field<u64> = Field::optional(
    "all-memory",
    SIZE,
    "Linear memory of all guests together; without it half of the memory of the machine or its control group. Half of it is divided among the slots, \
     the other half is for guests that need more than their part.",
);
static CPU: Field<Millis> = Field::optional(
    "cpu",
    TIMEOUT,
    "CPU time of an attempt; waiting is not counted. Without it only the attempt's timeouts apply.",
);
static STACK: Field<u64> = Field::optional("stack", SIZE, "Stack of the guest's functions.").or("512 KiB");
static OUTPUT: Field<u64> =
    Field::optional("output", SIZE, "Outputs, message and detail of an attempt together.").or("8 MiB");
static OUTPUT_VALUES: Field<u32> = Field::optional(
    "output-values",
    COUNT,
    "JSON values in outputs and detail of an attempt together: elements, members, and their containers.",
)
.or("250000");
static LOG: Field<u64> = Field::optional("log", SIZE, "Log text of an attempt.").or("1 MiB");
static KEPT_LOG: Field<u64> = Field::optional(
    "kept-log",
    SIZE_OR_0,
    "The end of an attempt's log that a store keeps for `phasm logs`: at most 16 MiB, with 0 nothing.",
)
.or("64 KiB");
static LINE: Field<u64> = Field::optional("line", SIZE, "One log line; the rest is cut off.").or("8 KiB");
static TCP_CONNECTS: Field<u32> = Field::optional(
    "tcp-connects",
    COUNT,
    "TCP connections that an attempt begins, and names that it looks up for them: so many of either.",
)
.or("100");
static TCP_CONNECTIONS: Field<u32> =
    Field::optional("tcp-connections", COUNT, "TCP connections of an attempt at once; one more is refused.")
        .or("8");
static TCP_SENT: Field<u64> =
    Field::optional("tcp-sent", SIZE, "Bytes that an attempt sends by TCP.").or("16 MiB");
static TCP_RECEIVED: Field<u64> =
    Field::optional("tcp-received", SIZE, "Bytes that an attempt receives by TCP.").or("64 MiB");
static TCP_CONNECT_TIME: Field<Millis> = Field::optional(
    "tcp-connect-time",
    TIMEOUT,
    "Time until a TCP connection is established, including the wait for other connections to end.",
)
.or("30s");
static HOSTCALL: Field<u64> =
    Field::optional("hostcall", SIZE, "Bytes that a guest passes to the host in one call.").or("16 MiB");
static RANDOM: Field<u64> = Field::optional("random", SIZE, "Random bytes in one call.").or("1 MiB");
static COMPONENT: Field<u64> =
    Field::optional("component", SIZE, "A component before it is compiled.").or("64 MiB");
static COMPILE_MEMORY: Field<u64> =
    Field::optional("compile-memory", SIZE, "Memory of a process that compiles a component.").or("1 GiB");
static COMPILE_TIME: Field<Millis> = Field::optional(
    "compile-time",
    TIMEOUT,
    "CPU time of a process that compiles a component; it may run four times as long.",
)
.or("60s");
static MEMORIES: Field<u32> = Field::optional("memories", COUNT, "Memories of a guest.").or("8");
static TABLES: Field<u32> = Field::optional("tables", COUNT, "Tables of a guest.").or("16");
static TABLE_ELEMENTS: Field<u32> =
    Field::optional("table-elements", COUNT, "Elements of a table.").or("65536");
static INSTANCES: Field<u32> = Field::optional("instances", COUNT, "Core instances of a guest.").or("64");
static HANDLES: Field<u32> =
    Field::optional("handles", COUNT, "Handles of the component model that are alive at once.").or("10000");
static RESOURCES: Field<u32> =
    Field::optional("resources", COUNT, "Files, streams and timers that are alive at once.").or("1000");
static DESCRIPTORS: Field<u32> = Field::optional(
    "descriptors",
    COUNT,
    "Files, directories and streams of them that an attempt has open at once. All attempts together have half of the descriptors of the process, \
     a plugin's as many of these as are free, a tenant's three times as many.",
)
.or("64");
static SLOTS: Field<u32> =
    Field::optional("slots", COUNT, "Attempts in flight at once; fewer where the machine has no room.")
        .or("2048");
static ISOLATION_TIER: Field<isolation::Tier> = Field::optional(
    "isolation",
    ISOLATION,
    "Isolation of attempts unless the plugin's grant sets it: together in the host's process (`shared`), or in locked-down processes of \
     their own (`process`).",
)
.or("shared");
static PROCESSES: Field<u32> =
    Field::optional("processes", COUNT, "Attempts in processes of their own at once; others wait.").or("32");
static THREADS: Field<u32> =
    Field::optional("threads", COUNT, "Threads that guests compute on; without it one for each core.");

static ENGINE_THREADS: Field<u32> = Field::optional(
    "engine-threads",
    COUNT,
    "Threads that schedule runs; without it a quarter of the cores, at least one.",
);

/// `[limits]` as written, over the defaults.
#[derive(Default)]
pub(super) struct LimitsTable {
    pub(super) limits: Limits,
    pub(super) all_memory: Option<u64>,
    pub(super) kept_log: Option<u64>,
    pub(super) slots: Option<u32>,
    pub(super) isolation: Isolation,
    pub(super) processes: Option<u32>,
    pub(super) threads: Option<NonZeroUsize>,
    pub(super) engine_threads: Option<NonZeroUsize>,
}

pub(super) const LIMITS: Form<LimitsTable> = Form::new(
    |cursor, report| Some(LimitsTable::read(&cursor.object(&TABLE, report)?)),
    |defs| defs.object(&TABLE),
);

impl LimitsTable {
    fn read(object: &Object<'_, '_>) -> Self {
        let mut limits = Limits::default();
        let sizes = [
            (&MEMORY, &mut limits.memory),
            (&STACK, &mut limits.stack),
            (&OUTPUT, &mut limits.output),
            (&LOG, &mut limits.log),
            (&LINE, &mut limits.line),
            (&TCP_SENT, &mut limits.tcp_sent),
            (&TCP_RECEIVED, &mut limits.tcp_received),
            (&HOSTCALL, &mut limits.hostcall),
            (&RANDOM, &mut limits.random),
            (&COMPONENT, &mut limits.component),
            (&COMPILE_MEMORY, &mut limits.compile_memory),
        ];
        sizes.into_iter().for_each(|(field, limit)| replace(limit, object.optional(field)));
        let counts = [
            (&OUTPUT_VALUES, &mut limits.output_values),
            (&MEMORIES, &mut limits.memories),
            (&TABLES, &mut limits.tables),
            (&TABLE_ELEMENTS, &mut limits.table_elements),
            (&INSTANCES, &mut limits.instances),
            (&HANDLES, &mut limits.handles),
            (&RESOURCES, &mut limits.resources),
            (&DESCRIPTORS, &mut limits.descriptors),
            (&TCP_CONNECTS, &mut limits.tcp_connects),
            (&TCP_CONNECTIONS, &mut limits.tcp_connections),
        ];
        counts.into_iter().for_each(|(field, limit)| replace(limit, object.optional(field)));
        let compile_time = object.optional(&COMPILE_TIME).map(Duration::from_millis);
        replace(&mut limits.compile_time, compile_time);
        let connect_time = object.optional(&TCP_CONNECT_TIME).map(Duration::from_millis);
        replace(&mut limits.tcp_connect_time, connect_time);
        limits.cpu = object.optional(&CPU).map(Duration::from_millis);
        let count = |field| object.optional(field).and_then(|count: u32| NonZeroUsize::new(count as usize));
        Self {
            limits,
            all_memory: object.optional(&ALL_MEMORY),
            kept_log: object.optional(&KEPT_LOG),
            slots: object.optional(&SLOTS),
            isolation: object.optional(&ISOLATION_TIER).map(|written| written.0).unwrap_or_default(),
            processes: object.optional(&PROCESSES),
            threads: count(&THREADS),
            engine_threads: count(&ENGINE_THREADS),
        }
    }
}

fn replace<T>(limit: &mut T, by: Option<T>) {
    if let Some(by) = by {
        *limit = by;
    }
}
