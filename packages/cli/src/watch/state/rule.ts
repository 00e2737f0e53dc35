import { type ApprovalRule, toRuleText } from '@fleetloom/protocol/fleet';
import type { PendingCall } from './pending-calls.ts';

/**
 * A rule that approves tool calls while this view is open. `*` matches anything on one line, except what would change the
 * meaning of the rest: in a command nothing that starts another command, so that `git *` does not match
 * `git log; rm -rf .`; in a path nothing that leaves the folder before it; in a URL no other host.
 */
export type Rule = ApprovalRule;

/** The narrowest rule that matches the request, as a starting point for the user. */
export function toRule({ tool, input }: PendingCall): Rule {
  const fields = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const texts = fields.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const [field = null] = TELLING.flatMap((name) => texts.filter(([each]) => each === name).map(([each]) => each));
  const only = field ?? (fields.length === 1 ? (texts[0]?.[0] ?? null) : null);
  return { tool, field: only, pattern: valueOf(input, only) };
}

/** The whole rule, however long, because it must be visible. */
export function describeRule(rule: Rule): string {
  return toRuleText(rule, Number.POSITIVE_INFINITY);
}

/** Whether the rule allows a pending call. Commands with shell operators match only as a whole. */
export function isAllowed({ tool, field, pattern }: Rule, pendingCall: PendingCall): boolean {
  if (pendingCall.type !== 'approval' || pendingCall.tool !== tool) return false;
  const value = valueOf(pendingCall.input, field);
  if (value === '') return false;
  if (value === pattern) return true;
  if (field === 'command') return matches(pattern, value, COMMAND_STOPS);
  if (field === null) return matches(pattern, value, INPUT_STOPS);
  if (field === 'url') return isPlain(value) && isLikeAddress(pattern, value);
  if (PATHS.includes(field) && !(isPlain(value) && isOfKind(pattern, value))) return false;
  return matches(pattern, value, LINE_STOPS);
}

/** Fields that a rule compares; other fields may have any value. */
const TELLING = ['command', 'file_path', 'path', 'notebook_path', 'url', 'query', 'pattern'];
/** Fields that contain paths. */
const PATHS = ['file_path', 'path', 'notebook_path', 'pattern'];

/** Characters that `*` does not match. */
const COMMAND_STOPS = /([;&|<>$(){}`\\\n\r])/;
const INPUT_STOPS = /(["\\\n\r])/;
const LINE_STOPS = /([\n\r])/;
const HOST_STOPS = /([/?#@\\\n\r])/;

/** Whether a path or URL is plain: without `..` or empty segments, also not encoded. */
function isPlain(path: string): boolean {
  const steps = path.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').split(/[/\\]/);
  const isOdd = steps.some((step, index) => step === '.' || step === '..' || (step === '' && index > 0));
  return !isOdd && !/[\p{Cc}\\]|%(?:2e|2f|5c|00)/iu.test(path);
}

/** Whether a pattern may match a path: a leading `*` matches relative paths, but never an absolute one. */
function isOfKind(pattern: string, path: string): boolean {
  return !pattern.startsWith('*') || !/^(?:\/|~|[a-z]:)/i.test(path);
}

/** `*` in the host does not match a path, and `*` in the path does not match a host. */
function isLikeAddress(pattern: string, url: string): boolean {
  const [, wantedHost, wantedPath = ''] = ADDRESS.exec(pattern) ?? [];
  const [, host, path = ''] = ADDRESS.exec(url) ?? [];
  if (wantedHost === undefined || host === undefined || host.includes('@')) return false;
  return matches(wantedHost, host, HOST_STOPS) && (path === wantedPath || matches(wantedPath, path, LINE_STOPS));
}

const ADDRESS = /^([^/?#]*:\/\/[^/?#]*)(.*)$/s;

function valueOf(input: unknown, field: string | null): string {
  if (field === null) return JSON.stringify(input) ?? '';
  // A missing field matches only an empty pattern.
  const value = (input as Readonly<Record<string, unknown>> | null)?.[field];
  return typeof value === 'string' ? value : '';
}

/** `*` does not match a separator, so both are split there and compared part by part. */
function matches(pattern: string, text: string, stops: RegExp): boolean {
  const [wanted, given] = [pattern.split(stops), text.split(stops)];
  if (wanted.length !== given.length) return false;
  return wanted.every((piece, index) => {
    const other = given[index] ?? '';
    return index % 2 === 1 ? piece === other : isLike(piece, other);
  });
}

/** Runs in O(pattern × text) for any number of `*`: the text is hostile. */
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
