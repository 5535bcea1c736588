//! Statements: one with parameters, or several.
#![expect(clippy::wildcard_enum_match_arm, reason = "a server may send any message at any time")]

use fallible_iterator::FallibleIterator as _;
use phasm_sdk::Json;
use postgres_protocol::{
    IsNull,
    message::{
        backend::{Message, ParameterDescriptionBody, RowDescriptionBody},
        frontend,
    },
};
use postgres_types::Type;

use crate::{
    client::{Client, unexpected},
    fault::Fault,
    params,
    rows::{Column, Limits, Table},
};

/// SQLSTATE of a syntax error, which several statements in a prepared one are.
const SYNTAX_ERROR: &str = "42601";
/// Format of values in both directions.
const TEXT: i16 = 0;
/// State of a connection outside of a transaction.
const IDLE: u8 = b'I';

/// Runs the command and returns the result of each statement.
pub(crate) fn run(
    client: &mut Client,
    command: &str,
    params: &[Json],
    limits: Limits,
) -> Result<Vec<Table>, Fault> {
    client.max_row_bytes = limits.bytes;
    // The server counts from here on, too.
    client.begin();
    let prepared = match prepare(client, command) {
        Err(Fault::Server(error)) => {
            let may_be_several = error.code == SYNTAX_ERROR && command.contains(';');
            let fault = client.refused(*error);
            // Only parsed, so nothing has happened. Where the syntax is wrong, the server says so again.
            return if may_be_several && params.is_empty() {
                script(client, command, limits)
            } else {
                Err(fault)
            };
        }
        other => other?,
    };
    one(client, prepared, params, limits).map(|table| vec![table])
}

/// A parsed statement.
struct Statement {
    types: Vec<Type>,
    table: Table,
}

fn prepare(client: &mut Client, command: &str) -> Result<Statement, Fault> {
    frontend::parse("", command, [], &mut client.outgoing)?;
    frontend::describe(b'S', "", &mut client.outgoing)?;
    frontend::flush(&mut client.outgoing);
    let (Message::ParseComplete, Message::ParameterDescription(types)) =
        (client.receive()?, client.receive()?)
    else {
        return Err(unexpected("a statement"));
    };
    let table = match client.receive()? {
        Message::RowDescription(body) => Table::of(columns(&body)?),
        Message::NoData => Table::without_rows(),
        _ => return Err(unexpected("a statement")),
    };
    Ok(Statement { types: types_of(&types)?, table })
}

fn types_of(body: &ParameterDescriptionBody) -> Result<Vec<Type>, Fault> {
    Ok(body.parameters().map(|oid| Ok(Type::from_oid(oid).unwrap_or(Type::UNKNOWN))).collect()?)
}

fn columns(body: &RowDescriptionBody) -> Result<Vec<Column>, Fault> {
    Ok(body.fields().map(|field| Ok(Column::new(field.name(), field.type_oid()))).collect()?)
}

/// Runs a statement. Until the last message it is not committed.
fn one(client: &mut Client, prepared: Statement, params: &[Json], limits: Limits) -> Result<Table, Fault> {
    let Statement { types, mut table } = prepared;
    if types.len() != params.len() {
        return Err(Fault::Input(format!(
            "input `params`: the statement has {} parameters, got {} values",
            types.len(),
            params.len()
        )));
    }
    let mut values = Vec::new();
    for (at, (value, of)) in params.iter().zip(&types).enumerate() {
        let text = params::text(value, of);
        values.push(
            text.map_err(|why| Fault::Input(format!("input `params`: value of `${}`: {why}", at + 1)))?,
        );
    }
    let bound = frontend::bind(
        "",
        "",
        [TEXT],
        values,
        |value, outgoing| match value {
            Some(text) => {
                outgoing.extend_from_slice(text.as_bytes());
                Ok(IsNull::No)
            }
            None => Ok(IsNull::Yes),
        },
        [TEXT],
        &mut client.outgoing,
    );
    bound.map_err(|_| Fault::Input("input `params`: the values are too large".to_owned()))?;
    // One more than allowed shows that there are too many.
    let rows = i32::try_from(limits.rows).unwrap_or(i32::MAX).saturating_add(1);
    frontend::execute("", rows, &mut client.outgoing)?;
    frontend::flush(&mut client.outgoing);
    match execute(client, &mut table, limits) {
        Err(Fault::Server(error)) => return Err(client.refused(*error)),
        other => other?,
    }
    // The transaction is committed here, and a check that waits for that may fail.
    frontend::sync(&mut client.outgoing);
    match client.receive()? {
        Message::ReadyForQuery(body) => is_closed(body.status())?,
        _ => return Err(unexpected("a statement")),
    }
    Ok(table)
}

/// Reads the rows of a statement.
fn execute(client: &mut Client, table: &mut Table, limits: Limits) -> Result<(), Fault> {
    let mut size = 0;
    loop {
        match client.receive()? {
            Message::BindComplete => {}
            Message::DataRow(row) => table.add(&row, limits, &mut size).map_err(undone)?,
            Message::CommandComplete(body) => {
                table.end(body.tag()?);
                return Ok(());
            }
            Message::EmptyQueryResponse => return Ok(()),
            Message::PortalSuspended => return Err(undone(limits.too_many_rows())),
            message => return Err(copying(&message)),
        }
    }
}

/// Runs several statements, which are one transaction unless they have others.
fn script(client: &mut Client, command: &str, limits: Limits) -> Result<Vec<Table>, Fault> {
    client.begin();
    frontend::query(command, &mut client.outgoing)?;
    let mut tables = Vec::new();
    let mut open: Option<Table> = None;
    let mut size = 0;
    loop {
        match client.receive()? {
            Message::RowDescription(body) => open = Some(Table::of(columns(&body)?)),
            Message::DataRow(row) => {
                let table = open.as_mut().ok_or_else(|| unexpected("several statements"))?;
                table.add(&row, limits, &mut size)?;
            }
            Message::CommandComplete(body) => {
                let mut table = open.take().unwrap_or_else(Table::without_rows);
                table.end(body.tag()?);
                tables.push(table);
            }
            Message::EmptyQueryResponse => {}
            Message::ReadyForQuery(body) => {
                is_closed(body.status())?;
                return Ok(tables);
            }
            message => return Err(copying(&message)),
        }
    }
}

/// Adds that a single statement without its end has no effect.
fn undone(fault: Fault) -> Fault {
    match fault {
        Fault::TooLarge(message) => Fault::TooLarge(format!("{message}; the statement is undone")),
        Fault::Value(message) => Fault::Value(format!("{message}; the statement is undone")),
        other => other,
    }
}

fn copying(message: &Message) -> Fault {
    if matches!(message, Message::CopyInResponse(_) | Message::CopyOutResponse(_)) {
        let message =
            "input `command`: `COPY` from or to the client is not supported; expected `INSERT` or `SELECT`";
        return Fault::Input(message.to_owned());
    }
    unexpected("a statement")
}

fn is_closed(status: u8) -> Result<(), Fault> {
    if status == IDLE {
        return Ok(());
    }
    let message = "input `command`: it leaves a transaction open, which is undone now; end it with `COMMIT`";
    Err(Fault::Input(message.to_owned()))
}
