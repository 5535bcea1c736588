//! Examples that need nothing but their files.

use std::fs;

use serde_json::json;

use crate::project::{Project, output, phases};
#[cfg(unix)]
use crate::{
    database::database,
    relay::{Manner, Relay},
};

#[test]
fn hello_greets_everyone() {
    let project = Project::new("hello", None);
    let (status, view) = project.run("phasm run", "");
    assert_eq!(status, 0, "{view}");
    assert_eq!(output(&view, "greeting"), "Hello, Ada! Hello, Grace! Hello, Barbara!");
    let (status, view) = project.run("Alan", "");
    assert_eq!((status, output(&view, "greeting")), (0, json!("Hello, Alan!")));
}

#[test]
fn files_that_cannot_be_read_are_reported_with_reasons() {
    let project = Project::new("files-report", None);
    let (status, view) = project.run("phasm run", "");
    assert_eq!(
        (status, output(&view, "total"), &view["remarks"]),
        (0, json!(35), &json!(["1 of 3 failed (tolerated)"])),
        "{view}"
    );
    let failures = output(&view, "failures");
    assert_eq!((failures.as_array().unwrap().len(), &failures[0]["file"]), (1, &json!("/data/paris.csv")));
    let report = project.text("out/report.txt");
    assert!(report.starts_with("Total: 35\nFailures: 1\n- /data/paris.csv: "), "{report}");
    assert!(report.contains("cannot parse \"many\""), "{report}");
    // Without the mistake nothing is tolerated.
    fs::write(project.path("data/paris.csv"), "day,amount\nmon,7\n").unwrap();
    let (status, view) = project.run("phasm run", "");
    assert_eq!((status, output(&view, "total"), output(&view, "failures")), (0, json!(42), json!([])));
    assert_eq!(project.text("out/report.txt"), "Total: 42\nFailures: 0\n");
}

#[test]
fn orders_are_loaded_if_enough_of_them_are_good() {
    let project = Project::new("etl-quality-gate", None);
    let (status, view) = project.run("max-bad=0.1", "");
    assert_eq!(
        (status, phases(&view, "gate"), phases(&view, "load")),
        (1, vec!["Failed".to_owned()], vec!["Cancelled".to_owned()])
    );
    let message = view["message"].as_str().unwrap();
    assert!(
        message.contains("the filter raised an error: 1 of 5 rows are bad")
            && !project.path("out/orders.csv").exists(),
        "{message}"
    );
    let (status, view) = project.run("phasm run", "");
    assert_eq!(
        (status, output(&view, "loaded"), output(&view, "rejected")),
        (0, json!(4), json!(1)),
        "{view}"
    );
    assert_eq!(project.text("out/orders.csv"), "id,amount\na1,10\na2,25.5\na4,7\na5,1\n");
    assert_eq!(project.text("out/rejected.csv"), "id,amount,fault\n,3,no id\n");
}

#[test]
fn ten_thousand_items_are_mapped_and_reduced() {
    let project = Project::new("map-reduce", None);
    let (status, view) = project.run("phasm run", "");
    assert_eq!(
        (status, output(&view, "items"), phases(&view, "map-chunk").len()),
        (0, json!(10_000), 40),
        "{view}"
    );
    let expected = json!({ "fizzbuzz": 667, "buzz": 1333, "fizz": 2667, "number": 5333 });
    assert_eq!(output(&view, "histogram"), expected);
    // A last chunk that is not full.
    let (status, view) = project.run("phasm run workflow.yaml", "-p items=1001");
    assert_eq!((status, output(&view, "items"), phases(&view, "map-chunk").len()), (0, json!(1001), 5));
}

#[test]
fn failed_records_are_corrected_by_a_person() {
    let project = Project::new("review-failures", None);
    let (status, view) = project.run("phasm run", "");
    assert_eq!((status, phases(&view, "review")), (6, vec!["Suspended".to_owned()]), "{view}");
    let review = view["tasks"].as_array().unwrap().iter().find(|task| task["taskName"] == "review").unwrap();
    let asked =
        review["outputs"].as_array().unwrap().iter().find(|output| output["name"] == "asked").unwrap();
    assert_eq!(asked["value"]["details"][0]["record"]["name"], "Grace");
    let wrong = project
        .sh("phasm respond @last review '{\"corrected\": [{\"name\": \"Grace\"}]}' --store runs.db --json");
    assert_eq!(wrong.status, 2, "{wrong:?}");
    let (status, view) = project.run("phasm respond", "");
    assert_eq!(
        (status, output(&view, "imported")),
        (0, json!(["Ada (36)", "Alan (41)", "Grace (85)"])),
        "{view}"
    );
}

/// R-L44: several of the executors for data in one workflow.
#[test]
fn a_delivery_of_prices_is_published() {
    let project = Project::new("price-list", None);
    let (status, view) = project.run("phasm run", "");
    assert_eq!(status, 0, "{view}");
    let totals = json!([
        { "category": "fruit", "products": 2, "total": 0.3, "mean": 0.15 },
        { "category": "vegetable", "products": 1, "total": 1.5, "mean": 1.5 },
    ]);
    assert_eq!((output(&view, "totals"), output(&view, "title")), (totals, json!("Prices of 2026-11-27")));
    assert_eq!(output(&view, "digest").as_str().unwrap().len(), 64);
    let page = project.text("out/prices.html");
    assert!(page.contains("<tr><td>fruit</td><td>2</td><td>0.3</td><td>0.15</td></tr>"), "{page}");
    assert_eq!(project.text("out/delivery/prices.csv"), "product,price\napple,0.1\npear,0.2\nleek,1.5\n");
    // A delivery that is no archive is named, and nothing is published anew.
    fs::write(project.path("data/prices-2026-11-28.tar"), "no archive").unwrap();
    let (status, view) = project.run("phasm run", "-p delivery=prices-2026-11-28.tar");
    assert_eq!((status, phases(&view, "write")), (1, vec!["Cancelled".to_owned()]), "{view}");
    assert!(view["message"].as_str().unwrap().contains("is broken, or no archive of its format"), "{view}");
}

/// R-L44: code of two languages in one workflow.
#[test]
fn measurements_are_analysed_by_code() {
    let project = Project::new("code-steps", None);
    let (status, view) = project.run("phasm run", "");
    assert_eq!((status, output(&view, "report")), (0, json!("median 3.05, outliers: 9.7")), "{view}");
    let (status, view) = project.run("phasm run", "-p 'measurements=[]'");
    assert_eq!((status, phases(&view, "analyse")), (1, vec!["Failed".to_owned()]), "{view}");
    assert!(
        view["message"].as_str().unwrap().contains("StatisticsError: no median for empty data"),
        "{view}"
    );
}

/// R-L44: a list is stored in a database, and stored again.
#[cfg(unix)]
#[test]
fn products_are_stored_in_a_database() {
    let Some(database) = database() else { return };
    database.psql("create role writer superuser login");
    database.psql("create database shop");
    let project = Project::new("postgres-upsert", None);
    let config =
        project.text("phasm.toml").replace("db.example.com:5432", &format!("127.0.0.1:{}", database.port));
    fs::write(project.path("phasm.toml"), config).unwrap();
    let (status, view) = project.run("phasm run", "");
    assert_eq!((status, output(&view, "stored")), (0, json!(2)), "{view}");
    assert_eq!(output(&view, "cheapest"), json!([{ "name": "apple", "price": "0.10" }]), "{view}");
    let dearer = r#"-p 'products=[{"name": "apple", "price": "2.00"}]'"#;
    let (status, view) = project.run("phasm run", dearer);
    assert_eq!(
        (status, output(&view, "cheapest")),
        (0, json!([{ "name": "leek", "price": "1.50" }])),
        "{view}"
    );
}

/// R-L44: a report is sent by email.
#[cfg(unix)]
#[test]
fn a_report_is_sent_by_email() {
    let project = Project::new("email-report", None);
    let relay = Relay::start(Manner::Takes);
    for file in ["phasm.toml", "workflow.yaml"] {
        let text = project.text(file).replace("\"127.0.0.1:25\"", &format!("\"127.0.0.1:{}\"", relay.port));
        fs::write(project.path(file), text.replace("port: 25", &format!("port: {}", relay.port))).unwrap();
    }
    let (status, view) = project.run("phasm run", "");
    assert_eq!((status, output(&view, "response")), (0, json!("taken as 1")), "{view}");
    let said = relay.said();
    assert!(said.commands.iter().any(|command| command == "RCPT TO:<team@example.com>"), "{said:?}");
    assert!(said.data.contains("Orders: 2") && said.data.contains("- Ada: 12.50"), "{}", said.data);
}
