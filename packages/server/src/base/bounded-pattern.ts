import { cutText } from '@fleetloom/protocol/fleet';
import { baseLimits } from './limits.ts';
import { compilePattern, type LinearMatch, type LinearPattern, PatternError } from './linear-regex.ts';

/** A pattern that may run in the server process: its running time is bounded before it starts. */
export interface BoundedPattern {
  readonly source: string;
  /** Number of instructions of the compiled pattern; 0 if it needs none. */
  readonly size: number;
  /** Whether the pattern occurs in the text. Throws a {@link PatternError} if that takes more than the rest of the budget. */
  test(text: string, budget?: WorkBudget): boolean;
  /** The last of all matches, found from the left. Each match uses the budget. */
  findLast(text: string, budget?: WorkBudget): LinearMatch | undefined;
}

/** A number of steps that may be used, for example by one request. A step takes about 10 ns. */
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
 * Compiles a pattern from outside. A pattern that is too long, or whose program would be too large, is rejected before it is
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

/** Whether a text contains another one. Uses the same budget. */
export function includesText(text: string, wanted: string, budget: WorkBudget): boolean {
  budget.take(cutText(wanted, baseLimits.patternCharsMax), plainSteps(text));
  return text.includes(wanted);
}

function checkSize(size: number, sizeMax: number, unit: string): void {
  if (size > sizeMax) throw new PatternError(`has ${size} ${unit}, and ${sizeMax} are allowed: make it shorter`);
}

/** A plain search for patterns that match a single text at the beginning, at the end or anywhere: V8 finds it faster. */
function toPlainTest(source: string): ((text: string) => string | undefined) | undefined {
  // The pattern of the scripted echo matches any text that is not empty.
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
/** Characters without a special meaning, or escaped punctuation. */
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
/** Characters that V8 searches in the time of one step. */
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
        // Finding the next match may scan the whole rest of the text.
        budget.take(source, stepsOf(text));
      }
      return last;
    },
  };
}

/** Steps for each character beside its instructions, and for each search beside its characters. */
const CHARACTER_STEPS = 16;
const SEARCH_STEPS = 50;

function isEmpty(items: Iterable<unknown>): boolean {
  return items[Symbol.iterator]().next().done === true;
}

/**
 * The largest size that the compiled pattern can have: repetitions are written out. Invalid patterns may return any
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

/** The start of a group, a quoted part, an escape, a class, a repetition, or any other character. */
const TOKEN =
  /\((?:\?(?:P?<[^>]*>|[a-zA-Z-]*:?))?|\\Q.*?(?:\\E|$)|\\[pP](?:\{[^}]*\}|.)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?[a-z]+:\]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\s\S]/gs;

/** Size of a Unicode class: it has hundreds of ranges, and compiling visits each of them. */
const CLASS_SIZE = 20;

/** How often a repeated part is written out. */
function countOf(repetition: string): number {
  const [least = 0, most = 0] = repetition.slice(1, -1).split(',').map(Number);
  return Math.max(1, least + 1, most);
}
