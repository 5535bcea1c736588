// Builds codemirror.js: one minified module, with the names and the licence of its parts at its top.
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const { metafile } = await build({ ...settings(), write: false, metafile: true });
const names = new Set(Object.keys(metafile.inputs).map(packageOf).filter(Boolean));
await build({ ...settings(), banner: { js: header([...names].sort()) } });

function settings() {
  return {
    entryPoints: ["source.js"], outfile: process.argv[2] ?? "codemirror.js", bundle: true, minify: true, format: "esm",
    target: "es2022", charset: "utf8", legalComments: "inline",
  };
}

function packageOf(path) {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
}

// All of them have the same licence: its text stands there once.
function header(names) {
  const texts = new Map();
  for (const name of names) {
    const { version, license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
    if (license !== "MIT") throw new Error(`${name} has the licence ${license}`);
    const [copyright, text] = licence(readFileSync(`node_modules/${name}/LICENSE`, "utf8"));
    const users = texts.get(text) ?? new Map();
    users.set(`${name} ${version}`, copyright);
    texts.set(text, users);
  }
  const parts = [...texts].map(([text, users]) => [...users].map(([name, copyright]) => `${name}: ${copyright}`).join("\n") + `\n\n${text}`);
  return `/*! Built by .ci/page-bundle from these packages, all under the MIT licence.\n\n${parts.join("\n\n")}\n*/`;
}

function licence(text) {
  const copyright = text.split("\n").find((line) => line.startsWith("Copyright")).trim();
  return [copyright, text.slice(text.indexOf("Permission")).replace(/\s+/g, " ").trim()];
}
