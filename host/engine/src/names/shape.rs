//! Shapes of the values behind names, as far as they are known before any run.

/// The shape of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// Anything.
    Any,
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// A phase by its name.
    Phase,
    /// One of these words.
    Words(&'static [&'static str]),
    /// Exactly these members.
    Object(&'static [(&'static str, Shape)]),
    /// These members, and others.
    Open(&'static [(&'static str, Shape)]),
    /// Parameters that the document declares.
    Declared(DeclarationSite),
    /// The tasks that are visible where the expression stands.
    Tasks,
    /// A task's outputs: what that task declares.
    Outputs,
}

/// Where parameters are declared.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DeclarationSite {
    /// In spec.arguments.
    Workflow,
    /// In the inputs that are visible where the expression stands.
    Inputs,
    /// In spec.arguments, and what is not is null.
    MaybeWorkflow,
    /// In the container's inputs; a name that is not declared there is null.
    MaybeContainer,
}
