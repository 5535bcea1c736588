//! Requirements of a run: plugins with their grants, and secrets.

use std::sync::Arc;

use phasm_engine::{
    event::SubmissionRecord,
    plan::{PinnedExecutor, Plan, SecretRef, Work},
};

use crate::{core::HostCore, journal::requirement::UnmetRequirement, plugins::Plugins, store::StoreError};

/// Returns the requirements of a run that this host does not meet. Plugins that are there can be called afterwards.
///
/// # Errors
/// When the store fails for now: nothing is known to be missing.
pub(crate) async fn missing(
    core: &HostCore,
    plan: &Plan,
    submitted: &SubmissionRecord,
) -> Result<Vec<UnmetRequirement>, StoreError> {
    let mut missing = Vec::new();
    let environment = core.environments.of(&plan.namespace);
    if let Some(plugins) = &environment.plugins {
        for executor_type in executor_types(plan) {
            match submitted.executors.get(&executor_type) {
                Some(pinned) => {
                    check_pinned(core, plugins, &executor_type, pinned, &mut missing).await?;
                }
                // Journals from before executors were recorded name them only.
                None => check_named(plugins, executor_type, &mut missing).await,
            }
        }
    }
    let gone = |secret: &&SecretRef| environment.secrets.get(secret).is_none();
    missing.extend(submitted.secrets.iter().filter(gone).cloned().map(UnmetRequirement::Secret));
    Ok(missing)
}

async fn check_pinned(
    core: &HostCore,
    plugins: &Plugins,
    executor_type: &Arc<str>,
    pinned: &PinnedExecutor,
    missing: &mut Vec<UnmetRequirement>,
) -> Result<(), StoreError> {
    let Some(digest) = &pinned.digest else { return Ok(()) };
    let kept = match core.store.component(digest).await {
        Ok(kept) => kept,
        Err(error) if error.is_passing() => return Err(error),
        // The installed plugins may have what is damaged in the store.
        Err(_) => None,
    };
    if let Err(why) = plugins.restore(pinned, kept).await {
        missing.push(UnmetRequirement::Executor { executor_type: Arc::clone(executor_type), why });
    }
    let plugin = pinned.plugin.clone().unwrap_or_default();
    let grant = |(what, line)| UnmetRequirement::Grant { plugin: Arc::clone(&plugin), what, line };
    missing.extend(plugins.lacking(pinned).into_iter().map(grant));
    Ok(())
}

async fn check_named(plugins: &Plugins, executor_type: Arc<str>, missing: &mut Vec<UnmetRequirement>) {
    if let Err(error) = plugins.load(&executor_type).await {
        missing.push(UnmetRequirement::Executor { executor_type, why: error.to_string() });
    }
}

/// Every executor type of a plan, each once.
fn executor_types(plan: &Plan) -> Vec<Arc<str>> {
    let mut types: Vec<_> = plan
        .nodes()
        .filter_map(|node| match &node.work {
            Work::Executor(call) => Some(Arc::clone(&call.executor_type)),
            Work::Container(_) | Work::Wrapper(_) => None,
        })
        .collect();
    types.sort_unstable();
    types.dedup();
    types
}
