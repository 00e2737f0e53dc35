import { decodeEntities } from './entities.ts';
import { TextFlow } from './text-flow.ts';

/**
 * Reduces a page to text that can be read: headings, lists, links with their addresses, no scripts and no styles. Pages
 * are hostile: each character is looked at a fixed number of times, whatever is left open, nested or broken, and there is a
 * pause every few thousand, for `inSlices`.
 */
export function* htmlToText(html: string, base: string): Generator<void, string> {
  const flow = new TextFlow();
  let link: { href: string; begin: number } | undefined;
  let links = 0;
  let at = 0;
  let textBegin = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open === -1) break;
    yield;
    const tag = yield* readTag(html, open);
    at = tag.end;
    if (tag.type === 'text') continue;
    yield* addText(flow, html, textBegin, open);
    if (tag.type === 'open' && UNREAD.has(tag.name)) at = yield* skipElement(html, tag.name, at);
    else if (tag.type === 'open' && tag.name === 'a') link = { href: tag.href, begin: flow.length };
    else if (tag.type === 'close' && tag.name === 'a') {
      closeLink();
      link = undefined;
    } else if (tag.type === 'open' || tag.type === 'close') flow.mark(tag.name, tag.type === 'open');
    textBegin = at;
  }
  yield* addText(flow, html, textBegin, html.length);
  return flow.take();

  function closeLink(): void {
    if (link === undefined || link.href === '' || flow.length === link.begin || links >= LINKS_MAX) return;
    const address = toAddress(link.href, base);
    if (address === undefined) return;
    links++;
    flow.add(` (${address})`);
  }
}

const LINKS_MAX = 2_000;
const LINK_CHARS_MAX = 500;

/** Whose content is for programs, or for those without programs. */
const UNREAD = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'canvas',
  'select',
  'math',
]);

/** Text in pieces that are decoded and written at once. None ends within an entity or between two that belong together. */
function* addText(flow: TextFlow, html: string, begin: number, end: number): Generator<void, void> {
  for (let at = begin; at < end; ) {
    const next = at + PIECE_CHARS >= end ? end : findCut(html, at + PIECE_CHARS);
    flow.add(decodeEntities(html.slice(at, next)));
    at = next;
    if (at < end) yield;
  }
}

const PIECE_CHARS = 16 * 1024;
const ENTITY_CHARS_MAX = 12;

function findCut(html: string, at: number): number {
  const entity = html.slice(at - ENTITY_CHARS_MAX, at).lastIndexOf('&');
  if (entity !== -1) return at - ENTITY_CHARS_MAX + entity;
  const before = html.charCodeAt(at - 1);
  // Half of a character, or of the end of a line.
  return before === 13 || (before >= 0xd800 && before <= 0xdbff) ? at - 1 : at;
}

type Tag =
  | { type: 'open'; name: string; href: string; end: number }
  | { type: 'close'; name: string; end: number }
  /** A comment or a declaration. */
  | { type: 'nothing'; end: number }
  /** Only a character that looks like the beginning of one. */
  | { type: 'text'; end: number };

/** Where an end is missing the rest of the page is taken as one, so that nobody searches for it twice. */
function* readTag(html: string, open: number): Generator<void, Tag> {
  if (html.startsWith('<!--', open)) return { type: 'nothing', end: after(html, '-->', open + 4) };
  const next = html[open + 1] ?? '';
  if (next === '!' || next === '?') return { type: 'nothing', end: after(html, '>', open + 2) };
  const isClose = next === '/';
  const begin = open + (isClose ? 2 : 1);
  if (!isLetter(html.charCodeAt(begin))) {
    return isClose ? { type: 'nothing', end: after(html, '>', begin) } : { type: 'text', end: begin };
  }
  const nameEnd = skipTo(html, begin, NAME_END);
  const name = html.slice(begin, Math.min(nameEnd, begin + NAME_CHARS_MAX)).toLowerCase();
  const { href, end } = yield* readAttributes(html, nameEnd);
  return isClose ? { type: 'close', name, end } : { type: 'open', name, href, end };
}

const NAME_CHARS_MAX = 32;

function* readAttributes(html: string, begin: number): Generator<void, { href: string; end: number }> {
  let href = '';
  let at = begin;
  for (let count = 1; at < html.length; count++) {
    if (count % ATTRIBUTES_AT_ONCE === 0) yield;
    at = skipTo(html, at, NO_GAP);
    if (html[at] === '>') return { href, end: at + 1 };
    const nameBegin = at;
    // A name may begin with what ends others.
    at = skipTo(html, at + 1, ATTRIBUTE_NAME_END);
    const isHref = at - nameBegin === 4 && html.slice(nameBegin, at).toLowerCase() === 'href';
    at = skipTo(html, at, NO_SPACE);
    if (html[at] !== '=') continue;
    at = skipTo(html, at + 1, NO_SPACE);
    const quote = html[at];
    const valueBegin = quote === '"' || quote === "'" ? at + 1 : at;
    if (valueBegin > at) {
      const close = html.indexOf(quote ?? '', valueBegin);
      at = close === -1 ? html.length : close;
    } else at = skipTo(html, at, VALUE_END);
    if (isHref && href === '') href = html.slice(valueBegin, at);
    if (valueBegin > 0 && html[at] === quote && quote !== '>') at++;
  }
  return { href, end: html.length };
}

const ATTRIBUTES_AT_ONCE = 1_000;

/** Where the first of some characters is. Nearly always it is near; further away a pattern is faster. */
function skipTo(html: string, begin: number, { has, pattern }: Characters): number {
  const near = Math.min(html.length, begin + NEAR_CHARS);
  for (let at = begin; at < near; at++) if (has(html.charCodeAt(at))) return at;
  pattern.lastIndex = near;
  return pattern.exec(html)?.index ?? html.length;
}

interface Characters {
  readonly has: (code: number) => boolean;
  /** The same, with the flag `g`. */
  readonly pattern: RegExp;
}

const NEAR_CHARS = 64;
const NO_SPACE: Characters = { has: (code) => !isSpace(code), pattern: /[^ \t-\r]/g };
const NO_GAP: Characters = { has: (code) => code !== 47 && !isSpace(code), pattern: /[^ \t-\r/]/g };
const NAME_END: Characters = { has: isNameEnd, pattern: /[ \t-\r/>]/g };
const ATTRIBUTE_NAME_END: Characters = { has: (code) => code === 61 || isNameEnd(code), pattern: /[ \t-\r/>=]/g };
const VALUE_END: Characters = { has: (code) => code === 62 || isSpace(code), pattern: /[ \t-\r>]/g };

/** Behind the end of an element whose content is not read. */
function* skipElement(html: string, name: string, begin: number): Generator<void, number> {
  let count = 0;
  for (let at = html.indexOf('</', begin); at !== -1; at = html.indexOf('</', at + 2)) {
    const end = at + 2 + name.length;
    if (html.slice(at + 2, end).toLowerCase() === name && !isWordPart(html.charCodeAt(end)))
      return after(html, '>', at);
    if (++count % ENDS_AT_ONCE === 0) yield;
  }
  return html.length;
}

const ENDS_AT_ONCE = 1_000;

function after(html: string, text: string, begin: number): number {
  const found = html.indexOf(text, begin);
  return found === -1 ? html.length : found + text.length;
}

function toAddress(href: string, base: string): string | undefined {
  // An entity has at most twelve characters for the one that it stands for.
  if (href.length > LINK_CHARS_MAX * ENTITY_CHARS_MAX) return undefined;
  const text = decodeEntities(href.trim());
  if (text.length > LINK_CHARS_MAX || text.startsWith('#') || !URL.canParse(text, base)) return undefined;
  const url = new URL(text, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined;
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function isWordPart(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57);
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function isNameEnd(code: number): boolean {
  return code === 47 || code === 62 || isSpace(code);
}
