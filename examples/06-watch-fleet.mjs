// A whole fleet on one stream: the text and the tools of every thread as they happen, folded into one slot for each turn of
// an agent. The client reconnects on its own after the last event, so every event arrives exactly once.
//
//   node packages/cli/dist/main.js serve --open     (in one terminal)
//   node examples/06-watch-fleet.mjs                (in another)
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { watchFleet } from '@fleetloom/client';
import { createSlots, foldSlots } from '@fleetloom/protocol/fleet';

const baseURL = process.env.ANTHROPIC_BASE_URL ?? 'http://127.0.0.1:4280';
const key = process.env.ANTHROPIC_API_KEY ?? 'any';
const client = new Anthropic({ baseURL, apiKey: key });

const script = (/** @type {object} */ what) => `<script>${JSON.stringify(what)}</script>`;
const model = 'scripted/example';
const names = ['reader', 'tester'];
const ids = [];
for (const name of names) {
  const system = script({ turns: [[{ say: `The ${name} looks at it. All is well.`, every_ms: 40 }]] });
  ids.push((await client.beta.agents.create({ name, model, system })).id);
}
const tasks = names.map((agent) => ({ call: 'send_to_agent', input: { agent, message: 'Look at it.' } }));
const lead = await client.beta.agents.create({
  name: 'lead',
  model,
  system: script({ when: [{ match: '^Look', turn: tasks }], else: [{ say: 'Noted.' }] }),
  multiagent: { type: 'coordinator', agents: ids },
});
const environment = await client.beta.environments.create({ name: 'example' });
const session = await client.beta.sessions.create({ agent: lead.id, environment_id: environment.id });
await client.beta.sessions.events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text: 'Look, all of you.' }] }],
});

let slots = createSlots();
for await (const event of watchFleet({ url: baseURL, key, session: session.id })) {
  slots = foldSlots(slots, event);
  if (event.type === 'stream_start') console.log(`${'  '.repeat(event.depth)}${event.agent} begins`);
  if (event.type === 'text')
    console.log(`${'  '.repeat(event.depth)}${event.agent} says ${JSON.stringify(event.delta)}`);
  if (event.type === 'stream_end') console.log(`${'  '.repeat(event.depth)}${event.agent} is done`);
  // The whole run has ended: all threads are idle.
  if (event.type === 'done') break;
}

const [run] = slots.runs;
assert.ok(run?.state === 'ok');
assert.equal(slots.gapCount, 0, 'nothing was missed');
const said = run.slots.filter(({ agent }) => names.includes(agent)).map(({ text }) => text.tail);
assert.deepEqual(said, ['The reader looks at it. All is well.', 'The tester looks at it. All is well.']);
console.log(`ok: ${run.slots.length} turns, none missed`);
