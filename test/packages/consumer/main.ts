import { createReadStream } from 'node:fs';
import { readEvents } from '@fleetloom/client';
import { encodeEvent, type SseItem } from '@fleetloom/protocol/sse';
import { foldStream } from './fold-stream.js';

// A program of a user, in Node: packed.test.ts copies it out of the repository, compiles and runs it there.

const [, , path = ''] = process.argv;
const { tree } = await foldStream(createReadStream(path));
console.log(JSON.stringify({ tree, greeting: await readGreeting() }));

async function readGreeting(): Promise<SseItem[]> {
  const headers = { 'content-type': 'text/event-stream' };
  const items: SseItem[] = [];
  for await (const item of readEvents(new Response(encodeEvent({ data: 'hello', id: '1' }), { headers }))) {
    items.push(item);
  }
  return items;
}
