//! An attempt of a guest, as the tests of sandboxes call one.

use std::sync::{Arc, Mutex};

use phasm::{
    Value,
    executor::{Invocation, Level, Observer},
};

/// A first dispatch without inputs or deadline.
pub(crate) fn invocation(executor_type: &str) -> Invocation {
    Invocation {
        run_id: "run".into(),
        workflow: "workflow".into(),
        namespace: "default".into(),
        task_run_id: "run.task".into(),
        task: "task".into(),
        executor_type: executor_type.into(),
        attempt: 1,
        dispatch: 1,
        resumed: false,
        deadline: None,
        config: Value::Object(Arc::default()),
        inputs: Arc::default(),
        memory: None,
        dirs: Vec::new(),
        trace: None,
    }
}

/// Remembers log lines.
#[derive(Default)]
pub(crate) struct LogListener(Mutex<Vec<String>>);

impl LogListener {
    /// Returns the lines so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Observer for LogListener {
    fn log(&self, level: Level, text: &str) {
        self.0.lock().unwrap().push(format!("{level:?} {text}"));
    }
    fn progress(&self, _: Option<f64>, _: &str) {}
    fn activity(&self) {}
}
