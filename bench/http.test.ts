import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  Clients,
  EVENT_BYTES,
  openAnswerers,
  openBareStreamServer,
  openStreamServer,
  type StreamServer,
} from './http-servers.ts';

let clients: Clients;
beforeAll(() => {
  clients = new Clients();
});
afterAll(() => clients.close());

describe('what the bench of the server measures', () => {
  it('[W41] the server and the bare server send every subscriber every event, each with 200 bytes of JSON', async () => {
    for (const source of [await openStreamServer(), await openBareStreamServer()]) {
      const [events] = await Promise.all([readEvents(source, 40), emitSoon(source, 40)]);
      expect(events).toHaveLength(40);
      expect(events.at(-1)).toContain('the end');
      for (const event of events) expect(/^data: (.*)$/m.exec(event)![1]).toHaveLength(EVENT_BYTES);
      await source.close();
    }
  });

  it('[W41] a round ends when the last subscriber has received its end', async () => {
    const source = await openStreamServer();
    await clients.subscribe(source, 30);
    await clients.receive(source, 100, 'end of one.');
    await clients.receive(source, 1, 'end of two.');
    await clients.leave();
    await source.close();
  });

  it('[W41] both servers give the same answer', async () => {
    const { server, bare, close } = await openAnswerers();
    const [ours, floor] = await Promise.all(
      [server, bare].map(({ port, path }) => fetch(`http://127.0.0.1:${port}${path}`)),
    );
    expect(await ours!.text()).toBe(await floor!.text());
    await clients.ask(server, 50, 4);
    await close();
  });
});

async function emitSoon(source: StreamServer, events: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 200));
  await source.emit(events, 'the end');
}

async function readEvents({ port, path }: StreamServer, count: number): Promise<string[]> {
  const gone = new AbortController();
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: gone.signal });
  let text = '';
  for await (const chunk of response.body!) {
    text += Buffer.from(chunk as Uint8Array).toString();
    if (text.split('\n\n').length > count) break;
  }
  gone.abort();
  return text.split(/(?<=\n\n)/);
}
