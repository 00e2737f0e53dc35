import type { ClientEventParams, Page } from '@fleetloom/protocol/managed-agents';
import { timedFetch } from './clock.ts';

/** An error response of the server, with its message. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** `error_code` of the response; empty if it has none. */
  readonly code: string;
  /** The other fields of the error, by name. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.status = status;
    this.details = details;
    this.code = typeof details['error_code'] === 'string' ? details['error_code'] : '';
  }
}

/** Requests to the server of this page. The browser's cookie authenticates them. */
export const api = {
  get: <Answer>(path: string): Promise<Answer> => call<Answer>(path, {}),
  /** The content of a file. */
  bytes: async (path: string): Promise<Uint8Array> => {
    const response = await timedFetch(path);
    if (!response.ok) throw await toError(response);
    return new Uint8Array(await response.arrayBuffer());
  },
  post: <Answer>(path: string, body: object, signal?: AbortSignal): Promise<Answer> =>
    call<Answer>(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    }),
  upload: <Answer>(path: string, form: FormData): Promise<Answer> => call<Answer>(path, { method: 'POST', body: form }),
  delete: <Answer>(path: string): Promise<Answer> => call<Answer>(path, { method: 'DELETE' }),
  /** All items of a paged list. */
  list: async function* <Item>(path: string): AsyncGenerator<Item, void, undefined> {
    for (let page: string | null = ''; page !== null; ) {
      const query = page === '' ? '' : `${path.includes('?') ? '&' : '?'}page=${encodeURIComponent(page)}`;
      const answer: Page<Item> = await call(`${path}${query}`, {});
      yield* answer.data;
      page = answer.next_page;
    }
  },
  send: (sessionId: string, ...events: readonly ClientEventParams[]): Promise<unknown> =>
    api.post(`v1/sessions/${sessionId}/events`, { events }),
};

/** The response is cast: its shape is the wire contract, which the server's own tests check. */
async function call<Answer>(path: string, init: RequestInit): Promise<Answer> {
  const response = await timedFetch(path, init);
  if (!response.ok) throw await toError(response);
  return (await response.json().catch(() => undefined)) as Answer;
}

async function toError(response: Response): Promise<ApiError> {
  const { status, statusText } = response;
  if (status === 401) signIn();
  const answer: unknown = await response.json().catch(() => undefined);
  // Checked field by field: the response may come from a proxy.
  const { error } = (answer ?? {}) as { error?: { message?: unknown; details?: unknown } };
  const message = typeof error?.message === 'string' ? error.message : `${status} ${statusText}`;
  const { details } = error ?? {};
  return new ApiError(status, message, typeof details === 'object' && details !== null ? { ...details } : {});
}

/** Opens the sign-in page: the cookie expired, or its key was revoked. */
export function signIn(): void {
  location.assign('./login');
}
