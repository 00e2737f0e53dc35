import { setMaxListeners } from 'node:events';
import { openEvents, watchFleet } from '@fleetloom/client';

export const WORD = 'word ';

export interface LoadResult {
  readonly events: number;
  /** Characters of text that readers received. */
  readonly characters: number;
  readonly ms: number;
  /** The time from when a delta was due until its reader received it. */
  readonly delaysMs: readonly number[];
}

export interface LoadOptions {
  readonly sessions: number;
  readonly chunks: number;
  readonly everyMs: number;
}

/** Runs sessions on one server and reads them through another; each delta is written to the log first. */
export async function runLoad(
  urls: readonly string[],
  { sessions, chunks, everyMs }: LoadOptions,
): Promise<LoadResult> {
  const at = (index: number) => urls[index % urls.length]!;
  const made = await Promise.all(
    Array.from({ length: sessions }, async (_, index) => createSession(at(index), { chunks, everyMs })),
  );
  const delaysMs: number[] = [];
  let [events, characters] = [0, 0];
  const startedAt = performance.now();
  const read = made.map(async (session, index) => {
    for await (const event of watchFleet({ url: at(index + 1), session, gate: 'off' })) {
      if (event.type === 'text') {
        events += 1;
        characters += event.delta.length;
        if (event.ts !== null) delaysMs.push(Date.now() - event.ts);
      }
      if (event.type === 'done') return;
    }
  });
  await Promise.all(made.map((session, index) => sendMessage(at(index), session)));
  await Promise.all(read);
  return { events, characters, ms: performance.now() - startedAt, delaysMs };
}

export async function createSession(
  url: string,
  { chunks, everyMs }: Pick<LoadOptions, 'chunks' | 'everyMs'>,
): Promise<string> {
  const script = { turns: [[{ say: WORD.repeat(chunks), chunks, every_ms: everyMs }]] };
  const system = `<script>${JSON.stringify(script)}</script>`;
  const agent = await post(url, '/v1/agents', { name: 'a', model: 'scripted/echo', system });
  const environment = await post(url, '/v1/environments', { name: `e${Math.random()}` });
  const session = await post(url, '/v1/sessions', { agent: agent.id, environment_id: environment.id });
  return session.id;
}

/** Sessions of one agent that have answered a message, and are idle. */
export async function createIdleSessions(url: string, count: number): Promise<void> {
  const agent = await post(url, '/v1/agents', { name: 'a', model: 'scripted/echo' });
  const environment = await post(url, '/v1/environments', { name: 'e' });
  const initial_events = [{ type: 'user.message', content: [{ type: 'text', text: 'Go' }] }];
  const session = { agent: agent.id, environment_id: environment.id, initial_events };
  for (let made = 0; made < count; made += 10) {
    await Promise.all(Array.from({ length: 10 }, () => post(url, '/v1/sessions', session)));
  }
}

export async function sendMessage(url: string, session: string): Promise<void> {
  const event = { type: 'user.message', content: [{ type: 'text', text: 'Go' }] };
  await post(url, `/v1/sessions/${session}/events`, { events: [event] });
}

/** Opens streams that stay open and receive nothing. */
export async function openIdle(url: string, session: string, count: number): Promise<() => void> {
  const leaving = new AbortController();
  setMaxListeners(0, leaving.signal);
  for (let opened = 0; opened < count; opened += 100) {
    await Promise.all(
      Array.from({ length: Math.min(100, count - opened) }, async () => {
        const { signal } = leaving;
        const stream = openEvents(`${url}/v1/sessions/${session}/fleet`, { signal });
        // The first bytes show that it is open; nothing follows.
        await stream.next();
        void (async () => {
          for await (const _ of stream);
        })().catch(() => {});
      }),
    );
  }
  return () => leaving.abort();
}

async function post(url: string, path: string, body: object): Promise<{ id: string }> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'any' },
    body: JSON.stringify(body),
  });
  if (response.status === OVERLOADED) {
    // The request had no effect, so a client repeats it.
    await new Promise((resolve) => setTimeout(resolve, Number(response.headers.get('retry-after')) * 1_000));
    return await post(url, path, body);
  }
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { id: string };
}

const OVERLOADED = 529;
