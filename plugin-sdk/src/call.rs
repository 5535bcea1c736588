//! The call of an executor: its inputs, its configuration and its attempt.

use std::{collections::BTreeMap, time::Duration};

use crate::{FromInputs, Inputs, Json, inputs::BadInputs};

/// Member of `executor.config` with the caller that has resumed an attempt.
pub(crate) const RESUMED_BY: &str = "phasm.resumedBy";

/// One dispatch of one attempt of a task, with its inputs as `I`.
///
/// `I` is declared by [`inputs!`](crate::inputs!), or any type that serde can read, or [`Inputs`] for the untyped ones.
#[derive(Clone, Debug)]
pub struct Call<I = Inputs> {
    /// The bound inputs.
    pub inputs: I,
    /// `executor.config`, an object. Typed inputs that are not given are looked up here.
    pub config: Json,
    /// The workflow's run.
    pub run_id: String,
    /// `metadata.name` of the workflow.
    pub workflow: String,
    /// `metadata.namespace` of the workflow.
    pub namespace: String,
    /// The task run.
    pub task_run_id: String,
    /// The task's name at its call site.
    pub task: String,
    /// Counts attempts, from 1; a resumed attempt keeps its number.
    pub attempt: u32,
    /// Counts dispatches of the task run, from 1; a resume is a new dispatch.
    pub dispatch: u32,
    /// Whether this attempt was suspended and is called again, the payload merged into `inputs`.
    pub resumed: bool,
    /// Time until the earliest deadline at the moment of the call; `None` without a deadline.
    pub remaining: Option<Duration>,
    /// The same for every execution of this dispatch, after a crash too; different for any other.
    pub idempotency_key: String,
}

impl<I> Call<I> {
    /// The caller that has resumed this attempt, as the host has authenticated it: the name of a key, or a kind and a name such as
    /// `local:ada`. `None` for an attempt that was not resumed, and for a caller that the host does not know. Neither the workflow nor
    /// the response can set it.
    #[must_use]
    pub fn resumed_by(&self) -> Option<String> {
        let config: BTreeMap<String, Json> = self.config.parse().ok().filter(|_| self.resumed)?;
        config.get(RESUMED_BY)?.parse().ok()
    }
}

/// A call whose inputs are still JSON text.
pub type Invocation = Call<Inputs>;

impl Invocation {
    /// Reads the inputs as `I`.
    ///
    /// # Errors
    ///
    /// Every input that does not fit, at once.
    pub fn typed<I: FromInputs>(self) -> Result<Call<I>, BadInputs> {
        let inputs = I::from_inputs(self.inputs, &self.config)?;
        Ok(Call {
            inputs,
            config: self.config,
            run_id: self.run_id,
            workflow: self.workflow,
            namespace: self.namespace,
            task_run_id: self.task_run_id,
            task: self.task,
            attempt: self.attempt,
            dispatch: self.dispatch,
            resumed: self.resumed,
            remaining: self.remaining,
            idempotency_key: self.idempotency_key,
        })
    }
}
