//! `phasm workflow remove`.

use clap::Args;
use phasm::{catalog::remove_workflow, store::Shelf};

use super::super::{
    drive,
    exit::Exit,
    failure::Failure,
    names::{QualifiedName, called, no_workflow},
    remote::RemoteCommands,
    screen::Screen,
    target::TargetArguments,
    writable_store::{StoreContext, WritableStore},
};

/// Deletes a saved workflow with all its versions. Its runs stay.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm workflow remove greet --store runs.db")]
pub(crate) struct RemoveWorkflowArguments {
    /// The workflow: its name, or NAMESPACE/NAME.
    #[arg(value_name = "NAME", value_parser = called)]
    name: QualifiedName,

    #[command(flatten)]
    store: TargetArguments,
}

/// Deletes a workflow.
pub(super) fn remove(arguments: &RemoveWorkflowArguments, screen: &Screen) -> Result<Exit, Failure> {
    let RemoveWorkflowArguments { name, store } = arguments;
    drive::runtime()?.block_on(async {
        match store.remote()? {
            Some(remote) => {
                let asking = RemoteCommands { remote: remote.clone(), json: false, screen };
                if !asking.remove(Shelf::Workflows, name).await? {
                    return Err(no_workflow(name, &remote).await);
                }
            }
            None => here(name, &StoreContext::new(&store.store)?).await?,
        }
        screen.err(&format!("workflow {} is removed; its runs stay\n", name.word()));
        Ok(Exit::Done)
    })
}

async fn here(name: &QualifiedName, about: &StoreContext) -> Result<(), Failure> {
    let changing = WritableStore::open(&about.path)?;
    let removed = remove_workflow(&*changing.store, &name.namespace, &name.name).await;
    if !removed.map_err(Failure::host)? {
        return Err(no_workflow(name, &*changing.store).await);
    }
    let _nobody = changing.tell(&about.path, &about.target).await;
    Ok(())
}
