//! The languages of projects: what their components are made of, and how.

use std::{cell::OnceCell, sync::Arc};

use crate::{
    folder::{Language, ScriptProject},
    go, javascript,
    progress::Progress,
    python,
    script::{Failure, Ingredients, ScriptToolError},
};

/// Why a project is not built.
pub(crate) enum LanguageError {
    /// There are no tools.
    Tools(Arc<ScriptToolError>),
    /// The build failed.
    Build(Failure),
}

/// Tools by language, found or installed at the first project that needs them.
#[derive(Default)]
pub(crate) struct Tools {
    python: OnceCell<Result<python::Tool, Arc<ScriptToolError>>>,
    javascript: OnceCell<Result<javascript::Tools, Arc<ScriptToolError>>>,
    go: OnceCell<Result<go::Tool, Arc<ScriptToolError>>>,
}

impl Tools {
    /// Makes the component of a project.
    pub(crate) fn build(
        &self,
        project: &ScriptProject,
        progress: &dyn Progress,
    ) -> Result<(), LanguageError> {
        let built = match &project.language {
            Language::Python(sources) => {
                let tool = self.python.get_or_init(|| python::Tool::find_or_make(progress).map_err(Arc::new));
                python::build(project, sources, found(tool)?, progress)
            }
            Language::JavaScript(sources) => {
                let make = || javascript::Tools::find_or_make(progress).map_err(Arc::new);
                let tools = self.javascript.get_or_init(make);
                javascript::build(project, sources, found(tools)?, progress)
            }
            Language::Go(sources) => {
                let tool = self.go.get_or_init(|| go::Tool::find().map_err(Arc::new));
                go::build(project, sources, found(tool)?, progress)
            }
        };
        built.map_err(LanguageError::Build)
    }
}

fn found<T>(tool: &Result<T, Arc<ScriptToolError>>) -> Result<&T, LanguageError> {
    tool.as_ref().map_err(|error| LanguageError::Tools(Arc::clone(error)))
}

/// Whether the component is there, and made of the project's files as they are now.
pub(crate) fn is_fresh(project: &ScriptProject) -> bool {
    ingredients(project).are_in(project)
}

fn ingredients(project: &ScriptProject) -> Ingredients {
    match &project.language {
        Language::Python(sources) => python::ingredients(sources),
        Language::JavaScript(sources) => javascript::ingredients(project, sources),
        Language::Go(sources) => go::ingredients(project, sources),
    }
}
