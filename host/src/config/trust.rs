//! `[trust]`: whose plugins are used, and which versions wait to be approved.

use phasm_engine::form::{BOOLEAN, Field, Form, Name, Object, Report, TEXTS, Table, Words, word};

use super::codes;
use crate::plugins::trust::{NotAPublicKey, Policy, PublicKey};

static TRUST: Table = Table::closed(
    "trust",
    "Whose plugins are used. Beside a component its signature is `NAME.wasm.minisig`; what the program itself carries needs none.",
    &[&HOLD, &KEYS, &REQUIRED],
    &[],
);

static TENANT_TRUST: Table = Table::closed(
    "tenantTrust",
    "Whose plugins are used in the runs of one tenant, in place of what `[trust]` says.",
    &[&KEYS, &REQUIRED],
    &[],
);

static REQUIRED: Field<bool> = Field::optional(
    "require-signature",
    BOOLEAN,
    "Whether one of the keys has to vouch for every plugin. Without it only what pretends to be signed by one of them is refused.",
)
.or("false");
static KEYS: Field<Vec<Name>> =
    Field::optional("keys", TEXTS, "Public keys, as minisign and `phasm plugin keygen` write them: `RW…`, also with their number behind them, as they are shown.")
        .or("[]");
static HOLD: Field<Hold> = Field::optional(
    "hold",
    word(),
    "Which versions that are added to the library wait for `phasm plugin approve`: those that want more than the newest approved one \
     or are not signed by whoever signed that (`more`), or all (`all`).",
)
.or("more");

/// Which versions wait to be approved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Hold {
    #[default]
    More,
    All,
}

impl Words for Hold {
    const WORDS: &'static [(&'static str, Self)] = &[("more", Self::More), ("all", Self::All)];
}

/// `[trust]` as written.
#[derive(Clone, Debug, Default)]
pub(super) struct TrustWritten {
    required: bool,
    keys: Vec<Name>,
    pub(super) hold: Hold,
}

pub(super) const TRUST_FORM: Form<TrustWritten> = Form::new(
    |cursor, report| {
        let object = cursor.object(&TRUST, report)?;
        Some(TrustWritten { hold: object.optional(&HOLD).unwrap_or_default(), ..TrustWritten::read(&object) })
    },
    |defs| defs.object(&TRUST),
);

/// That of one tenant.
pub(super) const TENANT_TRUST_FORM: Form<TrustWritten> = Form::new(
    |cursor, report| Some(TrustWritten::read(&cursor.object(&TENANT_TRUST, report)?)),
    |defs| defs.object(&TENANT_TRUST),
);

impl TrustWritten {
    fn read(object: &Object<'_, '_>) -> Self {
        Self {
            required: object.optional(&REQUIRED).unwrap_or_default(),
            keys: object.or_default(&KEYS),
            hold: Hold::default(),
        }
    }

    /// What it comes to; what is no key is reported.
    pub(super) fn policy(&self, report: &Report) -> Policy {
        let read = |key: &Name| {
            let of_number = "that is a key's number, with which nothing can be checked; the key itself is the last line of the file that \
                             `phasm plugin keygen FILE` has written beside it, FILE.pub";
            let hint = PublicKey::is_number(&key.value).then(|| of_number.to_owned());
            let wrong =
                |why| key.problem(&codes::NO_KEY, format!("`{}`: {why}", key.value)).with_hint_if(hint);
            key.value.parse().map_err(|why: NotAPublicKey| report.problem(wrong(why))).ok()
        };
        Policy { require_signature: self.required, keys: self.keys.iter().filter_map(read).collect() }
    }
}
