//! R-A40: notifications about a run are shown with it.

use phasm::notify::{Endpoint, TOLD_PHASES};
use phasm_server::keys::Role;

use crate::world::{World, submit, workflow};

fn endpoint() -> Endpoint {
    Endpoint { url: "https://hooks.example/SECRET".into(), on: TOLD_PHASES.to_vec(), ..Endpoint::default() }
}

/// The latest first, those of one event on one page, and none of other callers' runs.
#[tokio::test]
async fn notices_of_a_run_are_paged() {
    let build =
        |builder: phasm::HostBuilder| builder.endpoint("chat", endpoint()).endpoint("mail", endpoint());
    let world = World::with(build, |_| {}).await;
    let (mine, theirs) =
        (world.key("mine", Role::Run, &["default"]), world.key("theirs", Role::Read, &["other"]));
    let run = submit(&mine, &workflow("default", &["ok"])).await;
    mine.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let path = format!("/v1/runs/{run}/notices");
    let page = mine.get(&format!("{path}?limit=1")).await.expect(200).json();
    let of = |page: &serde_json::Value| {
        let notices = page["notices"].as_array().unwrap().iter();
        notices
            .map(|notice| format!("{} {}", notice["type"], notice["endpoint"]).replace('"', ""))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&page), ["run.succeeded mail", "run.succeeded chat"]);
    assert_eq!(
        (&page["notices"][0]["standing"], &page["notices"][0]["tries"]),
        (&"waiting".into(), &0.into())
    );
    let rest = mine.get(&format!("{path}?limit=1&before={}", page["next"])).await.expect(200).json();
    assert_eq!(
        (of(&rest), &rest["next"]),
        (vec!["run.running mail".into(), "run.running chat".into()], &().into())
    );
    let all = mine.get(&path).await.expect(200);
    assert_eq!(of(&all.json()).len(), 4);
    assert!(!all.json().to_string().contains("SECRET"));
    theirs.get(&path).await.expect(404);
    let view = mine.get(&format!("/v1/runs/{run}")).await.expect(200);
    let expected =
        serde_json::json!({ "waiting": 4, "delivered": 0, "givenUp": 0, "gone": 0, "more": false });
    assert_eq!(view.json()["notices"], expected);
    let page = mine.get(&format!("/runs/{run}")).await;
    assert!(page.body.contains("<dt>Notifications</dt><dd>4 waiting</dd>"), "{}", page.body);
}
