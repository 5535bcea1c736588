//! The files of a new plugin in C or C++.

use std::path::Path;

use phasm_builder::{C_NATIVE, C_SDK};

use super::shared::{EXAMPLE, MANIFEST, SdkPackage, filled};
use crate::{command_line, failure::Failure};

const SDK: SdkPackage = SdkPackage { folder: "c", file: "guest.c", name: "phasm.h and guest.c" };
/// The folder of the SDK's copy.
const COPY: &str = "phasm_sdk";

/// One of the two languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    C,
    Cpp,
}

/// Paths within the new folder and what stands there, and the command that tests them.
///
/// # Errors
/// When the SDK that was named is none.
pub(crate) fn files(
    name: &str,
    folder: &Path,
    sdk: Option<&Path>,
    dialect: Dialect,
) -> Result<(Vec<(String, String)>, String), Failure> {
    let sdk = shared_sdk(folder, sdk)?;
    let setting =
        sdk.as_ref().map_or_else(String::new, |sdk| format!("sdk = {}\n", toml::Value::from(sdk.as_str())));
    let table = format!("[c]\n{setting}");
    let sdk_line = if sdk.is_some() { "" } else { SDK_LINE };
    let place = sdk.as_deref().unwrap_or(COPY);
    let stem = stem(name);
    let native = C_NATIVE.join(" ");
    let (ending, language, source, makefile) = match dialect {
        Dialect::C => ("c", "C", SOURCE_C, MAKEFILE_C),
        Dialect::Cpp => ("cpp", "C++", SOURCE_CPP, MAKEFILE_CPP),
    };
    // A struct without a name is written with its type in C only.
    let (void, cast) = if dialect == Dialect::C { ("void", "(phasm_test)") } else { ("", "") };
    let values = [
        ("void", void),
        ("cast", cast),
        ("sdk_line", sdk_line),
        ("name", name),
        ("stem", &*stem),
        ("ending", ending),
        ("language", language),
        ("table", &*table),
        ("place", place),
        ("native", &*native),
    ];
    let mut files: Vec<(String, String)> = [
        ("plugin.toml".to_owned(), MANIFEST),
        (format!("{stem}.{ending}"), source),
        (format!("test_{stem}.{ending}"), TEST),
        ("Makefile".to_owned(), makefile),
        ("example.yaml".to_owned(), EXAMPLE),
        (".gitignore".to_owned(), "/build/\n"),
        ("README.md".to_owned(), README),
    ]
    .map(|(path, template)| (path, filled(template, &values)))
    .into();
    if sdk.is_none() {
        files.extend(C_SDK.iter().map(|(path, text)| (format!("{COPY}/{path}"), (*text).to_owned())));
    }
    let test_it = format!("make -C {} test", command_line::word(&folder.display().to_string()));
    Ok((files, test_it))
}

/// The folder of the SDK, relative to the new one, if there is one to share.
///
/// # Errors
/// When the folder that was named has no SDK, or its path cannot stand in a Makefile.
fn shared_sdk(folder: &Path, named: Option<&Path>) -> Result<Option<String>, Failure> {
    let way = SDK.shared(folder, named)?;
    if let Some(way) = way.as_ref().filter(|way| way.contains(char::is_whitespace)) {
        let why = format!("make takes no path with blanks: {way}; expected another place for the SDK");
        return Err(Failure::call(why));
    }
    Ok(way)
}

/// The name of the source without its ending: one that is not a test's.
fn stem(name: &str) -> String {
    let stem = name.replace('-', "_");
    let is_tests = stem.starts_with("test_") || stem.ends_with("_test");
    if is_tests { format!("executor_{stem}_") } else { stem }
}

const SOURCE_C: &str = r#"#include "phasm.h"

struct inputs {
  const char *name;
  int64_t times;
};

static const phasm_field inputs[] = {
    PHASM_REQUIRED(struct inputs, name, "Name of the person to greet."),
    PHASM_OPTIONAL(struct inputs, times, "1", "How often.", .minimum = "0", .maximum = "100"),
};

static const phasm_field outputs[] = {
    {.name = "greeting", .type = PHASM_STRING, .doc = "Text of the greeting."},
};

static void execute(const phasm_call *call, const struct inputs *in, phasm_outcome *out) {
  (void)call;
  if (in->name[0] == 0) {
    phasm_error(out, "input", "input `name`: expected a name, got an empty text");
    return;
  }
  phasm_info("greeting %s", in->name);
  phasm_buffer text = {0};
  for (int64_t i = 0; i < in->times; i++)
    phasm_append(&text, "%sHello, %s!", i > 0 ? " " : "", in->name);
  phasm_output_string(out, "greeting", phasm_string(&text));
}

PHASM_EXECUTOR(execute, struct inputs, .description = "Greets by name", PHASM_INPUTS(inputs), PHASM_OUTPUTS(outputs))
"#;

const TEST: &str = r#"#include "phasm_test.h"

int main({{void}}) {
  phasm_result run = phasm_test_run({{cast}}{.inputs = "{\"name\": \"Ada\", \"times\": 2}"});
  PHASM_EXPECT(run.outputs, "{\"greeting\":\"Hello, Ada! Hello, Ada!\"}");
  PHASM_EXPECT(run.log, "info greeting Ada\n");

  run = phasm_test_run({{cast}}{.inputs = "{\"name\": \"Ada\", \"times\": -1}"});
  PHASM_EXPECT_CODE(run.code, PHASM_ERROR);
  PHASM_EXPECT(run.message, "input `times`: expected an integer from 0 to 100, got integer `-1`");
  return phasm_test_end();
}
"#;

const MAKEFILE_C: &str = r"# `make test` runs the tests on this machine. `phasm plugin build .` makes the component.
SDK = {{place}}
CFLAGS ?= -g -Wall -Wextra
SOURCES = $(wildcard *.c) $(patsubst %,$(SDK)/%.c,{{native}})

test: build/test
	./build/test

build/test: $(SOURCES) $(wildcard *.h $(SDK)/*.h)
	@mkdir -p build
	$(CC) -std=gnu11 -I $(SDK) $(CFLAGS) -o $@ $(SOURCES) -lm

.PHONY: test
";

const SOURCE_CPP: &str = r#"#include "phasm.hpp"

struct Inputs {
  std::string name;
  int64_t times = 1;
};

static const auto inputs = phasm::Inputs<Inputs>()
                               .required("name", &Inputs::name, "Name of the person to greet.")
                               .optional("times", &Inputs::times, "How often.", {.minimum = "0", .maximum = "100"});

static const auto outputs = phasm::Outputs().output<std::string>("greeting", "Text of the greeting.");

static void execute(const phasm::Call &, const Inputs &in, phasm::Outcome &out) {
  if (in.name.empty()) {
    out.error("input", "input `name`: expected a name, got an empty text");
    return;
  }
  phasm::info("greeting " + in.name);
  std::string text;
  for (int64_t i = 0; i < in.times; i++)
    text += (i > 0 ? " Hello, " : "Hello, ") + in.name + "!";
  out.output("greeting", text);
}

PHASM_EXECUTOR(execute, inputs, outputs, .description = "Greets by name")
"#;

const MAKEFILE_CPP: &str = r"# `make test` runs the tests on this machine. `phasm plugin build .` makes the component.
SDK = {{place}}
CFLAGS ?= -g -Wall -Wextra
CXXFLAGS ?= -g -Wall
SOURCES = $(wildcard *.cpp)
OBJECTS = $(patsubst %,build/sdk/%.o,{{native}})

test: build/test
	./build/test

build/test: $(SOURCES) $(OBJECTS) $(wildcard *.h *.hpp $(SDK)/*.h $(SDK)/*.hpp)
	$(CXX) -std=c++20 -I $(SDK) $(CXXFLAGS) -o $@ $(SOURCES) $(OBJECTS)

build/sdk/%.o: $(SDK)/%.c $(wildcard $(SDK)/*.h)
	@mkdir -p build/sdk
	$(CC) -std=gnu11 $(CFLAGS) -c -o $@ $<

.PHONY: test
";

const SDK_LINE: &str =
    "- `phasm_sdk/`: the SDK, a copy. A newer one: `phasm plugin sdk DIR`, then the files of `DIR/c`.\n";

const README: &str = r"# {{name}}

An executor for Phasm, in {{language}}.

- `{{stem}}.{{ending}}`: the inputs and outputs of a task, and the function between them.
- `test_{{stem}}.{{ending}}`: tests, which need neither Phasm nor a component.
- `example.yaml`: a workflow with a task that uses it.
- `plugin.toml`: name and version.
{{sdk_line}}
Test it with the compiler of this machine:

    make test

Build it to `build/{{name}}.wasm` (clang, wasm-ld and a C library for WASI; an error names missing packages):

    phasm plugin build .

Run the example:

    phasm run example.yaml --plugins .. -p name=Ada

Each source in this folder is part of the component; tests are `test_*` and `*_test`.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_no_test() {
        for (name, expected) in [
            ("send-mail", "send_mail"),
            ("test-mail", "executor_test_mail_"),
            ("mail-test", "executor_mail_test_"),
        ] {
            assert_eq!(stem(name), expected);
        }
    }
}
