import { setTimeout as sleep } from 'node:timers/promises';

/** A request that the SDK would not send. */
export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects are sent as JSON, strings unchanged. */
  readonly body?: object | string;
  /** How the key is sent. */
  readonly key?: 'bearer' | 'x-api-key' | 'none';
}

/** A response as it arrived. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Checks compare every field that they read.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

/** A request without the SDK. Like the SDK, it repeats a request that an overloaded server has rejected. */
export async function sendRaw(
  target: { readonly url: string; readonly key: string },
  fetchIt: typeof fetch,
  request: RawRequest,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<RawAnswer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await sendOnce(target, fetchIt, request);
    if (answer.status !== OVERLOADED || attempt === ATTEMPTS_MAX) return answer;
    await pause(Math.min(1_000 * Number(answer.headers.get('retry-after') ?? 1), WAIT_MS_MAX));
  }
}

const OVERLOADED = 529;
const ATTEMPTS_MAX = 6;
/** A tested server may ask for any time. */
const WAIT_MS_MAX = 10_000;

async function sendOnce(
  { url, key }: { readonly url: string; readonly key: string },
  fetchIt: typeof fetch,
  request: RawRequest,
): Promise<RawAnswer> {
  const { method = 'GET', path, headers: given = {}, body, key: how = 'bearer' } = request;
  const headers = new Headers(given);
  if (how === 'bearer') headers.set('authorization', `Bearer ${key}`);
  if (how === 'x-api-key') headers.set('x-api-key', key);
  if (typeof body === 'object') headers.set('content-type', 'application/json');
  const sent = typeof body === 'object' ? JSON.stringify(body) : body;
  const response = await fetchIt(`${url}${path}`, { method, headers, ...(sent === undefined ? {} : { body: sent }) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: toJson(text) };
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
