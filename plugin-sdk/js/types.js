// Types of inputs and outputs: each has its JSON Schema, and reads a value.
//
// `read(value, path, problems)` returns the value that the executor gets, and adds a sentence to `problems` where it does not fit.

class Type {
  constructor(schema, read) {
    this.schema = schema;
    this.read = read;
  }

  // The type of a value that may be absent: it is then `value`, or null.
  optional(value = null) {
    const read = (found, path, problems) => (found === null || found === undefined ? value : this.read(found, path, problems));
    const types = Array.isArray(this.schema.type) ? this.schema.type : [this.schema.type];
    const schema = { ...this.schema, ...(this.schema.type ? { type: [...types, 'null'] } : {}) };
    if (this.schema.enum) schema.enum = [...this.schema.enum, null];
    if (value !== null) schema.default = value;
    return Object.assign(new Type(schema, read), { isOptional: true });
  }
}

function described(schema, description) {
  return description ? { ...schema, description } : schema;
}

// What a value is, for messages. Long ones are cut.
export function shown(value) {
  if (value === null || value === undefined) return 'nothing';
  const kind = Array.isArray(value) ? 'list' : typeof value === 'object' ? 'object' : typeof value;
  const text = JSON.stringify(value);
  return `${kind} ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`;
}

function primitive(schema, description, expected, fits) {
  return new Type(described(schema, description), (value, path, problems) => {
    if (!fits(value)) problems.push(`${path}: expected ${expected}, got ${shown(value)}`);
    return value;
  });
}

export const string = (description) => primitive({ type: 'string' }, description, 'a string', (value) => typeof value === 'string');

export const boolean = (description) =>
  primitive({ type: 'boolean' }, description, 'true or false', (value) => typeof value === 'boolean');

export const any = (description) => new Type(described({}, description), (value) => value);

function bounded(schema, kind, isKind) {
  return (description, { minimum, maximum } = {}) => {
    const bounds = { ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) };
    const words = [kind, minimum !== undefined && `at least ${minimum}`, maximum !== undefined && `at most ${maximum}`];
    const fits = (value) => isKind(value) && !(value < minimum) && !(value > maximum);
    return primitive({ ...schema, ...bounds }, description, words.filter(Boolean).join(', '), fits);
  };
}

export const number = bounded({ type: 'number' }, 'a number', (value) => typeof value === 'number');

// A whole number. JavaScript keeps those up to 2^53 exactly; others are refused rather than rounded.
export const integer = bounded({ type: 'integer' }, 'a whole number', Number.isSafeInteger);

export function oneOf(values, description) {
  const expected = values.map((value) => JSON.stringify(value)).join(' or ');
  return primitive({ enum: [...values] }, description, expected, (value) => values.includes(value));
}

export function list(of, description) {
  return new Type(described({ type: 'array', items: of.schema }, description), (value, path, problems) => {
    if (!Array.isArray(value)) {
      problems.push(`${path}: expected a list, got ${shown(value)}`);
      return [];
    }
    return value.map((item, at) => of.read(item, `${path}[${at}]`, problems));
  });
}

export function map(of, description) {
  return new Type(described({ type: 'object', additionalProperties: of.schema }, description), (value, path, problems) => {
    if (!isObject(value)) {
      problems.push(`${path}: expected an object, got ${shown(value)}`);
      return {};
    }
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, of.read(item, `${path}.${name}`, problems)]));
  });
}

export function object(fields, description) {
  return new Type(described(schemaOf(fields), description), (value, path, problems) => {
    if (!isObject(value)) {
      problems.push(`${path}: expected an object, got ${shown(value)}`);
      return {};
    }
    return readFields(fields, value, (name) => `${path}.${name}`, problems);
  });
}

// The JSON Schema of an object with these fields and no others.
export function schemaOf(fields) {
  const entries = Object.entries(fields);
  const required = entries.filter(([, type]) => !type.isOptional).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, type]) => [name, type.schema])),
    ...(required.length ? { required } : {}),
    additionalProperties: false,
  };
}

export function readFields(fields, value, place, problems) {
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(fields, name)) {
      problems.push(`${place(name)}: there is no such field; expected ${Object.keys(fields).join(', ') || 'none'}`);
    }
  }
  return Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, type.read(value[name], place(name), problems)]));
}

export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
