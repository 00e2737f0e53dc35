import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Clients, EVENT_BYTES, openAnswerers, openBareSpeaker, openDoorSpeaker, type Speaker } from './http-door.ts';

let clients: Clients;
beforeAll(() => {
  clients = new Clients();
});
afterAll(() => clients.close());

describe('what the bench of the door measures', () => {
  it('[W41] the door and the bare server tell every subscriber every event, each with 200 bytes of JSON', async () => {
    for (const speaker of [await openDoorSpeaker(), await openBareSpeaker()]) {
      const [events] = await Promise.all([readEvents(speaker, 40), speakSoon(speaker, 40)]);
      expect(events).toHaveLength(40);
      expect(events.at(-1)).toContain('the end');
      for (const event of events) expect(/^data: (.*)$/m.exec(event)![1]).toHaveLength(EVENT_BYTES);
      await speaker.close();
    }
  });

  it('[W41] a round is over when the last of all subscribers has seen its end', async () => {
    const speaker = await openDoorSpeaker();
    await clients.subscribe(speaker, 30);
    await clients.hear(speaker, 100, 'end of one.');
    await clients.hear(speaker, 1, 'end of two.');
    await clients.leave();
    await speaker.close();
  });

  it('[W41] both servers give the same answer', async () => {
    const { door, bare, close } = await openAnswerers();
    const [ours, floor] = await Promise.all(
      [door, bare].map(({ port, path }) => fetch(`http://127.0.0.1:${port}${path}`)),
    );
    expect(await ours!.text()).toBe(await floor!.text());
    await clients.ask(door, 50, 4);
    await close();
  });
});

async function speakSoon(speaker: Speaker, events: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 200));
  await speaker.say(events, 'the end');
}

async function readEvents({ port, path }: Speaker, count: number): Promise<string[]> {
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
