import { decodeEntities } from './entities.ts';
import { TextFlow } from './text-flow.ts';

/**
 * Reduces a page to text that can be read: headings, lists, links with their addresses, no scripts and no styles. Pages
 * are hostile: each character is looked at a fixed number of times, whatever is left open, nested or broken.
 */
export function htmlToText(html: string, base: string): string {
  const flow = new TextFlow();
  let link: { href: string; begin: number } | undefined;
  let links = 0;
  let at = 0;
  let textBegin = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open === -1) break;
    const tag = readTag(html, open);
    at = tag.end;
    if (tag.type === 'text') continue;
    flow.add(decodeEntities(html.slice(textBegin, open)));
    if (tag.type === 'open' && UNREAD.has(tag.name)) at = skipElement(html, tag.name, at);
    else if (tag.type === 'open' && tag.name === 'a') link = { href: tag.href, begin: flow.length };
    else if (tag.type === 'close' && tag.name === 'a') {
      closeLink();
      link = undefined;
    } else if (tag.type === 'open' || tag.type === 'close') flow.mark(tag.name, tag.type === 'open');
    textBegin = at;
  }
  flow.add(decodeEntities(html.slice(textBegin)));
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

type Tag =
  | { type: 'open'; name: string; href: string; end: number }
  | { type: 'close'; name: string; end: number }
  /** A comment or a declaration. */
  | { type: 'nothing'; end: number }
  /** Only a character that looks like the beginning of one. */
  | { type: 'text'; end: number };

/** Where an end is missing the rest of the page is taken as one, so that nobody searches for it twice. */
function readTag(html: string, open: number): Tag {
  if (html.startsWith('<!--', open)) return { type: 'nothing', end: after(html, '-->', open + 4) };
  const next = html[open + 1] ?? '';
  if (next === '!' || next === '?') return { type: 'nothing', end: after(html, '>', open + 2) };
  const isClose = next === '/';
  const begin = open + (isClose ? 2 : 1);
  if (!isLetter(html.charCodeAt(begin))) {
    return isClose ? { type: 'nothing', end: after(html, '>', begin) } : { type: 'text', end: begin };
  }
  let at = begin;
  while (at < html.length && !isNameEnd(html.charCodeAt(at))) at++;
  const name = html.slice(begin, Math.min(at, begin + NAME_CHARS_MAX)).toLowerCase();
  const { href, end } = readAttributes(html, at);
  return isClose ? { type: 'close', name, end } : { type: 'open', name, href, end };
}

const NAME_CHARS_MAX = 32;

function readAttributes(html: string, begin: number): { href: string; end: number } {
  let href = '';
  let at = begin;
  while (at < html.length) {
    while (at < html.length && (isSpace(html.charCodeAt(at)) || html[at] === '/')) at++;
    if (html[at] === '>') return { href, end: at + 1 };
    const nameBegin = at;
    // A name may begin with what ends others.
    do at++;
    while (at < html.length && html[at] !== '=' && !isNameEnd(html.charCodeAt(at)));
    const isHref = at - nameBegin === 4 && html.slice(nameBegin, at).toLowerCase() === 'href';
    while (at < html.length && isSpace(html.charCodeAt(at))) at++;
    if (html[at] !== '=') continue;
    at++;
    while (at < html.length && isSpace(html.charCodeAt(at))) at++;
    const quote = html[at];
    const valueBegin = quote === '"' || quote === "'" ? at + 1 : at;
    if (valueBegin > at) {
      const close = html.indexOf(quote ?? '', valueBegin);
      at = close === -1 ? html.length : close;
    } else while (at < html.length && html[at] !== '>' && !isSpace(html.charCodeAt(at))) at++;
    if (isHref && href === '') href = html.slice(valueBegin, at);
    if (valueBegin > 0 && html[at] === quote && quote !== '>') at++;
  }
  return { href, end: html.length };
}

/** Behind the end of an element whose content is not read. */
function skipElement(html: string, name: string, begin: number): number {
  const close = new RegExp(`</${name}(?![a-z0-9])`, 'gi');
  close.lastIndex = begin;
  const found = close.exec(html);
  return found === null ? html.length : after(html, '>', found.index);
}

function after(html: string, text: string, begin: number): number {
  const found = html.indexOf(text, begin);
  return found === -1 ? html.length : found + text.length;
}

function toAddress(href: string, base: string): string | undefined {
  const text = decodeEntities(href.trim());
  if (text.length > LINK_CHARS_MAX || text.startsWith('#') || !URL.canParse(text, base)) return undefined;
  const url = new URL(text, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined;
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function isNameEnd(code: number): boolean {
  return code === 47 || code === 62 || isSpace(code);
}
