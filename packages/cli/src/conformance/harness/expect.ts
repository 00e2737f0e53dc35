import { isDeepStrictEqual } from 'node:util';

/** The server does not behave as the check expects. */
export class Mismatch extends Error {
  readonly expected: string;
  readonly seen: string;

  constructor(expected: string, seen: unknown) {
    const shown = typeof seen === 'string' ? seen : toShown(seen);
    super(`expected ${expected}, saw ${shown}`);
    this.name = 'Mismatch';
    this.expected = expected;
    this.seen = shown;
  }
}

/** The check does not apply to this server. */
export class NotApplicable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NotApplicable';
  }
}

/** Fails the check unless the condition holds. */
export function expectThat(holds: boolean, expected: string, seen: unknown): asserts holds {
  if (!holds) throw new Mismatch(expected, seen);
}

/** Fails the check unless both values are deeply equal. */
export function expectEqual(seen: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(seen, expected)) throw new Mismatch(`${what}: ${toShown(expected)}`, seen);
}

/** Fails the check unless the value exists. Returns the value. */
export function expectFound<T>(found: T | undefined, what: string, among: unknown): T {
  if (found === undefined) throw new Mismatch(what, among);
  return found;
}

/** Fails the check unless the request is rejected with this status and the error type of the status. */
export async function expectRefusal(
  request: PromiseLike<unknown>,
  status: number,
  what: string,
  says?: RegExp,
): Promise<Refusal> {
  const refusal = await refusalOf(request);
  if (refusal === undefined) throw new Mismatch(`${what} to be refused with ${status}`, 'it was accepted');
  expectEqual(`${refusal.status} ${refusal.type}`, `${status} ${typesByStatus[status]}`, what);
  if (says !== undefined && !says.test(refusal.message))
    throw new Mismatch(`${what}: words like ${says}`, refusal.message);
  return refusal;
}

/** The rejection of a request, as the SDK reports it. */
export interface Refusal {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly message: string;
  /** The name of the error class of the official SDK. */
  readonly name: string;
}

/** The rejection of a request of the official SDK; undefined if it succeeded. */
export async function refusalOf(request: PromiseLike<unknown>): Promise<Refusal | undefined> {
  try {
    await request;
    return undefined;
  } catch (error) {
    // Errors of the SDK have a status; other errors are rethrown.
    const { status, error: body } = error as { status?: number; error?: { error?: { type?: string } } };
    if (status === undefined) throw error;
    const { message, constructor } = error as Error;
    return { status, type: body?.error?.type, message, name: constructor.name };
  }
}

const typesByStatus: Readonly<Record<number, string | undefined>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  // This status has no error type of its own.
  412: 'invalid_request_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
};

function toShown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 1_500 ? `${text.slice(0, 1_500)}…` : text;
}

/** Fails the check unless a request sent without the SDK was rejected with this status and its error type. */
export function expectRefused(
  answer: {
    readonly status: number;
    readonly json: { readonly error?: { readonly type?: string; readonly message?: string } };
  },
  status: number,
  what: string,
  says?: RegExp,
): void {
  const { type, message = '' } = answer.json?.error ?? {};
  expectEqual(`${answer.status} ${type}`, `${status} ${typesByStatus[status]}`, what);
  if (says !== undefined && !says.test(message)) throw new Mismatch(`${what}: words like ${says}`, message);
}

/** Fails the check unless the status is 200. */
export function expectOk(answer: { readonly status: number; readonly text: string }, what: string): void {
  if (answer.status !== 200) throw new Mismatch(`${what}: 200`, `${answer.status} ${answer.text.slice(0, 500)}`);
}
