//! The embedding API: errors that name everything, and executors of the embedder.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{error::Error, future::Future, pin::Pin, sync::Arc};

use phasm::{
    Host, SubmitError,
    engine::{
        outcome::Outcome,
        phase::Phase,
        value::{Map, Value},
    },
    executor::{Executor, Invocation, Observer},
};

const GREET: &str = "
apiVersion: aether/v1
kind: Workflow
metadata: { name: greet }
spec:
  entrypoint: main
  arguments: { parameters: [{ name: who, type: string }] }
  templates:
    - task: { name: main, executor: { type: greeter } }
";

/// Returns one output.
struct Greeter;

impl Executor for Greeter {
    fn execute(&self, _: Invocation, _: Arc<dyn Observer>) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        Box::pin(async { Outcome::default().output("greeting", "Hello") })
    }
}

fn host() -> Host {
    Host::builder().executor(Arc::new(Greeter)).open().unwrap()
}

/// R-W2: all of them, a line each, with file, line and column.
#[tokio::test]
async fn the_problems_of_a_document_are_an_error() {
    async fn plan(host: &Host, text: &str) -> Result<(), Box<dyn Error>> {
        host.plan("greet.yaml", text).await?;
        Ok(())
    }
    let text = GREET.replace("entrypoint: main", "entrypoint: mian\n  timeout: soon");
    let error = plan(&host(), &text).await.unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 2, "{error}");
    assert!(lines[0].starts_with("greet.yaml:6:15: P"), "{error}");
    assert!(lines[0].contains(": spec.entrypoint: ") && lines[0].contains("did you mean `main`?"), "{error}");
    assert!(lines[1].starts_with("greet.yaml:7:12: P") && lines[1].contains(": spec.timeout: "), "{error}");
}

#[tokio::test]
async fn the_problems_of_parameters_are_an_error() {
    let host = host();
    let plan = host.plan("greet.yaml", GREET).await.unwrap();
    let given = Map::from([("how".into(), Value::from("loudly"))]);
    let error = host.submit(&plan, &given).await.unwrap_err();
    assert!(matches!(&error, SubmitError::Problems(problems) if problems.len() == 2), "{error}");
    let text = error.to_string();
    assert!(text.lines().count() == 2 && text.contains("how") && text.contains("who"), "{text}");
}

#[tokio::test]
async fn an_executor_of_ones_own_returns_outputs() {
    let host = host();
    let plan = host.plan("greet.yaml", GREET).await.unwrap();
    let given = Map::from([("who".into(), Value::from("Ada"))]);
    let view = host.submit(&plan, &given).await.unwrap().wait().await.unwrap();
    assert_eq!(view.phase, Phase::Succeeded);
    assert_eq!(view.outputs[0].value, Value::from("Hello"));
}

/// The program of the README, with its own workflow; that it compiles is its doctest's concern.
#[tokio::test]
async fn the_first_workflow_runs_from_a_program() {
    let readme = include_str!("../../README.md");
    let block = readme.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let host = host();
    let plan = host.plan("greet.yaml", block).await.unwrap();
    let given = Map::from([("who".into(), Value::from("Ada"))]);
    let view = host.submit(&plan, &given).await.unwrap().wait().await.unwrap();
    assert_eq!((view.phase, view.outputs[0].name.as_ref()), (Phase::Succeeded, "said"));
    assert_eq!(view.outputs[0].value, Value::from("Hello"));
}
