// Builds codemirror.js and idiomorph.js: minified modules, with the names and the licences of their parts at their tops.
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const folder = process.argv[2] ?? ".";
await bundle("source.js", "codemirror.js");
await bundle("node_modules/idiomorph/dist/idiomorph.esm.js", "idiomorph.js");

async function bundle(entry, file) {
  const settings = {
    entryPoints: [entry], outfile: `${folder}/${file}`, bundle: true, minify: true, format: "esm",
    target: "es2022", charset: "utf8", legalComments: "inline",
  };
  const { metafile } = await build({ ...settings, write: false, metafile: true });
  const names = new Set(Object.keys(metafile.inputs).map(packageOf).filter(Boolean));
  await build({ ...settings, banner: { js: header([...names].sort()) } });
}

function packageOf(path) {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
}

// Packages of one licence share its text.
function header(names) {
  const texts = new Map();
  for (const name of names) {
    const { version, license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
    if (!["MIT", "0BSD"].includes(license)) throw new Error(`${name} has the licence ${license}`);
    const [copyright, text] = licence(readFileSync(`node_modules/${name}/LICENSE`, "utf8"));
    const users = texts.get(text) ?? new Map();
    users.set(`${name} ${version}`, copyright);
    texts.set(text, users);
  }
  const parts = [...texts].map(([text, users]) => [...users].map(([name, copyright]) => `${name}: ${copyright}`).join("\n") + `\n\n${text}`);
  return `/*! Built by .ci/page-bundle from these packages.\n\n${parts.join("\n\n")}\n*/`;
}

function licence(text) {
  const copyright = (text.split("\n").find((line) => line.startsWith("Copyright")) ?? "Zero-Clause BSD").trim();
  return [copyright, text.slice(text.indexOf("Permission to use") < 0 ? text.indexOf("Permission") : text.indexOf("Permission to use")).replace(/\s+/g, " ").trim()];
}
