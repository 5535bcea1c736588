// Where in a workflow file the cursor is: a small reader of YAML, and of JSON as a part of it, that accepts unfinished text.

// A sign in the text at the cursor, which no keyboard writes.
const CURSOR = "\uE000";
// Quotes are escaped here: the test of words takes each for the begin of a text.
const QUOTED = String.raw`\x22(?:[^\x22\\]|\\.)*\x22?|\x27(?:[^\x27]|\x27\x27)*\x27?`;
const QUOTES = new RegExp(QUOTED, "g");
const FIRST_QUOTED = new RegExp(`^(?:${QUOTED})`);
const KEY = new RegExp(String.raw`^(${QUOTED}|(?:[^\s\x22\x27{}[\]#&*!|>%@\x60-]|-[^\s#])[^#]*?)\s*:(?=\s|\uE000|$)`);
const DASH = /^-(?:\s+|$)/;

// Returns the place at an offset, or null where no field is: in comments and in texts of several lines.
//
// `keys` are the names and numbers that lead there, `nodes` the objects and lists along them. `kind` is `key` for the name of a
// field, `value` for a value, `word` for a text that may become either, and `item` for a line between the items of a list.
export function placeOf(text, at) {
  const reader = new Reader(text.slice(0, at) + CURSOR + text.slice(at));
  return find(reader.block(0));
}

// Returns a node as a plain value, without the cursor.
export function plain(node) {
  if (!node) return null;
  node.plain ??= node.map ? plainMap(node.map) : (node.list?.map(plain) ?? node.word.replace(CURSOR, ""));
  return node.plain;
}

function plainMap(map) {
  const written = map.filter(([key]) => !key.includes(CURSOR));
  return Object.fromEntries(written.map(([key, value]) => [key, plain(value)]));
}

// The place of the cursor below a node.
function find(node) {
  if (!node) return null;
  if (node.word !== undefined) return node.word.includes(CURSOR) ? placed(node.kind, node.word) : null;
  const size = node.map?.length ?? node.list.length;
  for (let at = 0; at < size; at++) {
    const [key, value] = node.map ? node.map[at] : [at, node.list[at]];
    const isKey = node.map && key.includes(CURSOR);
    const found = isKey ? placed("key", key) : find(value);
    if (!found) continue;
    if (!isKey) found.keys.unshift(key);
    found.nodes.unshift(node);
    return found;
  }
  return null;
}

function placed(kind, word) {
  return { kind, word: word.replace(CURSOR, ""), keys: [], nodes: [] };
}

// Reads blocks: lines that belong together by their indentation.
class Reader {
  constructor(text) {
    this.at = 0;
    this.lines = [];
    for (const line of text.split("\n")) {
      const content = line.trim();
      const isEmpty = !content || content.startsWith("#") || /^(---|\.\.\.)$/.test(content);
      if (!isEmpty) this.lines.push({ indent: line.length - line.trimStart().length, text: content });
    }
  }

  get line() {
    return this.lines[this.at];
  }

  // The block that begins at the next line, if that is indented so far.
  block(least) {
    const { line } = this;
    if (!line || line.indent < least) return null;
    if (/^[{[]/.test(line.text)) {
      this.at++;
      return this.flow(line.text, least - 1);
    }
    return DASH.test(line.text) ? this.list(line.indent, true) : this.map(line.indent);
  }

  list(column, isInset) {
    const list = [];
    for (let { line } = this; line && line.indent >= column; { line } = this) {
      const dash = line.indent === column && DASH.exec(line.text);
      if (dash && line.text.length > dash[0].length) {
        // A block of its own begins behind the dash.
        this.lines[this.at] = { indent: column + dash[0].length, text: line.text.slice(dash[0].length) };
        list.push(this.block(column + 1));
      } else if (dash) {
        this.at++;
        list.push(this.block(column + 1));
      } else if (line.indent > column) {
        this.at++;
      } else if (isInset && line.text.includes(CURSOR) && !KEY.test(line.text)) {
        this.at++;
        list.push({ word: line.text, kind: "item" });
      } else {
        break;
      }
    }
    return { list };
  }

  map(column) {
    const map = [];
    let hasKey = false;
    for (let { line } = this; line && line.indent >= column; { line } = this) {
      if (line.indent === column && DASH.test(line.text)) break;
      this.at++;
      if (line.indent > column) continue;
      const key = KEY.exec(line.text);
      hasKey ||= Boolean(key);
      map.push(key ? [unquoted(key[1]), this.value(line.text.slice(key[0].length), column)] : [uncommented(line.text), null]);
    }
    return hasKey || map.length > 1 ? { map } : { word: unquoted(map[0][0]), kind: "word" };
  }

  // The value behind the name of a field in that column.
  value(rest, column) {
    const text = uncommented(rest.trimStart());
    const { line } = this;
    if (!text) {
      return line?.indent === column && DASH.test(line.text) ? this.list(column, false) : this.block(column + 1);
    }
    if (/^[{[]/.test(text)) return this.flow(text, column);
    if (!/^[|>]/.test(text)) return { word: unquoted(text), kind: "value" };
    while (this.line?.indent > column) this.at++;
    return null;
  }

  // A value in brackets, which ends where they close, or before a line that is not indented further.
  flow(first, column) {
    const parts = [first];
    const isInside = () => this.line && (this.line.indent > column || /^[}\]]/.test(this.line.text));
    for (let open = depth(first); open > 0 && isInside(); this.at++) {
      const text = uncommented(this.line.text);
      parts.push(text);
      open += depth(text);
    }
    return new Flow(parts.join(" ")).node();
  }
}

// Reads values in brackets.
class Flow {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  node() {
    this.skip();
    if (this.text[this.at] === "{") return { map: this.members("}", () => this.member()) };
    if (this.text[this.at] === "[") return { list: this.members("]", () => this.node()) };
    return { word: this.word(), kind: "value" };
  }

  members(end, read) {
    const found = [];
    for (this.at++, this.skip(); this.at < this.text.length && this.text[this.at] !== end; this.skip()) {
      const begin = this.at;
      if (this.text[this.at] !== ",") found.push(read());
      if (this.at === begin) this.at++;
    }
    this.at++;
    return found;
  }

  member() {
    const key = this.word();
    this.skip();
    if (this.text[this.at] !== ":") return [key, null];
    this.at++;
    return [key, this.node()];
  }

  word() {
    const rest = this.text.slice(this.at, this.at + MAX_WORD);
    const [whole] = FIRST_QUOTED.exec(rest) ?? /^(?:[^,\]}:]|:(?![\s,\]}\uE000]|$))*/.exec(rest);
    this.at += whole.length;
    return unquoted(whole.trim());
  }

  skip() {
    while (this.text[this.at] === " " || this.text[this.at] === "\t") this.at++;
  }
}

// Longest word in brackets that is read as one.
const MAX_WORD = 10000;

function unquoted(text) {
  return /^[\x22\x27]/.test(text) ? text.slice(1, text.length > 1 && text.endsWith(text[0]) ? -1 : undefined) : text;
}

function uncommented(text) {
  if (!text.includes("#")) return text;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const [sign, before] = [text[at], text[at - 1] ?? " "];
    if (quote) {
      if (sign === "\\" && quote === "\x22") at++;
      else if (sign === quote) quote = "";
    } else if (/[\x22\x27]/.test(sign) && /[\s[{,:]/.test(before)) {
      quote = sign;
    } else if (sign === "#" && /\s/.test(before)) {
      return text.slice(0, at).trimEnd();
    }
  }
  return text;
}

// Brackets that a line opens and does not close.
function depth(text) {
  const open = text.replace(QUOTES, "");
  return (open.match(/[{[]/g)?.length ?? 0) - (open.match(/[}\]]/g)?.length ?? 0);
}
