import { setTimeout as wait } from 'node:timers/promises';

/** The API calls of the tests. Responses are untyped: tests compare them with literals. */
export interface Api {
  get<Answer>(path: string): Promise<Answer>;
  post<Answer = { readonly id: string }>(path: string, body: object): Promise<Answer>;
  delete(path: string): Promise<void>;
  /** All items of a paged list. */
  list<Item>(path: string): Promise<Item[]>;
  /** The events of one type in a session. */
  events<Event = { readonly id: string }>(sessionId: string, type: string): Promise<Event[]>;
  send(sessionId: string, ...events: readonly object[]): Promise<void>;
}

/** How often a request is sent, each time after the seconds that the server asks for. */
const ATTEMPTS = 30;

export function createApi(url: string, key: string): Api {
  const call = async <Answer>(path: string, init: RequestInit = {}, left = ATTEMPTS): Promise<Answer> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, { ...init, headers });
    // The server has rejected the request without beginning it, because the machine is busy.
    if (response.status === 529 && left > 1) {
      await response.text();
      await wait(Number(response.headers.get('retry-after') ?? 1) * 1_000);
      return call(path, init, left - 1);
    }
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    // The response is cast: its shape is the wire contract, which other tests check.
    return (await response.json()) as Answer;
  };
  const api: Api = {
    get: (path) => call(path),
    post: (path, body) => call(path, { method: 'POST', body: JSON.stringify(body) }),
    delete: async (path) => void (await call(path, { method: 'DELETE' })),
    list: async <Item>(path: string) => {
      const items: Item[] = [];
      for (let page: string | null = ''; page !== null; ) {
        const query: string = page === '' ? '' : `${path.includes('?') ? '&' : '?'}page=${encodeURIComponent(page)}`;
        const answer: { data: Item[]; next_page: string | null } = await call(`${path}${query}`);
        items.push(...answer.data);
        page = answer.next_page;
      }
      return items;
    },
    events: (sessionId, type) => api.list(`/v1/sessions/${sessionId}/events?types[]=${type}`),
    send: async (sessionId, ...events) => void (await api.post(`/v1/sessions/${sessionId}/events`, { events })),
  };
  return api;
}
