//! Artifacts in a bucket of a real server.

use super::{
    World, crash, letters,
    s3_server::{BUCKET, KEY_ID, S3Server, SECRET},
};

/// Returns the table of a configuration with the server's bucket.
fn place(server: &S3Server) -> String {
    let key = &server.key_file;
    format!(
        "[artifacts.bucket]\nendpoint = \"{}\"\nname = \"{BUCKET}\"\nprefix = \"p\"\nregion = \"eu\"\naccess-key-id = \"{KEY_ID}\"\n\
         secret-access-key = {{ file = {key:?} }}\n",
        server.url
    )
}

/// R-I170: what works in a folder works in a bucket.
#[test]
fn a_file_goes_through_tasks_and_is_pruned_with_its_runs() {
    let server = S3Server::start();
    letters(&place(&server), |_| server.files());
}

/// R-I171: a process that is killed while it stores files leaves nothing that is not found, and damage is named.
#[test]
fn a_crash_leaves_nothing_half_done() {
    let server = S3Server::start();
    crash(&place(&server), |_| server.files());
}

/// R-I171: a key that is wrong is told to who runs the workflow, without the key and the address.
#[test]
fn a_wrong_key_is_told() {
    let server = S3Server::start();
    let place = place(&server).replace(KEY_ID, "AKIDWRONG");
    let world = World::new(&format!("[grants.file]\nartifacts = true\n{place}"));
    let ran = world.phasm(&["run", "letters.yaml", "-p", "letter=@letter.txt"]);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(ran.status != 0 && said.contains("the bucket refuses with status 403"), "{said}");
    assert!(!said.contains(SECRET) && !said.contains(&server.url), "{said}");
}
