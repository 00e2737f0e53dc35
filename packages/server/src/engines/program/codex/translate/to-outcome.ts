import type { TurnFailure, TurnOutcome } from '../../program.ts';
import { number, record, text } from '../../lines/values.ts';

/** The outcome of a turn, from the `turn` of `turn/completed`. */
export function toOutcome(turn: unknown): TurnOutcome {
  const { status, error } = record(turn) ?? {};
  if (status === 'completed') return { type: 'done' };
  if (status === 'interrupted') return { type: 'stopped' };
  const { kind, httpStatus, message } = readError(error);
  if (REFUSALS.has(kind) || /content_filter|safety/i.test(message)) return { type: 'refused', message };
  if (LIMITS.has(kind)) return { type: 'limit', message };
  return { type: 'failed', reason: toReason(kind, httpStatus, message), message };
}

/** The fields of an `error` of the program. */
export interface CodexError {
  /** The name in `codexErrorInfo`, which is a text or an object with one field. */
  readonly kind: string;
  readonly httpStatus: number | null;
  readonly message: string;
}

/** Reads an error of a turn, or of an `error` notification. */
export function readError(value: unknown): CodexError {
  const error = record(value);
  const info = error?.['codexErrorInfo'];
  const [kind = 'other', about] = typeof info === 'string' ? [info] : (Object.entries(record(info) ?? {})[0] ?? []);
  const details = text(error?.['additionalDetails']) ?? '';
  const said = text(error?.['message']) ?? 'the program gives no reason';
  const message = readMessage(said);
  return { kind, httpStatus: number(record(about)?.['httpStatusCode']) ?? findStatus(details || said), message };
}

const REFUSALS: ReadonlySet<string> = new Set(['cyberPolicy', 'misalignment', 'contentPolicy']);
const LIMITS: ReadonlySet<string> = new Set(['usageLimitExceeded', 'sessionBudgetExceeded']);

const reasons: { readonly [kind: string]: TurnFailure | undefined } = {
  serverOverloaded: 'overloaded',
  unauthorized: 'authentication',
  contextWindowExceeded: 'request_failed',
  badRequest: 'request_failed',
  internalServerError: 'request_failed',
};

/** The reason of a failure. Errors of kind `other` differ only in their message. */
function toReason(kind: string, status: number | null, message: string): TurnFailure {
  if (/credit balance|insufficient_quota|billing/i.test(message) || status === 402) return 'billing';
  if (status === 401 || status === 403) return 'authentication';
  if (status === 429) return 'rate_limited';
  if (status === 529 || status === 503) return 'overloaded';
  if (status !== null) return 'request_failed';
  return reasons[kind] ?? (kind === 'other' && isRefusedRequest(message) ? 'request_failed' : 'unknown');
}

function isRefusedRequest(message: string): boolean {
  return !/stream|connection|disconnected/i.test(message);
}

/** Reads an error message. Errors of the endpoint are printed as JSON. */
function readMessage(said: string): string {
  try {
    return text(record(record(JSON.parse(said))?.['error'])?.['message']) ?? said;
  } catch {
    return said;
  }
}

function findStatus(words: string): number | null {
  const found = /unexpected status (\d{3})\b/.exec(words)?.[1];
  return found === undefined ? null : Number(found);
}
