/**
 * Measures JSON before it is parsed: V8 takes two seconds for 16 MiB of brackets, and nothing can interrupt it.
 * Bytes may be cut anywhere. Text that is not JSON is measured as well; the parser rejects it.
 *
 * @example
 * const gauge = new JsonGauge();
 * for (const chunk of chunks) gauge.push(chunk);
 * if (gauge.depth > 100) throw new Error('nested too deep');
 */
export class JsonGauge {
  /** The deepest nesting so far. */
  depth = 0;
  /** An upper bound for the number of values so far: at most one too many for each array and object. */
  values = 1;
  /** The number of `values` in the first two levels. */
  shallow = 0;
  /** The names of all objects: reading and copying one costs many times what a value of a list does. */
  names = 0;
  #level = 0;
  #isInString = false;
  #isEscaped = false;

  push(bytes: Uint8Array, start = 0, end: number = bytes.length): void {
    // Locals: this loop runs for each byte.
    let { depth, values, shallow, names } = this;
    let level = this.#level;
    let isInString = this.#isInString;
    let isEscaped = this.#isEscaped;
    for (let at = start; at < end; at++) {
      const byte = bytes[at];
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInString = false;
      } else if (byte === QUOTE) isInString = true;
      else if (byte === COMMA) {
        values++;
        if (level <= SHALLOW_LEVELS) shallow++;
      } else if (byte === COLON) names++;
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        values++;
        if (++level > depth) depth = level;
      } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) level--;
    }
    this.depth = depth;
    this.values = values;
    this.shallow = shallow;
    this.names = names;
    this.#level = level;
    this.#isInString = isInString;
    this.#isEscaped = isEscaped;
  }

  /** A JSON string does not continue on the next line, so an unbalanced quote does not hide what follows. */
  endLine(): void {
    this.#isInString = false;
    this.#isEscaped = false;
  }

  /** Starts a new text. */
  reset(): void {
    this.endLine();
    this.#level = 0;
    this.depth = 0;
    this.values = 1;
    this.shallow = 0;
    this.names = 0;
  }
}

/** The same for text that is there as a whole. */
export function gaugeJson(text: string): Readonly<Pick<JsonGauge, 'depth' | 'values' | 'shallow' | 'names'>> {
  const gauge = new JsonGauge();
  gauge.push(Buffer.from(text));
  return gauge;
}

const SHALLOW_LEVELS = 2;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
