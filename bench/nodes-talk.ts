import { setMaxListeners } from 'node:events';
import { openEvents, watchFleet } from '@fleetloom/client';

export const WORD = 'word ';

export interface Talk {
  readonly events: number;
  /** What was heard of what was said, in characters. */
  readonly characters: number;
  readonly ms: number;
  /** From when a piece of text was decided on to when its reader had it. */
  readonly delaysMs: readonly number[];
}

export interface Talkers {
  readonly sessions: number;
  readonly chunks: number;
  readonly everyMs: number;
}

/** Sessions that speak through one server and are read through another, each piece of text written to the log before. */
export async function talk(urls: readonly string[], { sessions, chunks, everyMs }: Talkers): Promise<Talk> {
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
  await Promise.all(made.map((session, index) => say(at(index), session)));
  await Promise.all(read);
  return { events, characters, ms: performance.now() - startedAt, delaysMs };
}

export async function createSession(
  url: string,
  { chunks, everyMs }: Pick<Talkers, 'chunks' | 'everyMs'>,
): Promise<string> {
  const script = { turns: [[{ say: WORD.repeat(chunks), chunks, every_ms: everyMs }]] };
  const system = `<script>${JSON.stringify(script)}</script>`;
  const agent = await post(url, '/v1/agents', { name: 'a', model: 'scripted/echo', system });
  const environment = await post(url, '/v1/environments', { name: `e${Math.random()}` });
  const session = await post(url, '/v1/sessions', { agent: agent.id, environment_id: environment.id });
  return session.id;
}

export async function say(url: string, session: string): Promise<void> {
  const event = { type: 'user.message', content: [{ type: 'text', text: 'Go' }] };
  await post(url, `/v1/sessions/${session}/events`, { events: [event] });
}

/** Streams that stay open and are told nothing. */
export async function openIdle(url: string, session: string, count: number): Promise<() => void> {
  const leaving = new AbortController();
  setMaxListeners(0, leaving.signal);
  for (let opened = 0; opened < count; opened += 100) {
    await Promise.all(
      Array.from({ length: Math.min(100, count - opened) }, async () => {
        const { signal } = leaving;
        const stream = openEvents(`${url}/v1/sessions/${session}/fleet`, { signal });
        // The first words say that it is open; the rest is silence.
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
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { id: string };
}
