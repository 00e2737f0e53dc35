/** Builds the text of a page from pieces, with the spaces and line breaks that a reader expects. */
export class TextFlow {
  #pieces: string[] = [];
  #pieceChars = 0;
  /** Parts of many pieces each: joining all pieces at the end would block for too long. */
  readonly #parts: string[] = [];
  #length = 0;
  /** The pending line breaks before the next word; only the largest number is written. */
  #newlines = 0;
  #hasSpace = false;
  #prefix = '';
  #preformatted = 0;

  /** Length of the text written so far. */
  get length(): number {
    return this.#length;
  }

  add(text: string): void {
    if (text === '') return;
    if (this.#preformatted > 0) return this.#write(text.split(/\r\n?/).join('\n'));
    const words = text.replace(SPACES, ' ');
    const inner = words.trim();
    if (words.startsWith(' ')) this.#hasSpace = true;
    if (inner === '') return;
    this.#write(inner);
    this.#hasSpace = words.endsWith(' ');
  }

  /** Called when an element begins or ends. */
  mark(name: string, isBegin: boolean): void {
    if (name === 'pre') this.#preformatted = Math.max(0, this.#preformatted + (isBegin ? 1 : -1));
    const level = isBegin ? HEADINGS.indexOf(name) : -1;
    if (PARAGRAPHS.has(name)) this.#break(2);
    else if (LINES.has(name)) this.#break(1);
    else if (name === 'td' || name === 'th') this.#hasSpace = true;
    if (level >= 0) this.#prefix = `${'#'.repeat(level + 1)} `;
    else if (name === 'li' && isBegin) this.#prefix = '- ';
  }

  take(): string {
    return [...this.#parts, ...this.#pieces].join('').trim();
  }

  #break(count: number): void {
    this.#newlines = Math.max(this.#newlines, count);
    this.#hasSpace = false;
    this.#prefix = '';
  }

  #write(text: string): void {
    const isFirst = this.#length === 0;
    const gap = isFirst ? '' : this.#newlines > 0 ? '\n'.repeat(this.#newlines) : this.#hasSpace ? ' ' : '';
    const piece = `${gap}${this.#prefix}${text}`;
    this.#newlines = 0;
    this.#hasSpace = false;
    this.#prefix = '';
    this.#length += piece.length;
    this.#pieces.push(piece);
    this.#pieceChars += piece.length;
    if (this.#pieceChars < PART_CHARS) return;
    this.#parts.push(this.#pieces.join(''));
    this.#pieces = [];
    this.#pieceChars = 0;
  }
}

const PART_CHARS = 64 * 1024;
/** Includes the no-break space. */
const SPACES = /[\s\u00a0]+/g;
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
const PARAGRAPHS = new Set([
  ...HEADINGS,
  'p',
  'ul',
  'ol',
  'dl',
  'table',
  'pre',
  'blockquote',
  'hr',
  'title',
  'article',
  'section',
]);
const LINES = new Set([
  'address',
  'aside',
  'body',
  'br',
  'dd',
  'div',
  'dt',
  'figcaption',
  'figure',
  'footer',
  'form',
  'header',
  'li',
  'main',
  'nav',
  'option',
  'tr',
]);
