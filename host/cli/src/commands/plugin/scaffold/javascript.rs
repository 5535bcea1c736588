//! The files of a new plugin in JavaScript or TypeScript.

use std::path::Path;

use phasm_builder::{ESBUILD, JS_SDK, TYPESCRIPT};

use super::shared::{EXAMPLE, SdkPackage, filled};
use crate::{command_line, failure::Failure};

const SDK: SdkPackage = SdkPackage { folder: "js", file: "register.js", name: "the npm package phasm-sdk" };
/// The folder of the copy in a project.
const PACKAGE: &str = "phasm-sdk";
/// The types of Node.js, for tests in TypeScript.
const NODE_TYPES: &str = "22.20.5";

/// Paths within the new folder and what stands there, and the command that tests them.
///
/// # Errors
/// When the SDK that was named is none, or the name is that of its package.
pub(crate) fn files(
    name: &str,
    folder: &Path,
    sdk: Option<&Path>,
    is_typed: bool,
) -> Result<(Vec<(String, String)>, String), Failure> {
    if name == PACKAGE {
        return Err(Failure::call(format!("`{PACKAGE}` is the package of the SDK; expected another name")));
    }
    let sdk = SDK.shared(folder, sdk)?;
    let (language, ending) = if is_typed { ("TypeScript", "ts") } else { ("JavaScript", "js") };
    let script = format!("{name}.{ending}");
    let main = serde_json::Value::from(script.as_str()).to_string();
    let dependency =
        serde_json::Value::from(format!("file:{}", sdk.as_deref().unwrap_or(PACKAGE))).to_string();
    let tools = format!(
        r#",
  "devDependencies": {{ "@types/node": "{NODE_TYPES}", "esbuild": "{}", "typescript": "{}" }}"#,
        ESBUILD.version, TYPESCRIPT.version
    );
    let values = [
        ("name", name),
        ("language", language),
        ("ending", ending),
        ("main", &main),
        ("sdk", &dependency),
        ("tools", if is_typed { &tools } else { "" }),
        ("check", if is_typed { "tsc && " } else { "" }),
        ("tests", if is_typed { " *.test.ts" } else { "" }),
        ("types", if is_typed { TYPES } else { "" }),
        ("sdk_line", if sdk.is_some() { "" } else { SDK_LINE }),
        ("tsconfig_line", if is_typed { TSCONFIG_LINE } else { "" }),
    ];
    let mut templates = vec![
        ("package.json".to_owned(), PACKAGE_JSON),
        (script, SCRIPT),
        (format!("{name}.test.{ending}"), TEST),
        ("example.yaml".to_owned(), EXAMPLE),
        (".gitignore".to_owned(), "/build/\n/node_modules/\n"),
        ("README.md".to_owned(), README),
    ];
    templates.extend(is_typed.then(|| ("tsconfig.json".to_owned(), TSCONFIG)));
    let mut files: Vec<(String, String)> =
        templates.into_iter().map(|(path, template)| (path, filled(template, &values))).collect();
    if sdk.is_none() {
        files.extend(JS_SDK.iter().map(|(path, text)| (format!("{PACKAGE}/{path}"), (*text).to_owned())));
    }
    let folder = command_line::word(&folder.display().to_string()).into_owned();
    Ok((files, format!("cd {folder} && npm install && npm test")))
}

const PACKAGE_JSON: &str = r#"{
  "name": "{{name}}",
  "version": "0.1.0",
  "description": "Greets by name",
  "private": true,
  "type": "module",
  "scripts": { "test": "{{check}}node --import phasm-sdk/register --test{{tests}}" },
  "phasm": { "main": {{main}} },
  "dependencies": { "phasm-sdk": {{sdk}} }{{tools}}
}
"#;

const SCRIPT: &str = r"import { Outcome, executor, integer, string } from 'phasm-sdk';

export const execute = executor(
  {
    inputs: {
      name: string('Name of the person to greet.'),
      times: integer('How often.', { minimum: 0, maximum: 100 }).optional(1),
    },
    outputs: { greeting: string('Text of the greeting.') },
    codes: [{ code: 3, meaning: 'The inputs are wrong.' }],
    deterministic: true,
    // `phasm plugin test` calls them.
    examples: [
      { name: 'greets', inputs: { name: 'Ada' }, outputs: { greeting: 'Hello, Ada!' } },
      { name: 'needs a name', inputs: { name: '' }, code: 3, message: 'name' },
    ],
  },
  ({ inputs, log }) => {
    if (!inputs.name) {
      return Outcome.error('input `name`: expected a name, got an empty text', { kind: 'input', retryable: false });
    }
    log(`greeting ${inputs.name}`);
    return { greeting: Array(inputs.times).fill(`Hello, ${inputs.name}!`).join(' ') };
  },
);
";

const TEST: &str = r"{{types}}import assert from 'node:assert/strict';
import { test } from 'node:test';

import { call } from 'phasm-sdk/testing';

import { execute } from './{{name}}.{{ending}}';

test('it greets', async () => {
  const { outputs } = await call(execute, { name: 'Ada', times: 2 });
  assert.deepEqual(outputs, { greeting: 'Hello, Ada! Hello, Ada!' });
});

test('inputs are checked', async () => {
  const { message } = await call(execute, { name: 'Ada', times: -1 });
  assert.equal(message, 'input `times`: expected a whole number, at least 0, at most 100, got number -1');
});
";

const TYPES: &str = "/// <reference types=\"node\" />\n";

/// Scripts see the names that a component has; tests name the types of Node.js themselves.
const TSCONFIG: &str = r#"{
  "compilerOptions": {
    "target": "ES2023",
    "lib": ["ES2023"],
    "types": [],
    "module": "preserve",
    "strict": true,
    "noEmit": true,
    "allowImportingTsExtensions": true,
    "verbatimModuleSyntax": true,
    "skipLibCheck": true
  },
  "exclude": ["build", "node_modules", "phasm-sdk"]
}
"#;

const SDK_LINE: &str =
    "- `phasm-sdk/`: the SDK, a copy. A newer one: `phasm plugin sdk DIR`, then `DIR/js`.\n";
const TSCONFIG_LINE: &str = "- `tsconfig.json`: settings of TypeScript, for the build too.\n";

const README: &str = r"# {{name}}

An executor for Phasm, in {{language}}.

- `{{name}}.{{ending}}`: the function, with the inputs and outputs of a task.
- `{{name}}.test.{{ending}}`: tests, which need neither Phasm nor a component.
- `example.yaml`: a workflow with a task that uses it.
- `package.json`: name, version and description.
{{tsconfig_line}}{{sdk_line}}
Test it (Node.js 20 or newer):

    npm install
    npm test

Build it to `build/{{name}}.wasm`, a component with QuickJS in it (the tools are installed for you the first time):

    phasm plugin build .

Test the component, with the examples in its manifest and with unusual inputs:

    phasm plugin test .

Run the example:

    phasm run example.yaml --plugins .. -p name=Ada

The component has ES2023, and the packages that the script imports: neither modules of Node.js, nor `fetch`.
";
