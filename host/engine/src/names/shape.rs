//! What a name holds, as far as it is known before any run.

/// What a value holds.
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
    Declared(Declared),
    /// The tasks that are visible where the expression stands.
    Tasks,
    /// A task's outputs: what that task declares.
    Outputs,
}

/// Where parameters are declared.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Declared {
    /// In spec.arguments.
    Workflow,
    /// As the inputs that are visible where the expression stands.
    Inputs,
    /// In spec.arguments, and what is not is null.
    MaybeWorkflow,
    /// As the container's inputs, and what is not is null.
    MaybeContainer,
}
