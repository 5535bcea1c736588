//! `[trust]`: whose plugins are used, and which versions wait to be approved.

use phasm_engine::form::{BOOLEAN, Field, Form, Name, Object, Report, TEXTS, Table, Words, word};

use super::codes;
use crate::plugins::trust::{NotAPublicKey, Policy, PublicKey};

static TRUST: Table = Table::closed(
    "trust",
    "Keys by which plugins are trusted. The signature of `NAME.wasm` is `NAME.wasm.minisig` next to it; embedded plugins need none.",
    &[&HOLD, &KEYS, &REQUIRED],
    &[],
);

static TENANT_TRUST: Table = Table::closed(
    "tenantTrust",
    "Keys by which one tenant's plugins are trusted, instead of the keys of `[trust]`.",
    &[&KEYS, &REQUIRED],
    &[],
);

static REQUIRED: Field<bool> = Field::optional(
    "require-signature",
    BOOLEAN,
    "Whether every plugin must be signed by one of the keys. Without it only a plugin with a wrong signature of one of them is refused.",
)
.or("false");
static KEYS: Field<Vec<Name>> =
    Field::optional("keys", TEXTS, "Public keys, as minisign and `phasm plugin keygen` write them: `RW…`, with or without the key number that is displayed behind them.")
        .or("[]");
static HOLD: Field<Hold> = Field::optional(
    "hold",
    word(),
    "Versions in the library that wait for `phasm plugin approve`: those that ask for more than the newest approved version, or are \
     signed by another key (`more`), or all (`all`).",
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
pub(super) struct TrustTable {
    required: bool,
    keys: Vec<Name>,
    pub(super) hold: Hold,
}

pub(super) const TRUST_FORM: Form<TrustTable> = Form::new(
    |cursor, report| {
        let object = cursor.object(&TRUST, report)?;
        Some(TrustTable { hold: object.optional(&HOLD).unwrap_or_default(), ..TrustTable::read(&object) })
    },
    |defs| defs.object(&TRUST),
);

/// The form of a tenant's `trust` section.
pub(super) const TENANT_TRUST_FORM: Form<TrustTable> = Form::new(
    |cursor, report| Some(TrustTable::read(&cursor.object(&TENANT_TRUST, report)?)),
    |defs| defs.object(&TENANT_TRUST),
);

impl TrustTable {
    fn read(object: &Object<'_, '_>) -> Self {
        Self {
            required: object.optional(&REQUIRED).unwrap_or_default(),
            keys: object.or_default(&KEYS),
            hold: Hold::default(),
        }
    }

    /// Returns the policy; a text that is no key is reported.
    pub(super) fn policy(&self, report: &Report) -> Policy {
        let read = |key: &Name| {
            let of_number = "that is a key's number, with which nothing can be checked; the key itself is the last line of the file that \
                             `phasm plugin keygen FILE` has written next to it, FILE.pub";
            let hint = PublicKey::is_number(&key.value).then(|| of_number.to_owned());
            let wrong =
                |why| key.problem(&codes::NO_KEY, format!("`{}`: {why}", key.value)).with_hint_if(hint);
            key.value.parse().map_err(|why: NotAPublicKey| report.problem(wrong(why))).ok()
        };
        Policy { require_signature: self.required, keys: self.keys.iter().filter_map(read).collect() }
    }
}
