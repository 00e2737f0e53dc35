import type { DoorLog, RequestLogEntry } from '@fleetloom/server';

export const logForms = ['json', 'text', 'off'] as const;
export type LogForm = (typeof logForms)[number];

export interface RequestLinesOptions {
  readonly form: LogForm;
  readonly write: (line: string) => void;
  readonly now: () => number;
}

/** Writes a line for each request that is over, and for each mistake of the server. Entries hold no secrets. */
export function createRequestLines({ form, write, now }: RequestLinesOptions): DoorLog {
  // Mistakes are told in any case.
  const onMishap = (error: unknown, requestId: string) =>
    write(
      form === 'json'
        ? toLine({ time: toMoment(now()), level: 'error', message: toText(error), request_id: requestId })
        : `fleetloom: ${toText(error)}${requestId === '' ? '' : ` (${requestId})`}\n`,
    );
  if (form === 'off') return { onMishap };
  const show = form === 'json' ? toJsonLine : toTextLine;
  return { onRequest: (entry) => write(show(entry, toMoment(now()))), onMishap };
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
  const more = [isStream ? 'stream' : '', isComplete ? '' : 'broken off', errorCode ?? ''].filter(
    (part) => part !== '',
  );
  return [time, status, method, clean(path), `${durationMs.toFixed(1)}ms`, requestId, ...more].join(' ').concat('\n');
}

function toLine(entry: object): string {
  return `${JSON.stringify(entry)}\n`;
}

/** A path is what a client sent: it must not be able to write lines, or to a terminal. */
function clean(path: string): string {
  return path.replaceAll(/[^\x21-\x7e]/g, '?');
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function toMoment(time: number): string {
  return new Date(time).toISOString();
}
