//! The files of a new plugin in Python.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use phasm_builder::PYTHON_SDK;

use crate::{
    command_line,
    failure::{ContextError, Failure},
};

/// The package of the SDK.
const PACKAGE: &str = "phasm_sdk";

/// Paths within the new folder and what stands there, and the command that tests them.
///
/// # Errors
/// When the SDK that was named is none.
pub(super) fn files(
    name: &str,
    folder: &Path,
    sdk: Option<&Path>,
) -> Result<(Vec<(String, String)>, String), Failure> {
    let sdk = shared_sdk(folder, sdk)?;
    let (setting, test) = match &sdk {
        Some(sdk) => {
            let path = toml::Value::String(sdk.clone());
            let variable = command_line::word(sdk);
            (format!("sdk = {path}\n"), format!("PYTHONPATH={variable} python3 -m unittest"))
        }
        None => (String::new(), "python3 -m unittest".to_owned()),
    };
    let ident = ident(name);
    let filled = |template: &str| {
        let filled = template.replace("{{name}}", name).replace("{{ident}}", &ident);
        filled.replace("{{sdk}}", &setting).replace("{{test}}", &test)
    };
    let sdk_line = if sdk.is_some() { "" } else { SDK_LINE };
    let mut files: Vec<(String, String)> = [
        ("pyproject.toml".to_owned(), PYPROJECT),
        (format!("{ident}.py"), MODULE),
        (format!("test_{ident}.py"), TEST),
        ("example.yaml".to_owned(), EXAMPLE),
        (".gitignore".to_owned(), "/build/\n__pycache__/\n"),
    ]
    .map(|(path, template)| (path, filled(template)))
    .into();
    files.push(("README.md".to_owned(), filled(&README.replace("{{sdk_line}}", sdk_line))));
    if sdk.is_none() {
        files.extend(PYTHON_SDK.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    }
    let test_it = format!("cd {} && {test}", command_line::word(&folder.display().to_string()));
    Ok((files, test_it))
}

/// The folder with the package of the SDK, relative to the new one, if there is one to share: the one that was named, or that of
/// the checkout around.
fn shared_sdk(folder: &Path, named: Option<&Path>) -> Result<Option<String>, Failure> {
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|error| {
            Failure::call(ContextError::new(format!("{} is not a path", path.display()), error))
        })
    };
    let folder = absolute(folder)?;
    let is_sdk = |dir: &PathBuf| dir.join(PACKAGE).join("guest.py").is_file();
    let Some(named) = named else {
        let mut above = folder.ancestors().skip(1).map(|dir| dir.join("plugin-sdk/python"));
        return Ok(above.find(is_sdk).map(|sdk| relative(&sdk, &folder)));
    };
    let found = [named.join("python"), named.to_owned()].into_iter().find(is_sdk);
    let Some(found) = found else {
        return Err(Failure::call(format!(
            "{} does not hold the Python package {PACKAGE}; expected a folder that `phasm plugin sdk` wrote",
            named.display()
        )));
    };
    Ok(Some(relative(&absolute(&found)?, &folder)))
}

/// The way from a folder to another, which stays right when both move; both are absolute.
pub(super) fn relative(to: &Path, from: &Path) -> String {
    let real = |path: &Path| {
        // A folder that is not there yet has parents that are.
        let known = path.ancestors().find_map(|dir| Some((fs::canonicalize(dir).ok()?, dir)));
        known.map_or_else(
            || path.to_owned(),
            |(real, dir)| real.join(path.strip_prefix(dir).unwrap_or(Path::new(""))),
        )
    };
    let (to, from) = (real(to), real(from));
    let shared = to.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(shared)).collect();
    way.to_string_lossy().replace('\\', "/")
}

/// The name of the module and its function: one that is no word of Python, and hides no module.
fn ident(name: &str) -> String {
    let ident = name.replace('-', "_");
    let is_taken = [KEYWORDS, MODULES].iter().any(|words| words.split_whitespace().any(|word| word == ident));
    if is_taken { format!("{ident}_executor") } else { ident }
}

const KEYWORDS: &str = "and as assert async await break case class continue def del elif else except finally for from global if \
    import in is lambda match nonlocal not or pass raise return try type while with yield phasm_sdk phasm_entry wit_world executor";

/// Modules of the standard library that a module of this name would hide.
const MODULES: &str = "abc annotationlib argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 calendar cmath cmd code \
    codecs codeop collections colorsys compileall compression concurrent configparser contextlib contextvars copy copyreg csv ctypes \
    curses dataclasses datetime dbm decimal difflib dis doctest email encodings ensurepip enum errno faulthandler fcntl filecmp \
    fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html \
    http idlelib imaplib importlib inspect io ipaddress itertools json keyword linecache locale logging lzma marshal math \
    mimetypes mmap modulefinder multiprocessing netrc ntpath numbers opcode operator optparse os pathlib pdb pickle pickletools \
    pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd pyclbr pydoc pyexpat queue quopri random re \
    readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtplib socket \
    socketserver sqlite3 ssl stat statistics string stringprep struct subprocess symtable sys sysconfig syslog tabnanny tarfile \
    tempfile termios test textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle \
    types typing unicodedata unittest urllib uuid venv warnings wave weakref webbrowser wsgiref xml xmlrpc zipapp zipfile zipimport \
    zlib zoneinfo";

const PYPROJECT: &str = r#"[project]
name = "{{name}}"
version = "0.1.0"
description = "Greets by name"
requires-python = ">=3.11"

[tool.phasm]
module = "{{ident}}"
{{sdk}}"#;

const MODULE: &str = r#"from typing import Annotated, TypedDict

from phasm_sdk import Range, executor, info


class Outputs(TypedDict):
    greeting: Annotated[str, "Text of the greeting."]


@executor
def {{ident}}(
    name: Annotated[str, "Name of the person to greet."],
    times: Annotated[int, "How often.", Range(0)] = 1,
) -> Outputs:
    info(f"greeting {name}")
    return {"greeting": " ".join([f"Hello, {name}!"] * times)}
"#;

const TEST: &str = r#"import unittest

from phasm_sdk import testing

from {{ident}} import {{ident}}


class Tests(unittest.TestCase):
    def test_it_greets(self):
        outcome = testing.call({{ident}}, name="Ada", times=2)
        self.assertEqual(outcome.outputs, {"greeting": "Hello, Ada! Hello, Ada!"})

    def test_inputs_are_checked(self):
        outcome = testing.call({{ident}}, name="Ada", times=-1)
        self.assertEqual(outcome.message, "input `times`: expected an integer from 0 on, got integer `-1`")


if __name__ == "__main__":
    unittest.main()
"#;

pub(super) const EXAMPLE: &str = r#"apiVersion: phasm/v1
kind: Workflow
metadata: { name: {{name}}-example }
spec:
  entrypoint: main
  parameters: { name: { type: string, default: World } }
  templates:
    - dag:
        name: main
        outputs: { greeting: tasks.first.outputs.greeting }
        tasks:
          - name: first
            executor: { type: {{name}} }
            inputs: { name: "{{ workflow.parameters.name }}", times: 2 }
"#;

const SDK_LINE: &str =
    "- `phasm_sdk/`: the SDK, a copy. A newer one: `phasm plugin sdk DIR`, then `DIR/python/phasm_sdk`.\n";

const README: &str = r#"# {{name}}

An executor for Phasm, in Python.

- `{{ident}}.py`: the function. Its parameters are the inputs of a task, its result the outputs.
- `test_{{ident}}.py`: tests, which need neither Phasm nor a component.
- `example.yaml`: a workflow with a task that uses it.
- `pyproject.toml`: name, version and description.
{{sdk_line}}
Test it:

    {{test}}

Build it to `build/{{name}}.wasm`, a component with CPython in it (Python 3.11 or newer with `venv`; componentize-py is
installed for you the first time):

    phasm plugin build .

Run the example:

    phasm run example.yaml --plugins .. -p name=Ada

Import modules at the top of a file: the component has the modules that were imported while it was built.
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_no_word_of_python_and_hides_no_module() {
        for (name, expected) in [
            ("send-mail", "send_mail"),
            ("import", "import_executor"),
            ("json", "json_executor"),
            ("executor", "executor_executor"),
            ("jsons", "jsons"),
        ] {
            assert_eq!(ident(name), expected);
        }
    }

    #[test]
    fn a_way_is_relative() {
        for (to, from, expected) in [
            ("/none/sdk/python", "/none/plugins/greet", "../../sdk/python"),
            ("/none/a", "/none/a/b", ".."),
            ("/none/a/b", "/none/a", "b"),
        ] {
            assert_eq!(relative(Path::new(to), Path::new(from)), expected);
        }
    }
}
