import { cutText } from '@fleetloom/protocol/fleet';
import { baseLimits } from './limits.ts';
import { compilePattern, type LinearMatch, type LinearPattern, PatternError } from './linear-regex.ts';

/** A pattern that may run in the server process: its running time is bounded before it starts. */
export interface BoundedPattern {
  readonly source: string;
  /** Instructions of its program; 0 if it needs none. */
  readonly size: number;
  /** Whether the pattern occurs anywhere in the text. Throws a {@link PatternError} where that takes more than is left. */
  test(text: string, budget?: WorkBudget): boolean;
  /** The last of the matches from the left, if there is one; the same holds for it, and each match counts. */
  findLast(text: string, budget?: WorkBudget): LinearMatch | undefined;
}

/** How much may be done, e.g. for one request. A step takes about 10 ns. */
export class WorkBudget {
  #left: number;

  constructor(steps: number = baseLimits.patternStepsMax) {
    this.#left = steps;
  }

  take(source: string, steps: number): void {
    const before = this.#left;
    this.#left -= steps;
    if (this.#left >= 0) return;
    const problem = `the pattern ${JSON.stringify(source)} takes ${steps} steps`;
    throw new PatternError(
      `${problem}, and ${Math.max(0, before)} of ${baseLimits.patternStepsMax} are left: use simpler patterns, or less text`,
    );
  }
}

/**
 * Compiles a pattern from outside. One that is too long, or stands for too large a program, is refused before it is
 * compiled, which takes time too.
 *
 * @example
 * compileBounded('^exit code [1-9]').test(output); // true or false, within 50 ms
 */
export function compileBounded(source: string): BoundedPattern {
  checkSize(source.length, baseLimits.patternCharsMax, 'characters');
  const isPlainlyIn = toPlainTest(source);
  if (isPlainlyIn !== undefined) return toPlain(source, isPlainlyIn);
  checkSize(estimateSize(source), baseLimits.patternSizeMax, 'instructions');
  const pattern = compilePattern(source);
  checkSize(pattern.size, baseLimits.patternSizeMax, 'instructions');
  return toBounded(pattern);
}

/** Whether a text is part of another one, at the expense of the same budget. */
export function includesText(text: string, wanted: string, budget: WorkBudget): boolean {
  budget.take(cutText(wanted, baseLimits.patternCharsMax), plainSteps(text));
  return text.includes(wanted);
}

function checkSize(size: number, sizeMax: number, unit: string): void {
  if (size > sizeMax) throw new PatternError(`has ${size} ${unit}, and ${sizeMax} are allowed: make it shorter`);
}

/** For patterns that stand for one text, at the beginning, at the end or anywhere: V8 finds it faster than any program. */
function toPlainTest(source: string): ((text: string) => string | undefined) | undefined {
  // The echo of any length looks whether there is something.
  if (source === ANYTHING.source) return (text) => ANYTHING.exec(text)?.[0];
  const [, start, body = '', end] = PLAIN.exec(source) ?? [];
  if (start === undefined) return undefined;
  const wanted = body.replaceAll(/\\(.)/g, '$1');
  if (start !== '' && end !== '') return (text) => (text === wanted ? wanted : undefined);
  if (start !== '') return (text) => (text.startsWith(wanted) ? wanted : undefined);
  if (end !== '') return (text) => (text.endsWith(wanted) ? wanted : undefined);
  return (text) => (text.includes(wanted) ? wanted : undefined);
}

const ANYTHING = /\S/;
/** Characters without a meaning, or punctuation behind a backslash. */
const PLAIN = /^(\^?)((?:[^\\^$.|?*+()[\]{}]|\\[!-/:-@[-^`{-~])*)(\$?)$/;

function toPlain(source: string, find: (text: string) => string | undefined): BoundedPattern {
  const search = (text: string, budget = new WorkBudget()) => {
    budget.take(source, plainSteps(text));
    return find(text);
  };
  return {
    source,
    size: 0,
    test: (text, budget) => search(text, budget) !== undefined,
    findLast: (text, budget) => {
      const found = search(text, budget);
      return found === undefined ? undefined : { text: found, groups: [] };
    },
  };
}

function plainSteps(text: string): number {
  return PLAIN_SEARCH_STEPS + Math.ceil(text.length / CHARS_PER_STEP);
}

const PLAIN_SEARCH_STEPS = 10;
/** What V8 looks through in the time of a step. */
const CHARS_PER_STEP = 4;

function toBounded(pattern: LinearPattern): BoundedPattern {
  const { source, size } = pattern;
  const stepsOf = (text: string) => SEARCH_STEPS + (text.length + 1) * (size + CHARACTER_STEPS);
  return {
    source,
    size,
    test: (text, budget = new WorkBudget()) => {
      budget.take(source, stepsOf(text));
      // Not the automaton behind `test`: it is faster for most patterns and eight times as slow for some.
      return !isEmpty(pattern.findAll(text));
    },
    findLast: (text, budget = new WorkBudget()) => {
      let last: LinearMatch | undefined;
      budget.take(source, stepsOf(text));
      for (const match of pattern.findAll(text)) {
        last = match;
        // To find the next one it may have to scan the whole rest, whose start is unknown.
        budget.take(source, stepsOf(text));
      }
      return last;
    },
  };
}

/** What a character takes besides the instructions, and a search besides its characters. */
const CHARACTER_STEPS = 16;
const SEARCH_STEPS = 50;

function isEmpty(items: Iterable<unknown>): boolean {
  return items[Symbol.iterator]().next().done === true;
}

/**
 * How large the program of a pattern becomes at most: repetitions are written out. Patterns that are not valid may give any
 * number.
 */
export function estimateSize(source: string): number {
  const sums: number[] = [0];
  let atom = 0;
  const add = (size: number) => {
    sums.push((sums.pop() ?? 0) + size);
    atom = size;
  };
  for (const [text] of source.matchAll(TOKEN)) {
    if (text.startsWith('(')) sums.push(1);
    else if (text === ')') add((sums.length > 1 ? sums.pop()! : 0) + 2);
    else if (text.startsWith('{')) add(atom * (countOf(text) - 1) + countOf(text));
    else if (text.startsWith(String.raw`\Q`)) add(text.length);
    else add(1 + CLASS_SIZE * (text.match(/\\[pP]/g)?.length ?? 0));
  }
  return sums.reduce((sum, size) => sum + size, 0);
}

/** A group's beginning, a quoted part, an escape, a class, a repetition, or any other character. */
const TOKEN =
  /\((?:\?(?:P?<[^>]*>|[a-zA-Z-]*:?))?|\\Q.*?(?:\\E|$)|\\[pP](?:\{[^}]*\}|.)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?[a-z]+:\]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\s\S]/gs;

/** Classes of Unicode have hundreds of ranges, and each is looked at when a program is made. */
const CLASS_SIZE = 20;

/** How often something is written out. */
function countOf(repetition: string): number {
  const [least = 0, most = 0] = repetition.slice(1, -1).split(',').map(Number);
  return Math.max(1, least + 1, most);
}
