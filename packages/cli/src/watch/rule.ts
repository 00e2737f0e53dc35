import { type AskRule, toRuleText } from '@fleetloom/protocol/fleet';
import type { Ask } from './asks.ts';

/**
 * What may be done without asking again, as long as this view is open. `*` stands for anything on one line, but not for what
 * would change what the rest means: in a command nothing that could begin another command, so that leave for `git *` is none
 * for `git log; rm -rf .`; in a path nothing that leads out of the folder before it; in an address no other host.
 */
export type Rule = AskRule;

/** The narrowest rule that allows this, for somebody to make wider. */
export function toRule({ tool, input }: Ask): Rule {
  const fields = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const texts = fields.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const [field = null] = TELLING.flatMap((name) => texts.filter(([each]) => each === name).map(([each]) => each));
  const only = field ?? (fields.length === 1 ? (texts[0]?.[0] ?? null) : null);
  return { tool, field: only, pattern: valueOf(input, only) };
}

/** All of it, however long: who makes a rule sees it whole. */
export function describeRule(rule: Rule): string {
  return toRuleText(rule, Number.POSITIVE_INFINITY);
}

export function isAllowed({ tool, field, pattern }: Rule, ask: Ask): boolean {
  if (ask.type !== 'approval' || ask.tool !== tool) return false;
  const value = valueOf(ask.input, field);
  if (value === '') return false;
  if (value === pattern) return true;
  if (field === 'command') return matches(pattern, value, COMMAND_STOPS);
  if (field === null) return matches(pattern, value, INPUT_STOPS);
  if (field === 'url') return isPlain(value) && isLikeAddress(pattern, value);
  if (PATHS.includes(field) && !(isPlain(value) && isOfKind(pattern, value))) return false;
  return matches(pattern, value, LINE_STOPS);
}

/** Fields that say what a call is about; the others are free. */
const TELLING = ['command', 'file_path', 'path', 'notebook_path', 'url', 'query', 'pattern'];
/** Those of them that name files. */
const PATHS = ['file_path', 'path', 'notebook_path', 'pattern'];

/** What no star reaches over. */
const COMMAND_STOPS = /([;&|<>$(){}`\\\n\r])/;
const INPUT_STOPS = /(["\\\n\r])/;
const LINE_STOPS = /([\n\r])/;
const HOST_STOPS = /([/?#@\\\n\r])/;

/** Whether a path, or an address, is what it looks like: no step leads up or nowhere, also not in disguise. */
function isPlain(path: string): boolean {
  const steps = path.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').split(/[/\\]/);
  const isOdd = steps.some((step, index) => step === '.' || step === '..' || (step === '' && index > 0));
  return !isOdd && !/[\p{Cc}\\]|%(?:2e|2f|5c|00)/iu.test(path);
}

/** A star in front stands for the beginning of a relative path, never for another folder of the machine. */
function isOfKind(pattern: string, path: string): boolean {
  return !pattern.startsWith('*') || !/^(?:\/|~|[a-z]:)/i.test(path);
}

/** A star in the host stands for no path, and one in a path for no host. */
function isLikeAddress(pattern: string, url: string): boolean {
  const [, wantedHost, wantedPath = ''] = ADDRESS.exec(pattern) ?? [];
  const [, host, path = ''] = ADDRESS.exec(url) ?? [];
  if (wantedHost === undefined || host === undefined || host.includes('@')) return false;
  return matches(wantedHost, host, HOST_STOPS) && (path === wantedPath || matches(wantedPath, path, LINE_STOPS));
}

const ADDRESS = /^([^/?#]*:\/\/[^/?#]*)(.*)$/s;

function valueOf(input: unknown, field: string | null): string {
  if (field === null) return JSON.stringify(input) ?? '';
  // Only objects have a field here; one that lacks it matches no pattern but the empty one.
  const value = (input as Readonly<Record<string, unknown>> | null)?.[field];
  return typeof value === 'string' ? value : '';
}

/** No star reaches over a stop, so both are cut there and compared piece by piece. */
function matches(pattern: string, text: string, stops: RegExp): boolean {
  const [wanted, given] = [pattern.split(stops), text.split(stops)];
  if (wanted.length !== given.length) return false;
  return wanted.every((piece, index) => {
    const other = given[index] ?? '';
    return index % 2 === 1 ? piece === other : isLike(piece, other);
  });
}

/** In time of both lengths multiplied, whatever the stars: a pattern is typed by somebody, the text is not. */
function isLike(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  const end = text.length - last.length;
  let from = first.length;
  return rest.every((piece) => {
    const at = text.indexOf(piece, from);
    from = at + piece.length;
    return at !== -1 && from <= end;
  });
}
