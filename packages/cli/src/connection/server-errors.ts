import { WatchFleetError } from '@fleetloom/client';
import { CommandError } from '../command-error.ts';
import { exitCode } from '../exit-code.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import type { Connection } from './connection.ts';

/** No answer at all. */
export function toFetchError({ url }: Connection, error: unknown): CommandError {
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  const message = isLate
    ? `The server at ${url} does not answer.`
    : `There is no server at ${url} (${causeOf(error)}).`;
  return new CommandError(exitCode.unreachable, message, START, { cause: error });
}

/** An answer that says no. */
export async function toAnswerError(connection: Connection, response: Response): Promise<CommandError> {
  const said = await readMessage(response);
  const message = said ?? `The server at ${connection.url} answered ${response.status}.`;
  return toStatusError(connection, response.status, message);
}

/** Why a stream cannot go on. */
export function toWatchError(connection: Connection, error: unknown): unknown {
  if (!(error instanceof WatchFleetError)) return error;
  if (error.code === 'gave_up') return toFetchError(connection, error.cause);
  return toStatusError(connection, error.status ?? 0, sentence(error.message));
}

export function unreadableAnswer({ url }: Connection, cause: unknown): CommandError {
  const message = `What answers at ${url} is no Fleetloom server, or the connection broke.`;
  return new CommandError(exitCode.refused, message, 'Check --url or FLEETLOOM_URL.', { cause });
}

const START = 'Start one with "fleetloom serve", or name another with --url or FLEETLOOM_URL.';
const SESSIONS = '"fleetloom sessions" lists what there is.';
const KEY = 'Pass it with --key or FLEETLOOM_KEY; "fleetloom serve" shows the first one when it makes it.';

function toStatusError({ key, url }: Connection, status: number, message: string): CommandError {
  if (status === 401 && key === undefined) {
    return new CommandError(exitCode.key, `The server at ${url} asks for a key.`, KEY);
  }
  if (status === 401 || status === 403) return new CommandError(exitCode.key, message, KEY);
  if (status === 404 || status === 410) {
    const what = / has no thread /.test(message) ? '"fleetloom threads <session>" lists them.' : SESSIONS;
    return new CommandError(exitCode.notFound, message, what);
  }
  return new CommandError(exitCode.refused, message, `It was the server at ${url} that said so.`);
}

/** In the form of the Messages API; undefined where it is in another. */
async function readMessage(response: Response): Promise<string | undefined> {
  const body: unknown = await response.json().catch(() => undefined); // no JSON is no message
  const error = fieldOf(body, 'error');
  const message = fieldOf(error, 'message');
  return typeof message === 'string' && message !== '' ? sentence(message) : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  // Any object has fields of any name, most of them undefined.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** It may come from anywhere, so it is cleaned as what agents say is. */
function sentence(text: string): string {
  const line = cleanLine(text);
  // A word, not an id or the name of a field: those are as they are. An id that is none may look like a word.
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
