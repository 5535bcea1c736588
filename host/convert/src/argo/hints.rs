//! Advice for fields without a counterpart.

const STORAGE: &str = "files are not passed between tasks: give values as outputs, or grant an executor a directory of the host";
const POD: &str = "there are no pods: a step is a WebAssembly component in a sandbox, and has access only to the grants of the configuration";
const LIMIT: &str = "there are no locks between runs: limit a run with `parallelism`, a loop with `concurrency`, a schedule with `concurrencyPolicy`";

/// Returns advice for a field by its name.
pub(crate) fn hint(name: &str) -> Option<&'static str> {
    Some(match name {
        "artifacts"
        | "artifact"
        | "volumes"
        | "volumeMounts"
        | "volumeClaimTemplates"
        | "volumeClaimGC"
        | "artifactRepositoryRef"
        | "artifactGC"
        | "archiveLocation"
        | "volumeDevices" => STORAGE,
        "affinity"
        | "automountServiceAccountToken"
        | "dnsConfig"
        | "dnsPolicy"
        | "executor"
        | "hostAliases"
        | "hostNetwork"
        | "imagePullSecrets"
        | "imagePullPolicy"
        | "initContainers"
        | "nodeSelector"
        | "podDisruptionBudget"
        | "podGC"
        | "podMetadata"
        | "podPriority"
        | "podPriorityClassName"
        | "podSpecPatch"
        | "ports"
        | "priorityClassName"
        | "livenessProbe"
        | "readinessProbe"
        | "schedulerName"
        | "securityContext"
        | "serviceAccountName"
        | "sidecars"
        | "tolerations"
        | "daemon"
        | "lifecycle"
        | "envFrom"
        | "tty"
        | "stdin" => POD,
        "resources" => "write `resources: {memory: 64Mi}` on the task",
        "synchronization" => LIMIT,
        "parallelism" => {
            "a limit of containers inside has no counterpart: `parallelism` of a dag counts leaf tasks"
        }
        "memoize" => "results are not kept between runs; `phasm rerun` uses those of an earlier run again",
        "metrics" => "Phasm has metrics of its own, see Observability",
        "ttlStrategy" | "ttlSecondsAfterFinished" | "archiveLogs" => "`phasm prune` deletes old runs",
        "priority" => "write `spec.priority`, 0 to 1000; the scale differs",
        "retryStrategy" => {
            "write `retry` on each task; a retry of a whole dag needs a task template with `template` around it"
        }
        "templateDefaults" => "write these fields on each template",
        "hooks" => "write `hooks` with `onStart`, `onSuccess`, `onFailure`, `onError` or `onExit`",
        "maxDuration" => "`timeout` of the task limits all attempts together, and also ends the last one",
        "globalName" => {
            "there are no global outputs: declare the output on each template up to the entrypoint"
        }
        "configMapKeyRef" => "use a variable of the configuration, `{{ vars.NAME }}`",
        "secretKeyRef" => {
            "write an input with `valueFrom: {secretKeyRef: {name, key}}`, and name the secret in the configuration"
        }
        "templateRef" | "clusterScope" => "call a template of the same file",
        "suspend" => "begin with a task of `executor: {type: approval}`",
        "schedules" => "a workflow has one schedule; write another file for each further one",
        "successCondition" => "write `phaseConditions`, which see `outputs.status` and `outputs.body`",
        "timeoutSeconds" => "write `maxRuntime`",
        "inline" => "write it as a template",
        "workflowTemplateRef" => "convert the file that it names",
        "shutdown" => "cancel the run with `phasm cancel`",
        "stopStrategy" => "`endAt` of a schedule is a time; `phasm cron suspend` pauses it",
        "target" => "write `entrypoints`, the tasks to begin with",
        "activeDeadlineSeconds" => "write a duration",
        "workflowMetadata" | "labelsFrom" => "write `metadata`",
        "when" => "write `when`, an expression of Phasm",
        "event" => "get an event through the HTTP API: submit a run, or respond to an approval",
        _ => return None,
    })
}
