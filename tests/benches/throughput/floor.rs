//! Bare wasmtime: what one call costs when nothing of Phasm is in the way.

use std::{num::NonZero, sync::Arc};

use tokio::runtime::Runtime;
use wasmtime::{
    Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store, StoreLimits,
    StoreLimitsBuilder, UpdateDeadline,
    component::{Component, HasSelf, Linker, ResourceTable},
};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::measure::Measure;

mod world {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "phasm:executor/executor",
        exports: { default: async },
    });
}

pub(crate) use world::phasm::executor::types::{NamedValue, Outcome};
use world::{
    Executor, ExecutorPre,
    phasm::executor::{
        host::Host,
        types::{self, Invocation, Level},
    },
};

struct Guest {
    wasi: WasiCtx,
    table: ResourceTable,
    limits: StoreLimits,
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl Host for Guest {
    fn log(&mut self, _level: Level, _text: String) {}
    fn progress(&mut self, _fraction: Option<f64>, _text: String) {}
    fn heartbeat(&mut self) {}
}

impl types::Host for Guest {}

/// A component that is ready to be called, and threads to call it on.
pub(crate) struct Bare {
    pub(crate) runtime: Runtime,
    pub(crate) threads: u32,
    pub(crate) component: Arc<Callable>,
}

/// A component that is ready to be called.
pub(crate) struct Callable {
    engine: Engine,
    pre: ExecutorPre<Guest>,
}

impl Bare {
    pub(crate) fn open(component: &[u8]) -> Self {
        let engine = engine();
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).expect("WASI links");
        Executor::add_to_linker::<_, HasSelf<_>>(&mut linker, |guest: &mut Guest| guest)
            .expect("the world links");
        let component = Component::new(&engine, component).expect("the component compiles");
        let pre = linker.instantiate_pre(&component).expect("the component links");
        let pre = ExecutorPre::new(pre).expect("the component exports the world");
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(threads).build().expect("a runtime");
        let threads = u32::try_from(threads).expect("few threads");
        Self { runtime, threads, component: Arc::new(Callable { engine, pre }) }
    }

    /// Calls the component `calls` times, each on a fresh instance, from one loop a core.
    pub(crate) fn measure(&self, calls: u32) -> Measure {
        let each = calls.div_ceil(self.threads);
        let measuring = Measure::start();
        self.runtime.block_on(async {
            let loops: Vec<_> =
                (0..self.threads).map(|_| tokio::spawn(many(Arc::clone(&self.component), each))).collect();
            for each in loops {
                each.await.expect("no panic");
            }
        });
        measuring.stop(u64::from(each * self.threads))
    }
}

fn engine() -> Engine {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(512)
        .total_core_instances(512 * 20)
        .total_memories(512)
        .total_tables(1024)
        .total_stacks(512)
        .linear_memory_keep_resident(128 * 1024)
        .table_keep_resident(16 * 1024);
    let mut config = Config::new();
    config.epoch_interruption(true).allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config).expect("an engine")
}

async fn many(component: Arc<Callable>, calls: u32) {
    for index in 0..calls {
        let item = format!(r#"{{"sku":"A-{index}","tags":["new","sale"],"price":12.5}}"#);
        component.call(index, index.to_string(), item).await;
    }
}

impl Callable {
    /// One call on a fresh instance with two inputs, as JSON.
    pub(crate) async fn call(&self, number: u32, index: String, item: String) -> Outcome {
        let limits =
            StoreLimitsBuilder::new().memory_size(64 << 20).instances(100).tables(100).memories(10).build();
        let guest = Guest { wasi: WasiCtx::builder().build(), table: ResourceTable::new(), limits };
        let mut store = Store::new(&self.engine, guest);
        store.limiter(|guest| &mut guest.limits);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Continue(1)));
        let invocation = Invocation {
            run_id: "run".to_owned(),
            workflow: "bench".to_owned(),
            namespace: "default".to_owned(),
            task_run_id: format!("run-{number}"),
            task: "t".to_owned(),
            attempt: 1,
            dispatch: 1,
            resumed: false,
            remaining_ms: None,
            idempotency_key: "run-1/1/1".to_owned(),
            config: "{}".to_owned(),
            inputs: vec![
                NamedValue { name: "index".to_owned(), value: index },
                NamedValue { name: "item".to_owned(), value: item },
            ],
        };
        let executor = self.pre.instantiate_async(&mut store).await.expect("an instance");
        let outcome = executor.call_execute(&mut store, &invocation).await.expect("a call");
        assert_eq!(outcome.code, 0);
        outcome
    }
}
