// A program that loses its connection and misses nothing: open the stream first, then list what happened before, and know
// each event by its id. An event that arrives both ways counts once.
//
//   node packages/cli/dist/main.js serve --open     (in one terminal)
//   node examples/05-reconnect.mjs                  (in another)
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';

const baseURL = process.env.ANTHROPIC_BASE_URL ?? 'http://127.0.0.1:4280';
const client = new Anthropic({ baseURL, apiKey: process.env.ANTHROPIC_API_KEY ?? 'any' });

// Twenty steps, each a request to the model and a tool.
const steps = Array.from({ length: 20 }, () => [{ sleep_ms: 30 }, { call: 'glob', input: { pattern: '*' } }]);
const agent = await client.beta.agents.create({
  name: 'worker',
  model: 'scripted/example',
  system: `<script>${JSON.stringify({ turns: [...steps, [{ say: 'Done.' }]] })}</script>`,
  tools: [{ type: 'agent_toolset_20260401' }],
});
const environment = await client.beta.environments.create({ name: 'example' });
const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
await client.beta.sessions.events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text: 'Work.' }] }],
});

/** Every event once, by its id. @type {Map<string, string>} */
const seen = new Map();
const isOver = () => [...seen.values()].includes('session.status_idle');
let connections = 0;
while (!isOver()) {
  connections += 1;
  const stream = await client.beta.sessions.events.stream(session.id);
  for await (const { id, type } of client.beta.sessions.events.list(session.id)) seen.set(id, type);
  const known = seen.size;
  // The end may have come while this program was not connected: then it is in the list, and the stream has no more events.
  if (isOver()) {
    stream.controller.abort();
    break;
  }
  for await (const event of stream) {
    if ('id' in event) seen.set(event.id, event.type);
    // The connection is dropped after every ten new events.
    if (event.type === 'session.status_idle' || seen.size >= known + 10) break;
  }
  console.log(`connection ${connections}: ${seen.size} events so far`);
}

// Up to the end: events after it came when this program had stopped reading.
const listed = [];
for await (const { id, type } of client.beta.sessions.events.list(session.id)) {
  listed.push(id);
  if (type === 'session.status_idle') break;
}
assert.deepEqual(
  listed.filter((id) => !seen.has(id)),
  [],
);
console.log(`ok: ${connections} connections, ${listed.length} events, none missing and none twice`);
