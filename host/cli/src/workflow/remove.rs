//! `phasm workflow remove`.

use clap::Args;
use phasm::saved::remove_workflow;

use super::super::{
    drive,
    exit::Exit,
    failure::Failure,
    kept_names::{About, Called, Changing, called, no_workflow},
    screen::Screen,
    stored::StoreArgument,
};

/// Deletes a saved workflow with all its versions. Its runs stay.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm workflow remove greet --store runs.db")]
pub(crate) struct RemoveWorkflowArguments {
    /// The workflow: its name, or NAMESPACE/NAME.
    #[arg(value_name = "NAME", value_parser = called)]
    name: Called,

    #[command(flatten)]
    store: StoreArgument,
}

/// Deletes a workflow.
pub(super) fn remove(arguments: &RemoveWorkflowArguments, screen: &Screen) -> Result<Exit, Failure> {
    let RemoveWorkflowArguments { name, store } = arguments;
    let changing = Changing::open(&About::new(store)?.path)?;
    drive::runtime()?.block_on(async {
        let removed = remove_workflow(&*changing.store, &name.namespace, &name.name).await;
        if !removed.map_err(Failure::host)? {
            return Err(no_workflow(name, &*changing.store).await);
        }
        screen.err(&format!("workflow {} is removed; its runs stay\n", name.word()));
        Ok(Exit::Done)
    })
}
