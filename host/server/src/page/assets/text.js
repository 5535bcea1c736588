// The text of a workflow file in CodeMirror, which stands in for the text area. The text area keeps the same text, for the form.
//
// CodeMirror writes its styles into the document, which the content policy refuses; in a shadow root it uses sheets of the script.
import {
  acceptCompletion, autocompletion, bracketMatching, closeBrackets, closeBracketsKeymap, Compartment, completionKeymap, Decoration,
  defaultKeymap, EditorState, EditorView, highlightActiveLine, highlightActiveLineGutter, HighlightStyle, highlightSelectionMatches,
  history, historyKeymap, hoverTooltip, indentOnInput, indentUnit, indentWithTab, keymap, lineNumbers, lintGutter, MatchDecorator,
  nextDiagnostic, search, searchKeymap, setDiagnostics, snippet, syntaxHighlighting, tags, ViewPlugin, yaml,
} from "./codemirror.js";
import { completions, descriptionOf, executorOf, executorsIn, inputsOf } from "./completion.js";
import { placeOf } from "./place.js";

const WORD = /[\w@./-]/;
const HELP = "Ctrl-Space completes, Tab indents, F8 goes to the next error; Escape, then Tab, leaves the text.";

// Puts the editor in the place of a text area. Each change is an `input` event of the text area.
export function open(area) {
  const label = document.querySelector(`label[for=${area.id}]`);
  const host = document.createElement("div");
  host.id = "text";
  const root = host.attachShadow({ mode: "open" });
  const validity = new Compartment();
  const attributes = (isInvalid) =>
    EditorView.contentAttributes.of({ "aria-label": `${label.textContent}. ${HELP}`, "aria-invalid": String(isInvalid), tabindex: "0" });
  const hadFocus = document.activeElement === area;
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: area.value,
      selection: { anchor: hadFocus ? area.selectionStart : 0 },
      extensions: [...setup(), validity.of(attributes(false)), EditorView.updateListener.of((update) => update.docChanged && store(area, update.state))],
    }),
  });
  area.before(host);
  area.hidden = true;
  area.closest(".editor").after(help());
  label.addEventListener("click", () => view.focus());
  area.addEventListener("input", () => take(view, area.value));
  if (hadFocus) view.focus();
  return {
    mark(found) {
      view.dispatch({ effects: validity.reconfigure(attributes(found.some((one) => one.severity === "error"))) });
      view.dispatch(setDiagnostics(view.state, found.map((one) => diagnostic(view.state.doc, one))));
    },
    go(line, column) {
      const anchor = offset(view.state.doc, line, column);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
      view.focus();
    },
  };
}

function store(area, state) {
  area.value = state.doc.toString();
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

// Takes over a text that something else has written into the text area.
function take(view, text) {
  if (text !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}

function help() {
  const line = document.createElement("p");
  line.className = "help";
  line.textContent = HELP;
  return line;
}

function setup() {
  return [
    lineNumbers(), lintGutter(), highlightActiveLine(), highlightActiveLineGutter(), history(), EditorView.lineWrapping, indentUnit.of("  "), indentOnInput(),
    bracketMatching(), closeBrackets(), highlightSelectionMatches(), search({ top: true }), yaml(), syntaxHighlighting(COLOURS), EXPRESSIONS,
    autocompletion({ override: [complete], icons: false, activateOnCompletion: (one) => one.type === "field" }), hoverTooltip(explain),
    keymap.of([
      { key: "Tab", run: acceptCompletion }, { key: "Enter", run: beginBlock }, { key: "F8", run: nextDiagnostic }, ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap,
      ...historyKeymap, ...completionKeymap, indentWithTab,
    ]),
    THEME, EditorState.tabSize.of(2), EditorView.domEventHandlers({ beforeinput: replaceSelection }),
  ];
}

// A browser that replaces a selection by itself writes styles into the text, which the content policy refuses.
function replaceSelection(event, view) {
  const { main } = view.state.selection;
  if (event.inputType !== "insertText" || main.empty || !event.data || view.composing) return false;
  const typed = () => view.state.update(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
  const handlers = view.state.facet(EditorView.inputHandler);
  if (!handlers.some((handle) => handle(view, main.from, main.to, event.data, typed))) view.dispatch(typed());
  event.preventDefault();
  return true;
}

// Enter behind the name of a field begins its block, indented further than the name.
function beginBlock({ state, dispatch }) {
  const { main } = state.selection;
  const line = state.doc.lineAt(main.head);
  const before = /^(\s*(?:- +)*)[\w.-]+:\s*$/.exec(line.text);
  if (!main.empty || main.head !== line.to || !before) return false;
  dispatch(state.update(state.replaceSelection(`\n${" ".repeat(before[1].length + 2)}`), { userEvent: "input", scrollIntoView: true }));
  return true;
}

function offset(doc, line, column) {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(at.from + Math.max(column - 1, 0), at.to);
}

// From the place of an error to the end of its word, or the whole line.
function diagnostic(doc, { line, column, severity, message }) {
  const from = offset(doc, line, column);
  const at = doc.lineAt(from);
  const word = /^[^\s:,[\]{}]+/.exec(doc.sliceString(from, at.to));
  return { from: word ? from : at.from, to: word ? from + word[0].length : at.to, severity, message };
}

const answers = new Map();

// The JSON at an address, which is asked for once; null if the server does not give it.
function loaded(address) {
  if (!answers.has(address)) {
    const answer = fetch(address).then((response) => (response.ok ? response.json() : null)).catch(() => null);
    answers.set(address, answer);
    answer.then((found) => found ?? answers.delete(address));
  }
  return answers.get(address);
}

function loadSchema() {
  return loaded("/assets/workflow.schema.json");
}

async function installed() {
  const found = await loaded("/v1/plugins?limit=1000");
  return (found?.plugins ?? []).filter((one) => !one.shadowed && one.state !== "held");
}

// The executors that may stand at a place: installed ones, and others that the text names elsewhere.
async function executorsFor(text, place) {
  const known = await installed();
  const names = new Set(known.map((one) => one.name));
  const others = executorsIn(text).filter((name) => !names.has(name) && name !== place.word);
  return [...known, ...others.map((name) => ({ name }))];
}

// The inputs of the executor whose inputs stand at a place, of the version that runs find first.
async function inputsAt(place) {
  const name = executorOf(place);
  const known = name && (await installed()).find((one) => one.name === name);
  const version = known?.version ?? known?.digest;
  const found = version && (await loaded(`/v1/plugins/${encodeURIComponent(name)}/${encodeURIComponent(version)}`));
  return found?.inputs ? inputsOf(found.inputs, place) : [];
}

async function complete(context) {
  const { from, text: word } = context.matchBefore(/(?:[\w@./][\w@./-]*)?$/);
  if (!context.explicit && from === context.pos && context.state.sliceDoc(from - 2, from) !== ": ") return null;
  const text = context.state.doc.toString();
  const place = placeOf(text, context.pos);
  const known = place && (await loadSchema());
  if (!known || context.aborted) return null;
  const found = [...(await inputsAt(place)), ...completions(known, place, await executorsFor(text, place))];
  const isWhole = !context.explicit && found.some((one) => one.label === word);
  return found.length && !isWhole ? { from, options: found.map((one, at) => option(one, at, context.state, from)) } : null;
}

function option(one, at, state, from) {
  const line = state.doc.lineAt(from);
  const rest = state.sliceDoc(from, line.to);
  return {
    label: one.label,
    type: one.kind,
    detail: one.required ? "required" : one.isChoice ? "one of these" : one.instead && `older word for ${one.instead}`,
    info: one.about ? () => described(one.about) : undefined,
    // Values stand in their own order, fields in the order of the alphabet behind the required ones.
    boost: one.kind === "value" ? -Math.min(at, 99) : 2 * Number(one.required) + Number(Boolean(one.isChoice)) - Number(Boolean(one.instead)),
    apply: one.kind === "field" ? fieldText(one, line.text, from - line.from, rest) : valueText(one),
  };
}

function valueText(one) {
  return one.isListed ? `[${one.label}]` : one.label;
}

// A field with the beginning of its value; only the name where a colon or a quote follows, or in brackets.
function fieldText(one, line, column, rest) {
  const before = line.slice(0, column);
  if (/^[\w@./-]*\s*:/.test(rest) || /[\x22\x27]$/.test(before)) return one.label;
  const isFlow = !/^[\s-]*$/.test(before);
  const [dash, depth] = one.isItem ? ["- ", column + 4] : ["", column + 2];
  const below = isFlow ? " " : `\n${" ".repeat(depth)}`;
  const ends = { text: " ", flow: " { ${} }", list: " [${}]", block: below, items: isFlow ? " [${}]" : `${below}- ` };
  const text = `${dash}${one.label}:${ends[one.form]}`;
  return text.includes("${}") ? snippet(text) : text;
}

async function explain(view, at) {
  const line = view.state.doc.lineAt(at);
  let [from, to] = [at, at];
  while (from > line.from && WORD.test(line.text[from - line.from - 1])) from--;
  while (to < line.to && WORD.test(line.text[to - line.from])) to++;
  const place = from < to && placeOf(view.state.doc.toString(), to);
  const known = place && (await loadSchema());
  const ofInput = known && (await inputsAt(place)).find((one) => one.label === place.word)?.about;
  const about = ofInput || (known && descriptionOf(known, place));
  return about ? { pos: from, end: to, above: true, create: () => ({ dom: described(about) }) } : null;
}

// A description, of which every second part between backquotes is code.
function described(about) {
  const dom = document.createElement("div");
  dom.className = "cm-about";
  about.split("\x60").forEach((part, at) => {
    const code = document.createElement("code");
    code.textContent = part;
    dom.append(at % 2 ? code : part);
  });
  return dom;
}

const decorator = new MatchDecorator({ regexp: /\{\{.*?\}\}/g, decoration: Decoration.mark({ class: "cm-expression" }) });
const EXPRESSIONS = ViewPlugin.fromClass(
  class {
    constructor(view) {
      this.decorations = decorator.createDeco(view);
    }

    update(update) {
      this.decorations = decorator.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

const COLOURS = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: "var(--link)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: tags.comment, color: "var(--dim)", fontStyle: "italic" },
  { tag: [tags.separator, tags.squareBracket, tags.brace], color: "var(--dim)" },
  { tag: [tags.labelName, tags.typeName, tags.keyword, tags.meta], color: "var(--accent)" },
]);

const CODE = "ui-monospace, 'SF Mono', Menlo, Consolas, monospace";
const RAISED = { background: "var(--ground)", color: "var(--ink)", border: "1px solid var(--dim)", borderRadius: "6px" };
const FIELD = { background: "var(--ground)", color: "var(--ink)", border: "1px solid var(--dim)", borderRadius: "4px", font: "inherit", padding: "2px 6px" };

const THEME = EditorView.theme({
  "&": { height: "100%", background: "var(--ground)", color: "var(--ink)", fontSize: "0.86rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: CODE, lineHeight: "1.45" },
  ".cm-content": { padding: "10px 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 12px 0 6px" },
  ".cm-gutters": { background: "var(--panel)", color: "var(--dim)", borderRight: "1px solid var(--edge)" },
  ".cm-activeLine": { background: "color-mix(in srgb, var(--panel) 70%, transparent)" },
  ".cm-activeLineGutter": { background: "var(--panel)", color: "var(--ink)" },
  ".cm-expression, .cm-expression *": { color: "var(--ask)" },
  ".cm-selectionMatch, .cm-searchMatch": { background: "var(--ask-panel)", outline: "1px solid var(--edge)" },
  ".cm-searchMatch-selected": { outline: "2px solid var(--accent)" },
  "&.cm-focused .cm-matchingBracket, &.cm-focused .cm-nonmatchingBracket": { background: "transparent", outline: "1px solid var(--dim)" },
  ".cm-panels": { background: "var(--panel)", color: "var(--ink)" },
  ".cm-panels-top": { borderBottom: "1px solid var(--edge)" },
  ".cm-textfield": FIELD,
  ".cm-button": { ...FIELD, backgroundImage: "none" },
  ".cm-panel.cm-search [name=close]": { color: "var(--ink)", fontSize: "1.1rem" },
  ".cm-tooltip": RAISED,
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: CODE, maxHeight: "16em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 10px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "0.8" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-tooltip.cm-completionInfo": { padding: "0" },
  ".cm-about": { maxWidth: "44ch", padding: "6px 10px", fontSize: "0.86rem" },
  ".cm-about code": { fontFamily: CODE },
  ".cm-diagnostic": { padding: "5px 10px", maxWidth: "60ch", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
});
