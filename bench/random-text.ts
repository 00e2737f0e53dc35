/** The only source of randomness of a generated stream, so that a seed determines the whole stream. */
export class RandomText {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, below 1. The generator is mulberry32: small, quick and good enough to mix words. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  id(prefix: string, length = 24): string {
    let id = prefix;
    for (let index = 0; index < length; index++) id += ID_CHARACTERS[this.below(ID_CHARACTERS.length)];
    return id;
  }

  uuid(): string {
    const hex = (length: number) => Array.from({ length }, () => this.below(16).toString(16)).join('');
    return `${hex(8)}-${hex(4)}-4${hex(3)}-${this.pick(['8', '9', 'a', 'b'])}${hex(3)}-${hex(12)}`;
  }

  /**
   * Text like an agent's, exactly `length` UTF-16 units long or one less where a surrogate pair would be cut.
   * `unicode` and `escapes` are the shares of pieces that are not ASCII and that JSON has to escape.
   */
  prose(length: number, unicode = 0, escapes = 0.06): string {
    let text = '';
    while (text.length < length) {
      const share = this.next();
      if (share < unicode) text += this.pick(UNICODE);
      else if (share < unicode + escapes) text += this.pick(ESCAPED);
      else text += `${this.pick(WORDS)} `;
    }
    return text.slice(0, wholeCharacters(text, length));
  }
}

/** The largest cut of at most `length` units that leaves surrogate pairs whole. */
export function wholeCharacters(text: string, length: number): number {
  if (length >= text.length) return text.length;
  const last = text.charCodeAt(length - 1);
  return last >= 0xd800 && last <= 0xdbff ? length - 1 : length;
}

const ID_CHARACTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

const WORDS = (
  'a loom holds many threads and weaves them into one cloth so every agent has its own colour we checked packages/server ' +
  'first then ran npm test which failed in session.ts at line 212 where a handle was closed too early reading the log ' +
  'again shows that both workers had finished'
).split(' ');

const ESCAPED = [
  '\n',
  '\n\n',
  '\t',
  ' "so be it" ',
  ' \\d+ ',
  ' if (a < b) {\n  stop();\n}\n',
  ' D:\\work\\x.txt ',
  '\r\n',
];

const UNICODE = ['ö', 'ł', '—', '≤', '漢字', '🧵', '\u2028', '\u00a0', '🧑‍🚀', 'e\u0301'];
