import { type ErrorKind, FleetloomError } from './errors.ts';

/** An error that the server detects. Its HTTP status is defined in to-error-answer.ts, like that of all errors. */
export function requestError(code: RequestErrorCode, problem: string, more: RequestErrorFields = {}): RequestError {
  const { kind, advice } = meanings[code];
  return new RequestError({ code, kind, problem, advice, ...more });
}

/** Optional parts of an error that a client receives. */
export interface RequestErrorFields {
  /** Replaces the default advice of the code. */
  readonly advice?: string;
  /** Data for programs beside the code; `error.details` on the wire. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Seconds after which a retry may succeed. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** An error that a client receives with its message, details and retry delay. */
export class RequestError extends FleetloomError {
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(fields: { code: string; kind: ErrorKind; problem: string; advice: string } & RequestErrorFields) {
    const { details, retryAfterSeconds, ...rest } = fields;
    super(rest);
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export type RequestErrorCode = keyof typeof meanings;

const meanings = {
  invalid_request: { kind: 'caller', advice: 'correct the request; /openapi.json says what it may hold' },
  invalid_json: { kind: 'caller', advice: 'send one JSON object in UTF-8' },
  unsupported_encoding: { kind: 'caller', advice: 'send the body uncompressed' },
  body_too_large: {
    kind: 'caller',
    advice: 'send less at a time, or upload files with POST /v1/files and send their file_id',
  },
  headers_too_large: { kind: 'caller', advice: 'send fewer or shorter headers' },
  request_timeout: { kind: 'retryable', advice: 'send the request faster, or in smaller parts' },
  unknown_path: { kind: 'caller', advice: 'check the method and the path; /openapi.json lists them' },
  unknown_id: { kind: 'caller', advice: 'check the id, and that it was not deleted' },
  missing_key: { kind: 'caller', advice: 'send the key as `Authorization: Bearer` or as `x-api-key`' },
  wrong_key: { kind: 'caller', advice: 'use a key that this server made and that was not revoked' },
  credential_ended: { kind: 'caller', advice: 'sign in again, or use a key that was not revoked' },
  key_not_allowed: { kind: 'caller', advice: 'use an API key' },
  scope_missing: { kind: 'caller', advice: 'use a key or a login with this scope' },
  key_limited: { kind: 'caller', advice: 'use a key without this limit, or ask its operator to create one' },
  push_not_accepted: {
    kind: 'caller',
    advice: 'try again later; if it happens again, remove the device and subscribe again in its browser',
  },
  not_recorded: {
    kind: 'caller',
    advice: 'create a session with a directory or a repository in `resources`',
  },
  workspace_not_open: { kind: 'caller', advice: 'send a message, which opens it, and repeat the request' },
  path_not_found: { kind: 'caller', advice: 'GET /v1/sessions/{session_id}/tree lists its files' },
  apply_conflict: {
    kind: 'caller',
    advice:
      'commit or undo your own changes of these files, choose other files with `paths`, or apply onto a new branch',
  },
  restore_conflict: {
    kind: 'caller',
    advice: 'move your changes of these files away, or repeat the request with `overwrite: true` (`--overwrite`)',
  },
  merge_conflict: {
    kind: 'caller',
    advice: 'have the agent of the thread resolve it, or change the files of the session, and repeat the request',
  },
  not_applicable: {
    kind: 'caller',
    advice: 'GET /v1/sessions/{session_id}/changes says in `can_apply` what is possible',
  },
  branch_checked_out: { kind: 'caller', advice: 'choose another branch, or apply onto the working tree' },
  branch_moved: { kind: 'caller', advice: 'repeat the request' },
  directory_not_allowed: {
    kind: 'caller',
    advice: 'ask the operator to start the server with --allow-directory <path>',
  },
  directory_in_use: { kind: 'caller', advice: 'end the session that works on it' },
  wrong_host: {
    kind: 'caller',
    advice: 'call it by its loopback address, or allow this name when you start the server',
  },
  wrong_origin: { kind: 'caller', advice: 'call it from a program, or allow this origin when you start the server' },
  idempotency_key_reused: { kind: 'caller', advice: 'use a new key for each request that is not a repetition' },
  answer_too_large: { kind: 'caller', advice: 'read what it made, and do not send it again' },
  answer_sealed: { kind: 'caller', advice: 'read what it made, or use a new key to do it again' },
  still_under_way: { kind: 'retryable', advice: 'repeat the request with the same Idempotency-Key in a moment' },
  heartbeat_precondition_failed: { kind: 'caller', advice: 'leave the item, it belongs to another worker' },
  rate_limited: { kind: 'retryable', advice: 'wait as long as retry-after says' },
  too_many_requests: {
    kind: 'retryable',
    advice: 'wait until some of them are answered, and close what is not needed',
  },
  too_many_streams: { kind: 'retryable', advice: 'close streams that are not needed' },
  out_of_resources: { kind: 'retryable', advice: 'repeat the request in a moment' },
  overloaded: { kind: 'retryable', advice: 'repeat the request after the seconds that retry-after says' },
  storage_full: { kind: 'retryable', advice: 'free space on its disk, and repeat the request' },
  database_unavailable: { kind: 'retryable', advice: 'repeat the request in a moment' },
  shutting_down: { kind: 'retryable', advice: 'repeat the request in a moment' },
  port_taken: { kind: 'caller', advice: 'stop the program that has it, or choose another port; 0 takes any free one' },
  cannot_accept: {
    kind: 'retryable',
    advice: 'allow the process more open files (`ulimit -n`), or close what is not needed',
  },
  cannot_listen: { kind: 'caller', advice: 'choose another address or port' },
  tls_unusable: {
    kind: 'caller',
    advice: 'name files in PEM that the user of the server can read, a certificate with its own private key',
  },
  key_required: { kind: 'caller', advice: 'give it a key store, or bind it to 127.0.0.1' },
} as const satisfies Record<string, { kind: ErrorKind; advice: string }>;
