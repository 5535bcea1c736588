// What fits at a place of a workflow file, by the JSON Schema of workflow files and the names in the text.
import { plain } from "./place.js";

// Objects that people write on one line.
const ON_ONE_LINE = new Set(["metadata", "executor", "retry", "continueOn", "resources", "aggregate", "sequence", "then"]);
// Fields that name a template.
const CALLERS = new Set(["template", "entrypoint", "body"]);
// Fields that name tasks of the same dag or pipeline.
const FOLLOWERS = new Set(["dependencies", "entrypoints", "to"]);

// How descriptions of fields end that the older dialect does not have.
const NEWER = "Not in \x60aether/v1\x60.";

// Returns the completions at a place, each with `label`, `kind` (`field` or `value`) and `about`. A field also has its `form`,
// `required`, and `instead`: the field that is written now where it is an older word. `isItem` is set for the first field of a new item of a list, `isListed` for a value that needs a list around it.
//
// `executors` are the known executors, each with `name` and `description`.
export function completions(schema, place, executors) {
  const parts = partsAt(schema, place.nodes, place.keys);
  const items = place.kind === "item" ? parts : parts.flatMap((part) => within(schema, part, 0, null));
  const found = place.kind === "value" || place.kind === "item" ? [] : fieldsOf(schema, parts, place);
  const ofItems = place.kind === "word" || place.kind === "item" ? fieldsOf(schema, items, place).map((one) => ({ ...one, isItem: true })) : [];
  const values = place.kind === "key" ? [] : [...valuesOf(parts), ...namesAt(parts, place, executors)];
  return unique([...values, ...found, ...(found.length ? [] : ofItems)]);
}

// Returns what the schema says of the field at a place, or null.
export function descriptionOf(schema, place) {
  if (place.kind !== "key") return null;
  const parts = partsAt(schema, place.nodes, place.keys);
  const value = plain(place.nodes.at(-1));
  const ofField = parts.flatMap((part) => within(schema, part, place.word, value[place.word]));
  return ofField.length ? aboutOf(ofField) : null;
}

// Returns the name of the executor whose inputs stand at a place, or null.
export function executorOf(place) {
  const { kind, keys, nodes } = place;
  if (kind === "value") return null;
  const at = keys.at(-1) === "parameters" ? -2 : -1;
  const [field, parent] = [keys.at(at), plain(nodes[keys.length + at])];
  if (field === "inputs") return named(parent?.executor?.type);
  return field === "config" ? named(parent?.type) : null;
}

// Returns completions for the inputs of an executor: `inputs` is their schema.
export function inputsOf(inputs, place) {
  return fieldsOf({}, [inputs ?? {}], place);
}

// Returns the names of executors that a text has.
export function executorsIn(text) {
  const found = text.matchAll(/\bexecutor[\x22\x27]?:\s*\{?\s*[\x22\x27]?type[\x22\x27]?: *[\x22\x27]?([a-z][\w-]*)/g);
  return [...new Set([...found].map((one) => one[1]))];
}

function named(type) {
  return typeof type === "string" && type ? type.split("@")[0] : null;
}

// Schemas at the end of a path.
function partsAt(schema, nodes, keys) {
  const values = nodes.map(plain);
  let parts = expand(schema, schema, values[0]);
  keys.forEach((key, at) => {
    parts = parts.flatMap((part) => within(schema, part, key, values[at + 1] ?? null));
  });
  return parts;
}

// Schemas of a field or an item of a value that one schema describes.
function within(root, part, key, value) {
  const isItem = typeof key === "number";
  const of = (name) => (Object.hasOwn(part.properties ?? {}, name) ? part.properties[name] : part.additionalProperties);
  return expand(root, isItem ? part.items : of(key), value);
}

// A schema and all that apply with it. Of alternatives that depend on the value, those that fit what is written.
function expand(root, schema, value) {
  if (!schema || typeof schema !== "object") return [];
  const named = schema.$ref && root.$defs?.[schema.$ref.replace("#/$defs/", "")];
  const chosen = schema.if && (fits(root, schema.if, value) ? schema.then : schema.else);
  const others = [named, ...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? []), chosen];
  return [schema, ...others.flatMap((one) => expand(root, one, value))];
}

// Whether a value fits the condition of a schema, as far as conditions are used there.
function fits(root, schema, value) {
  const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
  const has = (name) => isObject && Object.hasOwn(value, name);
  const known = schema.$ref ? root.$defs[schema.$ref.replace("#/$defs/", "")] : null;
  const checks = [
    !known || fits(root, known, value),
    schema.const === undefined || schema.const === value,
    !schema.type || isOf(schema.type, value),
    !schema.pattern || typeof value !== "string" || new RegExp(schema.pattern, "u").test(value),
    (schema.required ?? []).every(has),
    !isObject || Object.entries(schema.properties ?? {}).every(([name, of]) => !has(name) || of === true || (of && fits(root, of, value[name]))),
    !isObject || Object.keys(value).length >= (schema.minProperties ?? 0),
    !isObject || Object.keys(value).length <= (schema.maxProperties ?? Infinity),
    !schema.anyOf || schema.anyOf.some((one) => fits(root, one, value)),
    (schema.allOf ?? []).every((one) => fits(root, one, value)),
    !schema.not || !fits(root, schema.not, value),
  ];
  return checks.every(Boolean);
}

function isOf(type, value) {
  if (type === "object") return value !== null && typeof value === "object" && !Array.isArray(value);
  if (type === "array") return Array.isArray(value);
  return type === "null" ? value === null : typeof value === "string";
}

function fieldsOf(root, parts, place) {
  const parent = place.nodes.at(-1);
  const isHere = place.kind === "key";
  const written = isHere ? plain(parent) : {};
  const excluded = new Set(Object.keys(written));
  for (const part of parts) {
    for (const [name, of] of Object.entries(part.properties ?? {})) if (of === false) excluded.add(name);
    for (const names of exclusive(part)) {
      if (names.length === 1 || names.some((name) => name in written)) names.forEach((name) => excluded.add(name));
    }
    const choices = part.oneOf?.every((one) => one.required) ? part.oneOf.flatMap((one) => one.required) : [];
    if (choices.some((name) => name in written)) choices.forEach((name) => excluded.add(name));
  }
  const choices = new Set(parts.flatMap((part) => (part.oneOf ?? part.anyOf ?? []).flatMap((one) => one.required ?? [])));
  const required = new Set(parts.flatMap((part) => part.required ?? []).filter((name) => !choices.has(name)));
  const names = parts.flatMap((part) => Object.keys(part.properties ?? {})).filter((name) => !excluded.has(name));
  return names.map((label) => {
    const of = parts.flatMap((part) => within(root, part, label, {}));
    const instead = parts.flatMap((part) => newerThan(part, label)).find((name) => !excluded.has(name));
    return { label, kind: "field", about: aboutOf(of), form: formOf(label, of), required: required.has(label), isChoice: choices.has(label), instead };
  });
}

// Groups of fields of which a schema allows one; a single name is a field that it does not allow.
function exclusive(part) {
  const never = [part, ...(part.allOf ?? [])].flatMap((one) => one.not?.anyOf ?? (one.not ? [one.not] : []));
  return never.map((one) => one.required ?? []).filter((names) => names.length > 0);
}

// The fields that stand for an older one today: it is described by them, or the older dialect has it alone.
function newerThan(part, label) {
  const about = (name) => part.properties?.[name]?.description ?? "";
  const others = exclusive(part).filter((names) => names.includes(label)).flat().filter((name) => name !== label);
  return others.filter((name) => about(label).startsWith(`As \x60${name}\x60`) || (about(name).includes(NEWER) && !about(label).includes(NEWER)));
}

// How the value of a field is written: `text` behind its name, `flow` or `list` in brackets on its line, `block` or `items` below.
function formOf(name, parts) {
  const is = (type) => parts.some((part) => part.type === type);
  const items = parts.filter((part) => part.items);
  if (is("array") && !is("object")) return items.some((part) => part.items.type === "string") ? "list" : "items";
  if (!is("object") || is("string") || is("integer")) return "text";
  return ON_ONE_LINE.has(name) ? "flow" : "block";
}

function aboutOf(parts) {
  const said = parts.find((part) => part.description)?.description ?? "";
  const allowed = parts.find((part) => part.enum)?.enum;
  const usual = parts.find((part) => part.default !== undefined)?.default;
  const more = [allowed && `One of ${allowed.join(", ")}.`, usual !== undefined && `Default: ${JSON.stringify(usual)}.`];
  // Where a field is offered the dialect has it.
  return [said.replace(NEWER, "").trim(), ...more].filter(Boolean).join(" ");
}

function valuesOf(parts) {
  const listed = parts.flatMap((part) => part.enum ?? []).filter((value) => value !== null);
  const both = parts.some((part) => part.type === "boolean") ? [true, false] : [];
  const usual = parts.flatMap((part) => part.examples ?? []);
  return [...listed, ...both, ...usual].map((value) => ({ label: written(value), kind: "value", about: "" }));
}

// A value as YAML has it: in quotes where it would be read as something else.
function written(value) {
  return typeof value === "string" && /^[*@&!|>%]|: | #/.test(value) ? JSON.stringify(value) : String(value);
}

function namesAt(parts, place, executors) {
  const needsList = typeof place.keys.at(-1) === "string" && parts.some((part) => part.type === "array") && !parts.some((part) => part.type === "string");
  const value = (label, about) => ({ label, kind: "value", about, isListed: needsList });
  if (parts.some((part) => part.$ref === "#/$defs/executorType")) return executors.map((one) => value(one.name, one.description ?? ""));
  const field = place.keys.findLast((key) => typeof key === "string");
  if (CALLERS.has(field) && isText(parts)) return templates(place).map((name) => value(name, ""));
  return FOLLOWERS.has(field) && isText(parts) ? siblings(place).map((name) => value(name, "")) : [];
}

function isText(parts) {
  return parts.some((part) => part.type === "string" || part.items?.type === "string");
}

function templates({ nodes }) {
  const around = nodes.map(plain).findLast((node) => Array.isArray(node?.templates));
  const all = (around?.templates ?? []).flatMap((one) => Object.values(one ?? {}));
  return all.map((one) => one?.name).filter((name) => typeof name === "string");
}

// Names of the tasks around a place, but for the one that it belongs to.
function siblings({ keys, nodes }) {
  const at = keys.lastIndexOf("tasks");
  const all = plain(nodes[at + 1]);
  if (at < 0 || !Array.isArray(all)) return [];
  const others = all.filter((_, item) => item !== keys[at + 1]);
  const nameOf = (task) => task?.name ?? (task && Object.keys(task).length === 1 ? Object.keys(task)[0] : null);
  return others.map(nameOf).filter((name) => typeof name === "string");
}

function unique(all) {
  const known = new Map();
  for (const one of all) if (!known.has(one.label)) known.set(one.label, one);
  return [...known.values()];
}
