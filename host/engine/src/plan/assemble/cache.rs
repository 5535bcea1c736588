//! Parts that calls of one template share. They are assembled once: a plan of many calls stays small, and the data that every
//! task run reads stays warm in the cache.

use std::{collections::BTreeMap, sync::Arc};

use crate::plan::{Parameter, Settings, TemplateId, Tolerance, Work};

use super::merge::CallSettings;

/// Parts that nodes share.
#[derive(Default)]
pub(super) struct PartsCache {
    templates: BTreeMap<TemplateId, TemplateParts>,
    settings: BTreeMap<SettingsKey, Arc<Settings>>,
}

/// The parts of a node that its template alone decides.
#[derive(Clone)]
pub(super) struct TemplateParts {
    pub(super) work: Work,
    pub(super) inputs: Arc<[Parameter]>,
    pub(super) outputs: Arc<[Parameter]>,
}

/// Everything besides the template that settings depend on, for calls that write none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SettingsKey {
    template: TemplateId,
    tolerance: Option<Tolerance>,
    children: Option<Tolerance>,
    hook_run: bool,
}

impl SettingsKey {
    /// The key of a call; `None` if its settings are its own.
    pub(super) fn of(template: TemplateId, own: &CallSettings<'_>) -> Option<Self> {
        let CallSettings { settings, tolerance, children, labels, hook_run } = *own;
        let shared = labels.is_none() && settings.is_none_or(|settings| settings.is_empty());
        shared.then_some(Self { template, tolerance, children, hook_run })
    }
}

impl PartsCache {
    pub(super) fn common(&self, template: TemplateId) -> Option<TemplateParts> {
        self.templates.get(&template).cloned()
    }

    pub(super) fn keep_common(&mut self, template: TemplateId, common: &TemplateParts) {
        self.templates.insert(template, common.clone());
    }

    pub(super) fn settings(&self, key: SettingsKey) -> Option<Arc<Settings>> {
        self.settings.get(&key).cloned()
    }

    pub(super) fn keep_settings(&mut self, key: SettingsKey, settings: &Arc<Settings>) {
        self.settings.insert(key, Arc::clone(settings));
    }
}
