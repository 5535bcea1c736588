//! The first record of a run: parameters bound, secrets and facts noted, the lease of its submitter.

use std::{num::NonZeroU32, sync::Arc};

use phasm_engine::{
    event::{Facts, Requester},
    plan::{BoundArguments, Plan, SecretRef, bind_arguments},
    problem::Problems,
    run::{Run, Submission, SubmitEnv},
    value::Map,
};

use super::{Planner, SubmitError, SubmitSpan};
use crate::{
    catalog::labels_of,
    journal::{Body, Moment},
    reader::nul,
    store::{Encode, Labels, Lease, Record, RunHead, RunStatus},
};

/// The first record of a run that is submitted for any host to claim, with everything that is stored with it.
pub(crate) struct FirstRecord {
    pub(super) lease: Lease,
    pub(super) status: RunStatus,
    pub(super) record: Record<Arc<dyn Encode>>,
    pub(super) parameters: Arc<Map>,
    pub(super) span: Option<SubmitSpan>,
}

impl FirstRecord {
    pub(crate) fn id(&self) -> &Arc<str> {
        &self.lease.head.run_id
    }
}

/// Binds the parameters of a run, and returns its plan with them.
pub(super) fn bind(
    plan: &Arc<Plan>,
    run_id: &str,
    parameters: &Map,
    facts: &Facts,
    by: Option<&Requester>,
) -> Result<(Arc<Plan>, BoundArguments), SubmitError> {
    let nul = nul::in_values(parameters);
    if !nul.is_empty() {
        return Err(Problems::from(nul).into());
    }
    let run_id = run_id.into();
    let view = SubmitEnv { plan, run_id: &run_id, facts, by };
    let arguments = bind_arguments(plan, parameters, &view)?;
    Ok((plan.bind(&arguments.values)?, arguments))
}

impl Planner {
    /// The submission that a new run of `plan` starts with, and the plan of that run.
    pub(crate) fn submission(
        &self,
        plan: &Arc<Plan>,
        parameters: &Map,
        facts: Facts,
        by: Option<Requester>,
    ) -> Result<(Arc<Plan>, Submission), SubmitError> {
        let run_id: Arc<str> = uuid::Uuid::now_v7().to_string().into();
        let (bound, arguments) = bind(plan, &run_id, parameters, &facts, by.as_ref())?;
        let plan = self.shared(&bound);
        let BoundArguments { values, doubts } = arguments;
        let parameters = Arc::new(values);
        let secrets = self.secrets_of(&plan);
        let origin = self.context.origin.clone();
        let trace = self.trace(&run_id);
        Ok((plan, Submission { run_id, parameters, doubts, facts, secrets, origin, trace, by }))
    }

    /// The lease under which a new run is stored.
    pub(crate) fn first_lease(&self, run: &Run, key: Option<Arc<str>>, more: Labels) -> Lease {
        let plan = run.plan();
        let head = RunHead {
            run_id: Arc::clone(run.id()),
            workflow: plan.name.clone(),
            namespace: plan.namespace.clone(),
            priority: plan.priority,
            submitted_at: run.now(),
            key,
            labels: labels_of(plan).into_iter().chain(more).collect(),
        };
        Lease::first(Arc::new(head), self.host.clone())
    }

    /// Starts a run and makes its first record. The artifacts of its parameters are noted as the run's before that.
    ///
    /// # Errors
    /// [`SubmitError::Artifact`] when one of them is not there.
    pub(super) async fn first_record(
        &self,
        plan: &Arc<Plan>,
        submission: Submission,
        key: Option<Arc<str>>,
        more: Labels,
    ) -> Result<FirstRecord, SubmitError> {
        self.artifacts.name(&plan.namespace, &submission.run_id, &submission.parameters, None).await?;
        let document = self.document(plan);
        let parameters = Arc::clone(&submission.parameters);
        let (run, step) = Run::start(Arc::clone(plan), submission, self.clock.now());
        let moments = vec![Moment { time: run.now(), events: Arc::new(step.events) }];
        let body = Body { moments, basis: Some(Arc::clone(&document.digest)) };
        let lease = self.first_lease(&run, key, more);
        let notices =
            self.webhooks.subscribers(&lease.head, &plan.notify).notices(&lease.head, &run, 0, &body.moments);
        let record = Record {
            first_seq: 0,
            events: body.count().unwrap_or(NonZeroU32::MIN),
            time: run.now(),
            body: Arc::new(body) as _,
            document: Some(document),
            notices,
            logs: Vec::new(),
            remark: None,
        };
        let status = RunStatus::of(&run);
        Ok(FirstRecord { lease, status, record, parameters, span: self.submit_span(&run) })
    }

    /// Ends the span of a submission that has become durable.
    pub(crate) fn end_submit_span(&self, span: Option<SubmitSpan>, lease: &Lease) {
        if let Some(span) = span {
            span.end(&lease.head, self.clock.now());
        }
    }

    /// The secrets that the plan names and the configuration has.
    fn secrets_of(&self, plan: &Plan) -> Vec<SecretRef> {
        let secrets = &self.environments.of(&plan.namespace).secrets;
        let has = |secret: &SecretRef| secrets.get(secret).is_some();
        plan.secrets().into_iter().filter(has).collect()
    }
}
