//! The form that adds a plugin, with the error of a field next to it.

use maud::{Markup, html};

use super::format;
use crate::{plugins::own_tenants, request::RequestContext};

/// An error of one field.
pub(super) struct FieldError {
    pub(super) field: &'static str,
    pub(super) why: String,
    pub(super) called: String,
}

pub(super) fn upload_form(context: &RequestContext, wrong: Option<&FieldError>) -> Markup {
    let tenants = own_tenants(&context.app.host, &context.caller);
    let is_wrong = |field: &str| wrong.is_some_and(|wrong| wrong.field == field).then_some("true");
    let why = |field: &str| {
        html! {
            @if let Some(wrong) = wrong.filter(|wrong| wrong.field == field) { p id={ (field) "-wrong" } class="bad" role="alert" { (format::prose(&wrong.why)) } }
        }
    };
    let described = |field: &str| {
        format!("{field}-help{}", is_wrong(field).map(|_| format!(" {field}-wrong")).unwrap_or_default())
    };
    html! {
        h2 id="add" { "Add a plugin" }
        @if context.caller.is_bound() && tenants.is_empty() {
            p { "The key is bound to namespaces. It cannot change plugins, which all namespaces share." }
        } @else {
            form class="sheet" method="post" action="/plugins" enctype="multipart/form-data" {
                div class="field" {
                    label for="component" { "Component" }
                    input id="component" name="component" type="file" accept=".wasm,application/wasm" required aria-invalid=[is_wrong("component")]
                        aria-describedby=(described("component"));
                    (why("component"))
                    p id="component-help" class="help" { "A file " code { "NAME.wasm" } " with its manifest in it: " code { "phasm plugin pack" } " puts it there." }
                }
                div class="field" {
                    label for="signature" { "Signature " span class="optional" { "(optional)" } }
                    input id="signature" name="signature" type="file" accept=".minisig" aria-invalid=[is_wrong("signature")] aria-describedby=(described("signature"));
                    (why("signature"))
                    p id="signature-help" class="help" { "The file " code { "NAME.wasm.minisig" } " that " code { "phasm plugin sign" } " writes." }
                }
                div class="field" {
                    label for="called" { "Name and version " span class="optional" { "(optional)" } }
                    input id="called" name="called" value=(wrong.map(|wrong| wrong.called.as_str()).unwrap_or_default()) placeholder="greet@1.0.0" autocomplete="off"
                        aria-invalid=[is_wrong("called")] aria-describedby=(described("called"));
                    (why("called"))
                    p id="called-help" class="help" { "Only if its manifest has no name and version, or to give it another name." }
                }
                @if !tenants.is_empty() {
                    div class="field" {
                        label for="tenant" { "Tenant" }
                        select id="tenant" name="tenant" {
                            @if !context.caller.is_bound() { option value="" { "all tenants" } }
                            @for tenant in &tenants { option { (tenant) } }
                        }
                    }
                }
                p class="help" { "It is checked and compiled first. A version that asks for more than the one before is held until it is approved." }
                button { "Add" }
            }
        }
    }
}
