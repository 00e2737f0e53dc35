/** Why watching cannot go on, whatever is tried again. */
export type WatchFleetCode =
  /** 401: the key is missing or wrong. */
  | 'unauthorized'
  /** 403: the key is good for other things. */
  | 'forbidden'
  /** 404 or 410: there is no such session. */
  | 'not_found'
  /** Another 4xx: the server does not take the request, e.g. a cursor that is ahead of its log. */
  | 'refused'
  /** 2xx with something else than events: the address is another program's. */
  | 'not_a_stream'
  /** As many tries as allowed have failed. */
  | 'gave_up';

/** Watching cannot go on. `cause` has what the server or the network said. */
export class WatchFleetError extends Error {
  override readonly name = 'WatchFleetError';
  readonly code: WatchFleetCode;
  /** Of HTTP, null where there was no answer. */
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
  refused: 'check what was asked for; without `after` everything is sent again',
  not_a_stream: 'check the address of the server',
  gave_up: 'check that the server runs and can be reached',
};
