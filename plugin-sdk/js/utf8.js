// Texts as UTF-8: the engine has neither TextEncoder nor TextDecoder.

// Bytes that are turned into text at once: as many as a call may have arguments everywhere.
const PART = 8192;

// By functions of the engine: one of our own takes a microsecond for each character.
export function encode(text) {
  const bytes = unescape(encodeURIComponent(text.toWellFormed()));
  const all = new Uint8Array(bytes.length);
  for (let at = 0; at < all.length; at += 1) all[at] = bytes.charCodeAt(at);
  return all;
}

// Returns the text, or throws a RangeError that names the first byte that is none.
export function decode(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length; ) {
    let end = Math.min(at + PART, bytes.length);
    // A character's bytes stay together.
    for (let more = 0; more < 3 && (bytes[end] & 0xc0) === 0x80; more += 1) end += 1;
    parts.push(partOf(bytes, at, end));
    at = end;
  }
  return parts.join('');
}

function partOf(bytes, at, end) {
  const part = String.fromCharCode.apply(null, bytes.subarray(at, end));
  try {
    return decodeURIComponent(escape(part));
  } catch {
    for (let next = at; next < end; ) next += lengthAt(bytes, next);
    throw invalid(at);
  }
}

function lengthAt(bytes, at) {
  const first = bytes[at];
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  let code = first & (0x7f >> length);
  for (let next = at + 1; next < at + length; next += 1) {
    // A byte behind the end is undefined, and fits nothing.
    if ((bytes[next] & 0xc0) !== 0x80) throw invalid(at);
    code = (code << 6) | (bytes[next] & 0x3f);
  }
  const least = [0, 0, 0x80, 0x800, 0x10000][length];
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  if (first < 0xc2 || first > 0xf4 || code < least || code > 0x10ffff || isHalf) throw invalid(at);
  return length;
}

const invalid = (at) => new RangeError(`not UTF-8 at byte ${at}`);
