import type { RequestLog, RequestLogEntry } from '@fleetloom/server';
import type { LogForm } from './log-forms.ts';

/** Options of the request log. */
export interface RequestLinesOptions {
  readonly form: LogForm;
  readonly write: (line: string) => void;
  readonly now: () => number;
}

/** A request log that also writes errors of background work, with an empty request id. */
export type RequestLines = RequestLog & { readonly onError: NonNullable<RequestLog['onError']> };

/** Writes one line per finished request and per server error. Entries contain no secrets. */
export function createRequestLines({ form, write, now }: RequestLinesOptions): RequestLines {
  // Errors are logged in every form.
  const onError = (error: unknown, requestId: string) =>
    write(
      form === 'json'
        ? toLine({
            time: toTimestamp(now()),
            level: 'error',
            message: toText(error),
            request_id: requestId === '' ? null : requestId,
          })
        : `fleetloom: ${toText(error)}${requestId === '' ? '' : ` (${requestId})`}\n`,
    );
  if (form === 'off') return { onError };
  const show = form === 'json' ? toJsonLine : toTextLine;
  return { onRequest: (entry) => write(show(entry, toTimestamp(now()))), onError };
}

function toJsonLine(entry: RequestLogEntry, time: string): string {
  return toLine({
    time,
    level: entry.status >= 500 ? 'error' : 'info',
    message: 'request',
    request_id: entry.requestId,
    method: entry.method,
    path: entry.path,
    route: entry.route ?? null,
    status: entry.status,
    duration_ms: Math.round(entry.durationMs * 1_000) / 1_000,
    stream: entry.isStream,
    complete: entry.isComplete,
    workspace_id: entry.workspaceId ?? null,
    key_id: entry.credentialId ?? null,
    error: entry.errorCode ?? null,
  });
}

function toTextLine(entry: RequestLogEntry, time: string): string {
  const { status, method, path, durationMs, requestId, errorCode, isStream, isComplete } = entry;
  const more = [isStream ? 'stream' : '', isComplete ? '' : 'aborted', errorCode ?? ''].filter((part) => part !== '');
  return [time, status, method, clean(path), `${durationMs.toFixed(1)}ms`, requestId, ...more].join(' ').concat('\n');
}

function toLine(entry: object): string {
  return `${JSON.stringify(entry)}\n`;
}

/** A path comes from the client and must not inject lines or terminal control characters. */
function clean(path: string): string {
  return path.replaceAll(/[^\x21-\x7e]/g, '?');
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function toTimestamp(time: number): string {
  return new Date(time).toISOString();
}
