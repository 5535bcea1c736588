"""What schemathesis cannot know of the API from its document: documents that run, and that somebody who waits would wait."""

import zlib

import schemathesis


def workflow(name, namespace, task):
    task = {"name": "main", **task}
    return {
        "apiVersion": "aether/v1",
        "kind": "Workflow",
        "metadata": {"name": name, "namespace": namespace, "labels": {"team": "data"}},
        "spec": {
            "entrypoint": "main",
            "arguments": {"parameters": [{"name": "who", "type": "string", "default": "world"}]},
            "templates": [{"task": task}],
        },
    }


def schedule(name, namespace):
    whole = workflow(name, namespace, {"executor": {"type": "echo"}})
    spec = {"schedule": "0 3 * * *", "timezone": "Europe/Berlin", "workflowSpec": whole["spec"]}
    return {**whole, "kind": "CronWorkflow", "spec": spec}


def documents(namespace, name):
    """Such as end well, badly, or ask."""
    tasks = [{"executor": {"type": kind}} for kind in ("echo", "trap", "suspend")]
    return [workflow(name, namespace, task) for task in tasks] + [schedule(name, namespace)]


@schemathesis.serializer("application/wasm")
def component(context, value):
    return value if isinstance(value, bytes) else str(value).encode()


def is_negative(case, place):
    meta = case.meta
    return meta is not None and meta.is_negative_at(place)


@schemathesis.hook
def before_call(context, case, kwargs):
    from schemathesis.core.parameters import ParameterLocation as Place

    query = case.query or {}
    # Whoever waits for a run that goes on waits as long as he says.
    if "wait" in query and not is_negative(case, Place.QUERY):
        query["wait"] = "50ms"
    # A stream of an open run has no end. Those have tests of their own.
    if str(query.get("stream")).lower() in ("true", ""):
        query["stream"] = "false"
    # What is called so is JSON.
    if case.media_type == "application/yaml" and str(query.get("file")).lower().endswith(".json"):
        query["file"] = "w.yaml"
    takes = case.operation.definition.raw.get("requestBody", {}).get("content", {})
    # No text that is made by chance is a workflow. Of the same request the same is made.
    chance = zlib.crc32(repr((case.body, case.path_parameters, query)).encode())
    if "application/yaml" in takes and not is_negative(case, Place.BODY) and chance % 10 < 6:
        path = case.path_parameters or {}
        known = documents(path.get("namespace", "default"), path.get("name", "w"))
        known = {"putSchedule": known[-1:], "putWorkflow": known[:-1]}.get(case.operation.definition.raw["operationId"], known)
        case.body = known[chance // 10 % len(known)]
