import { cutText } from '@fleetloom/protocol/fleet';
import type { ZodType, z } from 'zod';
import { requestError } from '../../base/request-error.ts';

/**
 * Parses input with a schema. Throws an error that names the operation and the field: `agents.create: tools.0.name: …`.
 * Only the first fault is reported: fixing it often fixes the others.
 */
export function checkInput<Schema extends ZodType>(
  operation: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  const { path, problem, advice } = describe(result.error.issues[0]!);
  const field = path.length === 0 ? '' : `${path.map(String).join('.')}: `;
  throw requestError('invalid_request', `${operation}: ${field}${problem}`, { advice });
}

type Issue = z.core.$ZodIssue;

interface Fault {
  readonly path: readonly PropertyKey[];
  readonly problem: string;
  readonly advice: string;
}

function describe(issue: Issue): Fault {
  const { path } = issue;
  switch (issue.code) {
    case 'invalid_type':
      return isMissing(issue)
        ? { path, problem: 'is missing', advice: `add it: ${aOrAn(issue.expected)}` }
        : { path, problem: `is not ${aOrAn(issue.expected)}`, advice: `send ${aOrAn(issue.expected)}` };
    case 'unrecognized_keys':
      return { path: [...path, cut(issue.keys[0]!)], problem: 'is not known here', advice: 'leave it out' };
    case 'invalid_value':
      if (isMissing(issue)) return { path, problem: 'is missing', advice: `add it: ${listOf(issue.values)}` };
      return { path, problem: 'has a value that is not known here', advice: `use ${listOf(issue.values)}` };
    case 'too_big':
      return { path, problem: 'is too much', advice: `at most ${issue.maximum}${unitOf(issue.origin)}` };
    case 'too_small':
      return { path, problem: 'is too little', advice: `at least ${issue.minimum}${unitOf(issue.origin)}` };
    case 'invalid_format':
      return { path, problem: 'has the wrong form', advice: `use ${issue.pattern ?? aOrAn(issue.format)}` };
    case 'invalid_union':
      return describeUnion(issue);
    case 'invalid_key':
    case 'invalid_element': {
      const inner = describe(issue.issues[0]!);
      return { ...inner, path: [...path, ...inner.path] };
    }
    default:
      return { path, problem: issue.message, advice: adviceOf(issue) };
  }
}

/** The advice of a check in this repository: `.refine(check, { error: 'has no servers', params: { advice: 'add one' } })`. */
function adviceOf(issue: Issue): string {
  const advice: unknown = issue.code === 'custom' ? issue.params?.['advice'] : undefined;
  return typeof advice === 'string' ? advice : 'correct it';
}

/** The fault of the alternative that matched deepest into the value, which is most likely the intended one. */
function describeUnion(issue: Extract<Issue, { code: 'invalid_union' }>): Fault {
  const { path } = issue;
  if (issue.errors.length === 0) return describeDiscriminator(issue);
  const firsts = issue.errors.map((issues) => issues[0]!);
  const meant = firsts.filter((each) => each.path.length > 0 || each.code !== 'invalid_type');
  if (meant.length > 0) {
    const inner = describe(meant.reduce((a, b) => (b.path.length > a.path.length ? b : a)));
    return { ...inner, path: [...path, ...inner.path] };
  }
  const expected = firsts.map((each) => (each.code === 'invalid_type' ? each.expected : each.code));
  const isAbsent = firsts.every((each) => isMissing(each));
  const advice = [...new Set(expected)].map(aOrAn).join(' or ');
  return isAbsent
    ? { path, problem: 'is missing', advice: `add it: ${advice}` }
    : { path, problem: 'has the wrong type', advice: `send ${advice}` };
}

/** Describes a value whose `type` no alternative has. */
function describeDiscriminator(issue: Extract<Issue, { code: 'invalid_union' }>): Fault {
  const { path, input } = issue;
  // Zod's type leaves both open, since unions without a discriminator have neither.
  const key = 'discriminator' in issue ? String(issue.discriminator) : undefined;
  const options = 'options' in issue && Array.isArray(issue.options) ? listOf(issue.options) : 'another one';
  const isAbsent = key !== undefined && typeof input === 'object' && input !== null && !(key in input);
  return isAbsent
    ? { path, problem: 'is missing', advice: `add it: ${options}` }
    : { path, problem: 'has a value that is not known here', advice: `use ${options}` };
}

function isMissing(issue: Issue): boolean {
  return issue.input === undefined;
}

/** JSON's names of zod's types. */
function wordOf(expected: string): string {
  if (expected === 'record') return 'object';
  if (expected === 'int') return 'whole number';
  return expected;
}

function aOrAn(expected: string): string {
  const word = wordOf(expected);
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  if (origin === 'array' || origin === 'set') return ' entries';
  return origin === 'object' || origin === 'record' || origin === 'map' ? ' keys' : '';
}

function listOf(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length <= 1 ? (texts[0] ?? 'nothing') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
}

function cut(text: string): string {
  return text.length <= 100 ? text : `${cutText(text, 99)}…`;
}
