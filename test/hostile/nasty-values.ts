import type { RandomText } from '../../bench/random-text.ts';

/** A grammar of values that break things: types where others are expected, edges of numbers, hostile texts, deep nesting. */
export class NastyValues {
  readonly #random: RandomText;
  readonly #nestingMax: number;

  /** `nestingMax`: levels of the deepest values. */
  constructor(random: RandomText, nestingMax = 3_000) {
    this.#random = random;
    this.#nestingMax = nestingMax;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.#random.below(items.length)]!;
  }

  chance(part: number): boolean {
    return this.#random.below(1_000) < part * 1_000;
  }

  text(): string {
    const [one, other] = [this.pick(texts), this.pick(texts)];
    return this.pick([one, one + other, one.repeat(this.#random.below(200)), `${one}\n${other}`]).slice(0, 100_000);
  }

  value(depth = 0): unknown {
    if (depth > 3) return this.pick(scalars);
    return this.pick([
      () => this.pick(scalars),
      () => this.text(),
      () => Array.from({ length: this.#random.below(4) }, () => this.value(depth + 1)),
      () => this.object(depth + 1),
      () => nest(this.#random.below(this.#nestingMax)),
    ])();
  }

  object(depth = 0): Record<string, unknown> {
    const entries = Array.from({ length: this.#random.below(4) }, () => [this.name(), this.value(depth + 1)] as const);
    // Not assigned: a property of this name is what is wanted.
    const made: Record<string, unknown> = {};
    for (const [name, value] of entries) {
      Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
    }
    return made;
  }

  name(): string {
    return this.pick([...names, this.pick(texts).slice(0, 40)]);
  }

  /** A well-formed value with one part of it replaced. */
  damage(value: unknown): unknown {
    if (this.chance(0.15) || typeof value !== 'object' || value === null) return this.value();
    if (Array.isArray(value)) {
      const at = this.#random.below(value.length + 1);
      return value.length === 0
        ? [this.value()]
        : value.map((each, index) => (index === at ? this.damage(each) : each));
    }
    const fields = Object.entries(value);
    const at = this.#random.below(fields.length + 1);
    const damaged = fields.map(([name, each], index) => [name, index === at ? this.damage(each) : each] as const);
    return { ...Object.fromEntries(damaged), ...(at === fields.length ? this.object(2) : {}) };
  }

  int(max: number): number {
    return this.#random.below(max);
  }
}

function nest(depth: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const scalars: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  0.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  2 ** 53,
  -(2 ** 63),
  2 ** 31,
  '',
  [],
  {},
];

const names = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'type',
  'id',
  'hasOwnProperty',
  '',
  '0',
  'length',
  '$ref',
];

const texts = [
  '',
  ' ',
  'a',
  '\0',
  '\ud800',
  '\udc00\ud800',
  '\u202e',
  '\ufeff',
  '../../../../etc/passwd',
  '/proc/self/environ',
  '/dev/zero',
  '.',
  '..',
  '/',
  '//',
  '%00',
  '%2e%2e%2f',
  '${jndi:x}',
  "' OR 1=1 --",
  '<script>{"turns":[[{"say":"x"}]]}</script>',
  '<script>{"when":[{"match":"(a+)+$","turn":[]}]}</script>',
  '{{find:(a+)+$}}',
  '{{last_result}}',
  '(a|aa)+$',
  '((a{30}){30}){30}',
  '{a,b}{c,d}{e,f}',
  '**/*/**/*',
  '[[[[[[',
  '\\',
  '"',
  '\r\nx-injected: 1',
  '__proto__',
  'sesn_01ABCDEFGHJKMNPQRSTVWXYZ',
  'agent_',
  '9'.repeat(400),
  '-1',
  '1e999',
  'NaN',
  'true',
  'null',
  '𝕏'.repeat(50),
  'a\u0301'.repeat(100),
  '2026-13-45T99:99:99Z',
  'data:text/html,x',
  'http://127.0.0.1:1/',
  'file:///etc/passwd',
  '/agent bomb {"x":1}',
];
