import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { TextFlow } from './text-flow.ts';

/**
 * Reduces a page to readable text: headings, lists and links with their addresses, without scripts and styles. Pages are
 * hostile: only the tokenizer of htmlparser2 is used, which looks at each character a fixed number of times. Its parser
 * searches the stack of open elements for every end tag, which takes quadratic time for a page of unmatched tags. The
 * page is read in chunks, with a pause after each, for `inSlices`.
 */
export function* htmlToText(html: string, base: string): Generator<void, string> {
  const reader = new PageReader(html, base);
  const tokenizer = new Tokenizer({}, reader);
  for (let at = 0; at < html.length; ) {
    const end = findChunkEnd(html, at);
    tokenizer.write(html.slice(at, end));
    at = end;
    yield;
  }
  tokenizer.end();
  return reader.flow.take();
}

const CHUNK_CHARS = 4 * 1024;

/** A chunk does not end between the halves of a character or of a line end. */
function findChunkEnd(html: string, at: number): number {
  const end = at + CHUNK_CHARS;
  if (end >= html.length) return html.length;
  const last = html.charCodeAt(end - 1);
  return last === 13 || (last >= 0xd800 && last <= 0xdbff) ? end + 1 : end;
}

/** Writes the tokens of a page to a {@link TextFlow}. Positions are those in the whole page. */
class PageReader implements TokenizerCallbacks {
  readonly flow = new TextFlow();
  readonly #html: string;
  readonly #base: string;
  /** The element that is being skipped. */
  #skipped: string | undefined;
  /** The tag that is being read, and its `href`. */
  #tag = '';
  #isHref = false;
  #href: string | undefined;
  #link: { readonly href: string; readonly begin: number } | undefined;
  #links = 0;

  constructor(html: string, base: string) {
    this.#html = html;
    this.#base = base;
  }

  ontext(start: number, end: number): void {
    if (this.#skipped === undefined) this.flow.add(this.#html.slice(start, end));
  }

  ontextentity(codePoint: number): void {
    if (this.#skipped === undefined && codePoint !== SOFT_HYPHEN) this.flow.add(String.fromCodePoint(codePoint));
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#name(start, end);
    this.#isHref = false;
    this.#href = undefined;
  }

  onattribname(start: number, end: number): void {
    // Of several attributes with the same name the first one counts.
    this.#isHref = this.#href === undefined && end - start === 4 && this.#name(start, end) === 'href';
    if (this.#isHref) this.#href = '';
  }

  onattribdata(start: number, end: number): void {
    this.#addToHref(this.#html.slice(start, Math.min(end, start + LINK_CHARS_MAX + 1)));
  }

  onattribentity(codePoint: number): void {
    this.#addToHref(String.fromCodePoint(codePoint));
  }

  onattribend(): void {
    this.#isHref = false;
  }

  onopentagend(): void {
    if (this.#skipped !== undefined) return;
    if (SKIPPED.has(this.#tag)) this.#skipped = this.#tag;
    else if (this.#tag === 'a') this.#link = { href: this.#href ?? '', begin: this.flow.length };
    else this.flow.mark(this.#tag, true);
  }

  onselfclosingtag(): void {
    // In HTML a slash closes nothing, except in the elements of SVG and MathML.
    if (!FOREIGN.has(this.#tag)) this.onopentagend();
  }

  onclosetag(start: number, end: number): void {
    const name = this.#name(start, end);
    if (this.#skipped !== undefined) {
      if (this.#skipped === name) this.#skipped = undefined;
    } else if (name === 'a') this.#closeLink();
    else this.flow.mark(name, false);
  }

  isInForeignContext(): boolean {
    return this.#skipped !== undefined && FOREIGN.has(this.#skipped);
  }

  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #name(start: number, end: number): string {
    return this.#html.slice(start, Math.min(end, start + NAME_CHARS_MAX)).toLowerCase();
  }

  #addToHref(text: string): void {
    // Keeps one character more than allowed, to detect that the link is too long.
    if (this.#isHref && this.#href !== undefined && this.#href.length <= LINK_CHARS_MAX) this.#href += text;
  }

  #closeLink(): void {
    const link = this.#link;
    this.#link = undefined;
    if (link === undefined || this.flow.length === link.begin || this.#links >= LINKS_MAX) return;
    const address = toAddress(link.href.trim(), this.#base);
    if (address === undefined) return;
    this.#links++;
    this.flow.add(` (${address})`);
  }
}

const SOFT_HYPHEN = 0xad;
const NAME_CHARS_MAX = 32;
const LINKS_MAX = 2_000;
const LINK_CHARS_MAX = 500;
const FOREIGN = new Set(['svg', 'math']);

/** Elements whose content is for programs, or for browsers without scripts. */
const SKIPPED = new Set([
  ...FOREIGN,
  'script',
  'style',
  'noscript',
  'template',
  'iframe',
  'object',
  'canvas',
  'select',
]);

function toAddress(href: string, base: string): string | undefined {
  if (href === '' || href.length > LINK_CHARS_MAX || href.startsWith('#') || !URL.canParse(href, base))
    return undefined;
  const url = new URL(href, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined;
}
