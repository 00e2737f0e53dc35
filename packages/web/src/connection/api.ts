import type { ClientEventParams, Page } from '@fleetloom/protocol/managed-agents';
import { timedFetch } from './clock.ts';

/** What the server said no to, in its own words. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Calls to the server that gave us this page. The cookie of the browser goes along, and nothing else is needed. */
export const api = {
  get: <Answer>(path: string): Promise<Answer> => call<Answer>(path, {}),
  post: <Answer>(path: string, body: object): Promise<Answer> =>
    call<Answer>(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  upload: <Answer>(path: string, form: FormData): Promise<Answer> => call<Answer>(path, { method: 'POST', body: form }),
  delete: <Answer>(path: string): Promise<Answer> => call<Answer>(path, { method: 'DELETE' }),
  /** The items of all pages. */
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

/** The cast of the answer: what these paths answer is the wire contract, which the server's own tests check. */
async function call<Answer>(path: string, init: RequestInit): Promise<Answer> {
  const response = await timedFetch(path, init);
  if (response.status === 401) signIn();
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok)
    throw new ApiError(response.status, messageOf(answer) ?? `${response.status} ${response.statusText}`);
  return answer as Answer;
}

/** The cookie has ended, or its key was revoked. */
export function signIn(): void {
  location.assign('./login');
}

function messageOf(answer: unknown): string | undefined {
  // Looked at field by field: a proxy may have answered instead of our server.
  const { error } = (answer ?? {}) as { error?: { message?: unknown } };
  return typeof error?.message === 'string' ? error.message : undefined;
}
