import { WatchFleetError } from '@fleetloom/client';
import { cleanLine } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import { isObject } from '../base/is-object.ts';
import type { Connection } from './connection.ts';

/** The error of a request that failed without a response. */
export function toFetchError({ url }: Connection, error: unknown): CommandError {
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  const message = isLate
    ? `The server at ${url} does not respond.`
    : `There is no server at ${url} (${causeOf(error)}).`;
  return new CommandError(exitCode.unreachable, message, START, { cause: error });
}

/** The error of a response with an error status. */
export async function toAnswerError(connection: Connection, response: Response): Promise<CommandError> {
  const { status } = response;
  const { message, ...rest } = await readError(response);
  const said = message ?? `The server at ${connection.url} responded with status ${status}.`;
  return toStatusError(connection, { status, message: said, path: new URL(response.url).pathname, ...rest });
}

/** The error that ended the fleet stream. */
export function toWatchError(connection: Connection, error: unknown): unknown {
  if (!(error instanceof WatchFleetError)) return error;
  if (error.code === 'gave_up') return toFetchError(connection, error.cause);
  return toStatusError(connection, { status: error.status ?? 0, message: sentence(error.message) });
}

/** The error of a response that did not come from a Fleetloom server. */
export function unreadableAnswer({ url }: Connection, cause: unknown): CommandError {
  const message = `The server at ${url} is not a Fleetloom server, or the connection was lost.`;
  return new CommandError(exitCode.refused, message, 'Check --url or FLEETLOOM_URL.', { cause });
}

const START = 'Start one with "fleetloom serve", or select another with --url or FLEETLOOM_URL.';
const SESSIONS = '"fleetloom sessions" lists the sessions.';
const THREADS = '"fleetloom threads <session>" lists the threads.';
const STEPS = '"fleetloom diff <session> --steps" names the threads that changed files.';
const FILES = '"fleetloom diff <session> --stat" lists the files that changed.';
const VAULTS = '"fleetloom vaults" lists the vaults, "fleetloom credentials list <vault>" what is in one.';
const LOGINS = '"fleetloom logins" lists the logins.';
const KEY = 'Pass it with --key or FLEETLOOM_KEY; create one with "fleetloom keys create <name>".';
const CONFLICT = 'Name other files, or commit them to a branch: fleetloom apply <session> --branch <name>';
const OVERWRITE = 'Move your changes of these files away, or replace them with --overwrite.';
const BRANCH = 'Commit them to a branch: fleetloom apply <session> --branch <name>';
const DIFF = '"fleetloom diff <session>" shows the changes.';

/** An error of the server. */
interface AnsweredError {
  readonly status: number;
  readonly message: string;
  /** The path of the request. */
  readonly path?: string | undefined;
  readonly code?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** The whole body of the response. */
  readonly answer?: unknown;
}

function toStatusError(connection: Connection, error: AnsweredError): CommandError {
  const { key, url, isTemporary = false } = connection;
  const { status, message, code } = error;
  const fail = (exit: number, text: string, fix: string) => new CommandError(exit, text, fix, error);
  if (status === 401 && key === undefined) return fail(exitCode.key, `The server at ${url} requires an API key.`, KEY);
  const about = code === undefined ? undefined : explainCode(code, error);
  if (about !== undefined) return fail(about.exit, about.message ?? message, about.fix);
  if (status === 401 || status === 403) return fail(exitCode.key, message, KEY);
  if (status === 404 || status === 410) {
    if (!/ has no thread /.test(message)) return fail(exitCode.notFound, message, toListing(error.path));
    return fail(exitCode.notFound, message, isTemporary ? STEPS : THREADS);
  }
  // The URL of a temporary server is omitted: the user did not start it and cannot reach it afterwards.
  return fail(exitCode.refused, message, isTemporary ? '' : `Reported by the server at ${url}.`);
}

/** The advice with the command that lists the records of the kind that was not found. */
function toListing(path = ''): string {
  if (path.startsWith('/v1/vaults/')) return VAULTS;
  return path.startsWith('/v1/fleet/logins/') ? LOGINS : SESSIONS;
}

/** Replaces the advice of known errors by commands of this program, because the advice of the server is for callers of the API. */
function explainCode(
  code: string,
  { message, details = {} }: AnsweredError,
): { readonly exit: number; readonly message?: string; readonly fix: string } | undefined {
  const unchanged = details['unchanged_paths'];
  if (Array.isArray(unchanged)) {
    const names = unchanged.map((path) => cleanLine(String(path))).join(', ');
    return { exit: exitCode.notFound, message: `Nothing has changed in ${names}.`, fix: FILES };
  }
  switch (code) {
    case 'directory_not_allowed': {
      const fix = `Start that server with --allow-directory ${textOf(details, 'path') ?? '<path>'}.`;
      return { exit: exitCode.refused, message: cutAdvice(message, /: start the server with .*$/), fix };
    }
    case 'directory_in_use': {
      const fix = `Release it with "fleetloom archive ${textOf(details, 'session_id') ?? '<session>'}".`;
      return { exit: exitCode.refused, message: cutAdvice(message, /: (archive|wait until) .*$/), fix };
    }
    case 'path_not_found':
      return { exit: exitCode.notFound, message: cutAdvice(message, /: GET .*$/), fix: FILES };
    case 'apply_conflict': {
      const text = cutAdvice(message, /: commit or undo your own changes.*$/);
      return { exit: exitCode.refused, message: text, fix: CONFLICT };
    }
    case 'restore_conflict': {
      const text = cutAdvice(message, /: move your changes of these files away.*$/);
      return { exit: exitCode.refused, message: text, fix: OVERWRITE };
    }
    case 'not_applicable': {
      const fix = / in place, /.test(message) ? BRANCH : DIFF;
      return { exit: exitCode.refused, message: cutAdvice(message, /: GET .*$/), fix };
    }
    default:
      return undefined;
  }
}

/** A message without its advice, and without the name of a field of the API in front. */
function cutAdvice(message: string, advice: RegExp): string {
  return message.replace(/^Path: /, '').replace(advice, '.');
}

function textOf(details: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = details[name];
  return typeof value === 'string' ? cleanLine(value) : undefined;
}

/** Reads an error in the format of the Messages API; in any other format it has no message. */
async function readError(
  response: Response,
): Promise<Omit<AnsweredError, 'status' | 'message' | 'path'> & { readonly message: string | undefined }> {
  const body: unknown = await response.json().catch(() => undefined); // not JSON: no message
  const error = fieldOf(body, 'error');
  const message = fieldOf(error, 'message');
  const details = fieldOf(error, 'details');
  const code = fieldOf(details, 'error_code');
  const isReadable = typeof message === 'string' && message !== '';
  return {
    message: isReadable ? sentence(message) : undefined,
    code: typeof code === 'string' ? code : undefined,
    details: isObject(details) ? details : undefined,
    answer: isReadable ? body : undefined,
  };
}

function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** A message as one clean sentence. It is foreign text, so control characters are removed. */
function sentence(text: string): string {
  const line = cleanLine(text);
  // Only a word is capitalised, not an id or a field name. An unknown id may look like a word.
  const whole = /^(?!\S+ does not exist)[a-z]+(?![\w.[-])/.test(line)
    ? line.charAt(0).toUpperCase() + line.slice(1)
    : line;
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

function causeOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : { cause: undefined };
  const code = fieldOf(cause, 'code') ?? fieldOf(error, 'code');
  if (typeof code === 'string') return code;
  return cleanLine(cause instanceof Error ? cause.message : String(error instanceof Error ? error.message : error));
}
