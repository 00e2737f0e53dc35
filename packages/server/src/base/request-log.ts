/** The log entry of a request, written when its response has ended. It contains no secrets: no key, no query, no body. */
export interface RequestLogEntry {
  readonly requestId: string;
  readonly method: string;
  /** Without the query, which may contain secrets. */
  readonly path: string;
  /** `agents.create`; undefined if no route was found or reached. */
  readonly route: string | undefined;
  readonly status: number;
  readonly durationMs: number;
  readonly isStream: boolean;
  /** Whether the client received the whole response. */
  readonly isComplete: boolean;
  readonly workspaceId: string | undefined;
  /** The public id of the key. */
  readonly credentialId: string | undefined;
  readonly errorCode: string | undefined;
}

/** Receives a record of each request, and unexpected errors. */
export interface RequestLog {
  readonly onRequest?: ((entry: RequestLogEntry) => void) | undefined;
  /** Receives errors of the server itself, of which the client gets only the request id. Default: a process warning. */
  readonly onError?: ((error: unknown, requestId: string) => void) | undefined;
}

/** @deprecated Use {@link RequestLog}. */
export type DoorLog = RequestLog;
