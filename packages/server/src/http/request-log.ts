/** What is told about each request when its answer is over. Nothing in it is a secret: no key, no query, no body. */
export interface RequestLogEntry {
  readonly requestId: string;
  readonly method: string;
  /** Without the query, where people may have put what does not belong there. */
  readonly path: string;
  /** `agents.create`; undefined if no route was found or reached. */
  readonly route: string | undefined;
  readonly status: number;
  readonly durationMs: number;
  readonly isStream: boolean;
  /** Whether the client got everything. */
  readonly isComplete: boolean;
  readonly workspaceId: string | undefined;
  /** Which key, by its public id. */
  readonly credentialId: string | undefined;
  readonly errorCode: string | undefined;
}

/** Where the door says what happens. */
export interface DoorLog {
  readonly onRequest?: ((entry: RequestLogEntry) => void) | undefined;
  /** Hears of our own mistakes, of which the caller learns only the request id. By default a warning of the process. */
  readonly onMishap?: ((error: unknown, requestId: string) => void) | undefined;
}
