//! The files of a new plugin in Go.

use std::path::Path;

use phasm_builder::GO_SDK;

use super::shared::{EXAMPLE, MANIFEST, SdkPackage, filled};
use crate::{command_line, failure::Failure};

const SDK: SdkPackage = SdkPackage { folder: "go", file: "guest_wasip1.go", name: "the module phasm for Go" };
/// The folder of the SDK's copy.
const COPY: &str = "phasm_sdk";

/// Paths within the new folder and what stands there, and the command that tests them.
///
/// # Errors
/// When the SDK that was named is none.
pub(crate) fn files(
    name: &str,
    folder: &Path,
    sdk: Option<&Path>,
) -> Result<(Vec<(String, String)>, String), Failure> {
    let shared = SDK.shared(folder, sdk)?;
    let own = format!("./{COPY}");
    let place = shared.as_deref().unwrap_or(&own);
    let place = if place.starts_with('.') { place.to_owned() } else { format!("./{place}") };
    // A path with blanks is a string in quotes.
    let place = if place.contains(char::is_whitespace) { format!("{place:?}") } else { place };
    let sdk_line = if shared.is_some() { "" } else { SDK_LINE };
    let values = [("sdk_line", sdk_line), ("name", name), ("place", &*place), ("table", "[go]\n")];
    let mut files: Vec<(String, String)> = [
        ("plugin.toml", MANIFEST),
        ("go.mod", MODULE),
        ("main.go", SOURCE),
        ("main_test.go", TEST),
        ("example.yaml", EXAMPLE),
        (".gitignore", "/build/\n"),
        ("README.md", README),
    ]
    .map(|(path, template)| (path.to_owned(), filled(template, &values)))
    .into();
    if shared.is_none() {
        files.extend(GO_SDK.iter().map(|(path, text)| (format!("{COPY}/{path}"), (*text).to_owned())));
    }
    let test_it = format!("go -C {} test ./...", command_line::word(&folder.display().to_string()));
    Ok((files, test_it))
}

const MODULE: &str = "module executor/{{name}}

go 1.24

require phasm v0.0.0

replace phasm => {{place}}
";

const SOURCE: &str = r#"package main

import (
	"strings"

	"phasm"
)

type Inputs struct {
	Name  string `json:"name" doc:"Name of the person to greet."`
	Times int    `json:"times" doc:"How often." default:"1" min:"0" max:"100"`
}

type Outputs struct {
	Greeting string `json:"greeting" doc:"Text of the greeting."`
}

var executor = phasm.New(phasm.Declaration{Description: "Greets by name"}, greet)

func greet(call *phasm.Call, in Inputs) (Outputs, error) {
	if in.Name == "" {
		return Outputs{}, phasm.Fault("input", "input `name`: expected a name, got an empty text")
	}
	call.Infof("greeting %s", in.Name)
	greetings := strings.Repeat("Hello, "+in.Name+"! ", in.Times)
	return Outputs{Greeting: strings.TrimSpace(greetings)}, nil
}

// Tells `phasm plugin build` the manifest. A component has no main: the host calls the executor.
func main() { phasm.Main() }
"#;

const TEST: &str = r#"package main

import (
	"reflect"
	"testing"

	"phasm"
)

func TestGreets(t *testing.T) {
	result := phasm.Test{Inputs: map[string]any{"name": "Ada", "times": 2}}.Run(executor)
	if result.OutputsJSON != `{"greeting":"Hello, Ada! Hello, Ada!"}` {
		t.Error(result)
	}
	if !reflect.DeepEqual(result.Log, []string{"info greeting Ada"}) {
		t.Error(result.Log)
	}
}

func TestRefusesInputs(t *testing.T) {
	result := phasm.Test{Inputs: map[string]any{"name": "Ada", "times": -1}}.Run(executor)
	if result.Code != 3 || result.Message != "input `times`: expected an integer from 0 to 100, got integer `-1`" {
		t.Error(result)
	}
}
"#;

const SDK_LINE: &str =
    "- `phasm_sdk/`: the SDK, a copy. A newer one: `phasm plugin sdk DIR`, then the files of `DIR/go`.\n";

const README: &str = r"# {{name}}

An executor for Phasm, in Go.

- `main.go`: the inputs and outputs of a task, and the function between them.
- `main_test.go`: tests, which need neither Phasm nor a component.
- `example.yaml`: a workflow with a task that uses it.
- `plugin.toml`: name and version; `go.mod`: the module, and where the SDK is.
{{sdk_line}}
Test it:

    go test ./...

Build it to `build/{{name}}.wasm`, with Go 1.24 or newer:

    phasm plugin build .

Run the example:

    phasm run example.yaml --plugins .. -p name=Ada
";
