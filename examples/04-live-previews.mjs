// Text while it is being written. A stream shows whole messages unless it asks for their growth with `event_deltas`; the
// accumulator of the SDK puts the pieces together.
//
//   node packages/cli/dist/main.js serve --open     (in one terminal)
//   node examples/04-live-previews.mjs              (in another)
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { accumulateManagedAgentsEvent } from '@anthropic-ai/sdk/lib/sessions/accumulate';

const baseURL = process.env.ANTHROPIC_BASE_URL ?? 'http://127.0.0.1:4280';
const client = new Anthropic({ baseURL, apiKey: process.env.ANTHROPIC_API_KEY ?? 'any' });

const words = 'Every word of this sentence arrives on its own.';
const agent = await client.beta.agents.create({
  name: 'writer',
  model: 'scripted/example',
  system: `<script>${JSON.stringify({ turns: [[{ say: words, every_ms: 60 }]] })}</script>`,
});
const environment = await client.beta.environments.create({ name: 'example' });
const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });

const stream = await client.beta.sessions.events.stream(session.id, { event_deltas: ['agent.message'] });
await client.beta.sessions.events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text: 'Write.' }] }],
});

/** @type {Map<string, import('@anthropic-ai/sdk/lib/sessions/accumulate').AccumulatedEvent>} */
const growing = new Map();
let pieces = 0;
let shown = '';
let final = '';
for await (const event of stream) {
  if (event.type === 'event_start') {
    const started = accumulateManagedAgentsEvent(undefined, event);
    if (started !== undefined) growing.set(event.event.id, started);
  } else if (event.type === 'event_delta') {
    const grown = accumulateManagedAgentsEvent(growing.get(event.event_id), event);
    if (grown === undefined) continue;
    growing.set(event.event_id, grown);
    pieces += 1;
    shown = textOf(grown.content);
    console.log(`growing    ${shown}`);
  } else if (event.type === 'agent.message') {
    // The message has the same id and is authoritative: the text shown before was a preview.
    assert.ok(growing.has(event.id));
    final = textOf(event.content);
    console.log(`message    ${final}`);
  } else if (event.type === 'session.status_idle') {
    break;
  }
}

assert.ok(pieces > 1, 'it came in several pieces');
assert.ok(final.startsWith(shown), 'what was shown is the beginning of the message');
assert.equal(final, words);
console.log(`ok: ${pieces} previews, one message`);

/** @param {readonly object[]} content */
function textOf(content) {
  return content.map((block) => ('text' in block ? block.text : '')).join('');
}
