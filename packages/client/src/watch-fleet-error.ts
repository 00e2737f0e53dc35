/** Why watching cannot continue, also not with a retry. */
export type WatchFleetCode =
  /** 401: the key is missing or wrong. */
  | 'unauthorized'
  /** 403: the key has no permission for this. */
  | 'forbidden'
  /** 404 or 410: the session does not exist. */
  | 'not_found'
  /** Another 4xx: the server rejects the request, e.g. a cursor that is ahead of its log. */
  | 'refused'
  /** 2xx with another content type: the address belongs to another program. */
  | 'not_a_stream'
  /** `retriesMax` attempts have failed. */
  | 'gave_up';

/** The stream cannot be continued. `cause` is the error of the server or the network. */
export class WatchFleetError extends Error {
  override readonly name = 'WatchFleetError';
  readonly code: WatchFleetCode;
  /** The HTTP status; null if there was no response. */
  readonly status: number | null;

  constructor(code: WatchFleetCode, status: number | null, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`${reason}: ${advice[code]}`, { cause });
    this.code = code;
    this.status = status;
  }
}

const advice: Record<WatchFleetCode, string> = {
  unauthorized: 'pass a key that the server knows',
  forbidden: 'pass a key that may watch this',
  not_found: 'check the id of the session',
  refused: 'check the request; without `after` the stream starts at the beginning',
  not_a_stream: 'check the address of the server',
  gave_up: 'check that the server runs and can be reached',
};
