//! Requests to runs, and the replies to them.

use std::sync::Arc;

use tokio_postgres::Row;

use super::{
    super::{
        HostId, Lease, Letter, MAX_LETTER_BYTES, MAX_WAITING_LETTERS, Mailbox, Pending, Reply, StoreError,
    },
    Postgres,
    fault::{Parameter, count, get, saturated},
    leased, one, run_id,
};

pub(super) const POST: &str = "SELECT * FROM post_letter($1, $2, $3)";
pub(super) const MAIL: &str = "SELECT id, CASE WHEN checksum IS NOT DISTINCT FROM checksum_of_letter(run, body, reply) THEN body ELSE '' END AS body
    FROM letters
    WHERE run = (SELECT number FROM runs WHERE run_id = $1) AND reply IS NULL ORDER BY id";
pub(super) const MAILED: &str = "SELECT run_id FROM runs
    WHERE owner IS NOT DISTINCT FROM $1 AND number IN (SELECT run FROM letters WHERE reply IS NULL) ORDER BY run_id";
pub(super) const REPLY: &str = "SELECT reply_letters($1, $2, $3, $4) AS verdict";

impl Mailbox for Postgres {
    fn post(&self, run_id: &str, body: Vec<u8>) -> Pending<u64> {
        let named: Arc<str> = run_id.into();
        if body.len() > MAX_LETTER_BYTES {
            let (run_id, size) = (named, body.len());
            return Pending::ready(Err(StoreError::TooLarge { run_id, size, limit: MAX_LETTER_BYTES }));
        }
        let parameters: Vec<Parameter> = vec![
            Box::new(run_id.to_owned()),
            Box::new(body),
            Box::new(saturated(MAX_WAITING_LETTERS as u64)),
        ];
        self.ask(POST, parameters, move |rows| match one(rows, |row| get(row, "verdict"))? {
            "none" => Err(StoreError::NotFound { run_id: named }.into()),
            "closed" => Err(StoreError::Closed { run_id: named }.into()),
            "full" => Err(StoreError::MailboxFull { run_id: named, limit: MAX_WAITING_LETTERS }.into()),
            _ => one(rows, |row| count(row, "id")),
        })
    }

    fn mail(&self, lease: &Lease) -> Pending<Vec<Letter>> {
        // The run's host refuses a request that cannot be read.
        let letter = |row: &Row| Ok(Letter { id: count(row, "id")?, body: get(row, "body")? });
        self.ask(MAIL, vec![run_id(lease)], move |rows| rows.iter().map(letter).collect())
    }

    fn mailed(&self, owner: Option<&HostId>) -> Pending<Vec<Arc<str>>> {
        let name = |row: &Row| Ok(get::<&str>(row, "run_id")?.into());
        let owner = Box::new(owner.map(|host| host.as_str().to_owned()));
        self.ask(MAILED, vec![owner], move |rows| rows.iter().map(name).collect())
    }

    fn reply(&self, lease: &Lease, replies: Vec<Reply>) -> Pending<()> {
        let lease = lease.clone();
        let (letters, bodies): (Vec<_>, Vec<_>) =
            replies.iter().map(|reply| (saturated(reply.letter), reply.body.to_vec())).unzip();
        let parameters: Vec<Parameter> =
            vec![run_id(&lease), Box::new(saturated(lease.epoch)), Box::new(letters), Box::new(bodies)];
        self.ask(REPLY, parameters, move |rows| leased(rows, &lease))
    }
}
