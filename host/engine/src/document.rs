//! The document as written, read object by object: wrong types, unknown fields and meaningless values are found here.
//!
//! References between names, and whether the parts fit together, are the concern of [`Draft::plan`](crate::plan::Draft::plan). A
//! part that cannot be read is reported once and then absent, with a mark where later checks must not conclude anything from its
//! absence.

mod conditions;
mod container;
mod convert;
mod dag;
mod dialect;
mod executor;
mod expression;
mod foreign;
mod functions;
mod hooks;
mod loops;
mod name;
mod notation;
mod parameters;
mod passage;
mod pipeline;
mod policy;
mod reads;
mod retry;
mod schema;
mod setting;
mod task;
mod template;
mod timing;
mod workflow;

pub(crate) use conditions::ConditionsDoc;
pub use convert::{Conversion, convert};
pub(crate) use dag::{DagDoc, TasksDoc};
pub(crate) use dialect::Dialect;
pub use dialect::{DIFFERENCES, Difference};
pub(crate) use executor::ExecutorDoc;
pub(crate) use expression::{ComparisonAt, ExprDoc, OperationAt, ReadAt, ValueDoc};
pub(crate) use hooks::{HookDoc, HooksDoc};
pub(crate) use loops::{ItemDoc, LoopDoc, OverDoc};
pub use name::is_name;
pub(crate) use parameters::{ParameterDoc, ParametersDoc, SourceDoc, check_literal, type_mismatch};
pub(crate) use pipeline::PipelineDoc;
pub(crate) use policy::{ActionDoc, PolicyDoc, RuleDoc};
pub(crate) use retry::RetryDoc;
pub use schema::{check_shape, schema};
pub(crate) use setting::{SettingDoc, SettingValues, Settings, uncalculated};
pub(crate) use task::{RecoveryDoc, SettingsDoc, TaskDoc, WorkDoc};
pub(crate) use template::{KindDoc, TASKS_INSIDE, TemplateDoc};
pub(crate) use timing::{RunTimeout, TimeoutPolicyDoc};
pub(crate) use workflow::{WorkflowDoc, read};
