/** Languages that share comments and strings. */
export type CodeFamily = 'braces' | 'hash' | 'dashes' | 'markup' | 'plain';

/** A part of a line with its role. */
export interface CodePart {
  readonly kind: 'comment' | 'string' | 'number' | 'keyword' | 'plain';
  readonly text: string;
}

/** The family of a file, by its name. */
export function codeFamilyOf(path: string): CodeFamily {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return familyByName.get(name) ?? familyByName.get(name.slice(name.lastIndexOf('.'))) ?? 'plain';
}

/**
 * Splits a line of code for highlighting. The joined parts are exactly the line. Each line is parsed alone, because a diff contains only some
 * lines: a comment or string over several lines is recognized only on lines that look like one.
 */
export function highlightCode(line: string, family: CodeFamily): readonly CodePart[] {
  if (family === 'plain' || line === '') return [{ kind: 'plain', text: line }];
  if (family === 'braces' && COMMENT_LINE.test(line)) return [{ kind: 'comment', text: line }];
  const parts: CodePart[] = [];
  for (const [text] of line.matchAll(PARTS[family])) {
    const kind = kindOf(text, family);
    const last = parts.at(-1);
    if (last?.kind === kind) parts[parts.length - 1] = { kind, text: last.text + text };
    else parts.push({ kind, text });
  }
  return parts;
}

const COMMENT_LINE = /^\s*\*(?:[\s/]|$)/;

// Every alternative matches in one pass, and the last one takes any character: linear in the length of the line.
const PARTS = {
  braces:
    /\/\/.*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|`(?:\\.|[^`\\])*`?|[\p{L}_$@][\p{L}\d_$]*|\d[\w.]*|\s+|./gsu,
  hash: /#.*|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[\p{L}_@][\p{L}\d_]*|\d[\w.]*|\s+|./gsu,
  dashes: /--.*|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[\p{L}_][\p{L}\d_]*|\d[\w.]*|\s+|./gsu,
  markup: /<!--(?:[^-]|-(?!->))*(?:-->)?|<\/?[\w:-]+|"[^"]*"?|[\w-]+|\s+|./gsu,
} as const;

function kindOf(text: string, family: CodeFamily): CodePart['kind'] {
  if (isComment(text, family)) return 'comment';
  if (/^["'`]/.test(text)) return text.length === 1 ? 'plain' : 'string';
  if (family === 'markup') return text.startsWith('<') && text.length > 1 ? 'keyword' : 'plain';
  if (/^\d/.test(text)) return 'number';
  return keywords.has(family === 'dashes' ? text.toLowerCase() : text) ? 'keyword' : 'plain';
}

function isComment(text: string, family: CodeFamily): boolean {
  switch (family) {
    case 'braces':
      return text.startsWith('//') || text.startsWith('/*');
    case 'hash':
      return text.startsWith('#');
    case 'dashes':
      return text.startsWith('--');
    case 'markup':
      return text.startsWith('<!--');
    case 'plain':
      return false;
  }
}

const familyByName: ReadonlyMap<string, CodeFamily> = new Map([
  ...toEntries(
    'braces',
    '.js .jsx .mjs .cjs .ts .tsx .mts .cts .json .jsonc .java .kt .kts .c .h .cc .cpp .hpp .cs .go .rs .swift .php .scala .dart .css .scss .less .proto .zig',
  ),
  ...toEntries(
    'hash',
    '.py .pyi .rb .sh .bash .zsh .fish .yaml .yml .toml .ini .conf .cfg .r .pl .ps1 .ex .exs .tf .mk .cmake dockerfile makefile .gitignore .env',
  ),
  ...toEntries('dashes', '.sql .lua .hs .elm .ada'),
  ...toEntries('markup', '.html .htm .xml .svg .vue .svelte .xhtml'),
]);

function toEntries(family: CodeFamily, names: string): [string, CodeFamily][] {
  return names.split(' ').map((name) => [name, family]);
}

const keywords: ReadonlySet<string> = new Set(
  (
    'abstract and as assert async await begin boolean break by case catch class const continue create def default defer del delete do ' +
    'elif else elsif end enum esac except export extends extern false fi final finally fn for foreach from func function global go ' +
    'group having if impl implements import in insert instanceof int interface into is join lambda let limit loop match mod module ' +
    'mut namespace new nil none None not null of on or order package pass private protected pub public raise readonly rescue ' +
    'return select self set static string struct super switch table then this throw trait true True False try type typeof ' +
    'undefined union unless update use using values var void when where while with yield'
  ).split(' '),
);
