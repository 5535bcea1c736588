//! The wasmtime engine, and the pool its instances live in.

use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, WasmFeatures};

use super::{
    error::SandboxError,
    limits::{Limits, TABLES_PER_SLOT},
};

/// Kernel mappings one slot of the pool may take.
const MAPPINGS_PER_SLOT: u64 = 5;
/// Kernel mappings that are left to the rest of the process; past the kernel's limit every allocation fails.
const MAPPINGS_RESERVED: u64 = 5_000;
/// Memory that a slot resets and keeps, instead of returning it to the kernel and faulting it in again: stack, data and first
/// heap of a guest as the builder links it. A slot holds it once a guest has used it, and it is half of the minimum part of a
/// slot (R-I43).
const KEEP_RESIDENT_BYTES: usize = 512 * 1024;
const TABLE_KEEP_RESIDENT_BYTES: usize = 16 * 1024;
/// Stack that host functions need in addition to the guest's own, in bytes.
const HOST_STACK_BYTES: u64 = 1536 * 1024;

/// The engine, its number of slots, and warnings for the operator.
pub(super) struct Pool {
    pub(super) engine: Engine,
    pub(super) slots: u32,
    pub(super) warnings: Vec<String>,
}

impl Pool {
    /// Reserves a pool of `slots` guests, fewer where the kernel allows no more mappings, or none where the address
    /// space cannot be reserved.
    pub(super) fn reserve(slots: u32, limits: &Limits) -> Result<Self, SandboxError> {
        let (slots, mut warnings) = within(slots.max(1), max_map_count());
        let mut config = config(limits.stack);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pooling(slots, limits)));
        let engine = match Engine::new(&config) {
            Ok(engine) => engine,
            Err(refused) => {
                warnings.push(format!(
                    "no pool of {slots} instances could be reserved ({refused:#}); every call allocates on demand, \
                     about ten times slower"
                ));
                config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
                Engine::new(&config).map_err(|error| SandboxError::Engine(format!("{error:#}")))?
            }
        };
        Ok(Self { engine, slots, warnings })
    }
}

const DISABLED_FEATURES: WasmFeatures = WasmFeatures::CM_ASYNC
    .union(WasmFeatures::CM_THREADING)
    .union(WasmFeatures::GC)
    .union(WasmFeatures::FUNCTION_REFERENCES);

fn config(stack: u64) -> Config {
    let mut config = Config::new();
    let stack = usize::try_from(stack).unwrap_or(usize::MAX / 4);
    #[cfg(feature = "compile")]
    config.strategy(wasmtime::Strategy::Cranelift);
    config
        .epoch_interruption(true)
        .max_wasm_stack(stack)
        .async_stack_size(stack.saturating_add(HOST_STACK_BYTES as usize))
        // Features that the world does not use are off. Async tasks would share the fiber of the called one with no agreement;
        // types derived from others make wasmtime abort without its garbage collector (RUSTSEC-2026-0570); 64-bit memories have
        // slower bounds checks; relaxed vectors differ from machine to machine.
        .wasm_features(DISABLED_FEATURES, false)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        // Environment variables have no influence.
        .wasm_backtrace_details(wasmtime::WasmBacktraceDetails::Disable);
    config
}

/// Returns an engine that compiles code for [`Pool::reserve`]'s, with no instances of its own.
#[cfg(all(feature = "compile", target_os = "linux"))]
pub(super) fn compiling(stack: u64) -> wasmtime::Result<Engine> {
    Engine::new(config(stack).allocation_strategy(InstanceAllocationStrategy::OnDemand))
}

fn pooling(slots: u32, limits: &Limits) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_stacks(slots)
        .total_memories(slots)
        .total_tables(slots.saturating_mul(TABLES_PER_SLOT))
        .total_core_instances(slots.saturating_mul(limits.instances))
        .max_memories_per_module(limits.memories)
        .max_tables_per_module(limits.tables)
        .table_elements(limits.table_elements as usize)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
        .table_keep_resident(TABLE_KEEP_RESIDENT_BYTES);
    pool
}

/// Returns the number of slots that `mappings` allows, at most `slots`, and a warning if there are fewer.
fn within(slots: u32, mappings: Option<u64>) -> (u32, Vec<String>) {
    let Some(mappings) = mappings else { return (slots, Vec::new()) };
    let room = mappings.saturating_sub(MAPPINGS_RESERVED) / MAPPINGS_PER_SLOT;
    let room = u32::try_from(room).unwrap_or(u32::MAX).max(1);
    if room >= slots {
        return (slots, Vec::new());
    }
    let warning = format!(
        "vm.max_map_count is {mappings}, which has room for {room} instances at once instead of {slots}; the others \
         wait (raise it to {} with sysctl)",
        u64::from(slots) * MAPPINGS_PER_SLOT + MAPPINGS_RESERVED
    );
    (room, vec![warning])
}

/// Returns the kernel's limit on mappings of a process; `None` where there is none.
fn max_map_count() -> Option<u64> {
    std::fs::read_to_string("/proc/sys/vm/max_map_count").ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_mapping_limit_bounds_the_slots() {
        let rows = [
            (2048, None, 2048, false),
            (2048, Some(65_530), 2048, false),
            (20_000, Some(65_530), 12_106, true),
            (2048, Some(6_000), 200, true),
            (2048, Some(100), 1, true),
            (1, Some(100), 1, false),
        ];
        for (wanted, mappings, slots, warned) in rows {
            let (got, warnings) = within(wanted, mappings);
            assert_eq!((got, !warnings.is_empty()), (slots, warned), "{wanted} in {mappings:?}");
        }
        assert!(within(2048, Some(6_000)).1.concat().contains("raise it to 15240"));
    }
}
