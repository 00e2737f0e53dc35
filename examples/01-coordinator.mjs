// A coordinator gives three agents a task each, they work at the same time, and it summarises their reports.
// The program only uses the official SDK, with the base URL of Fleetloom.
//
//   node packages/cli/dist/main.js serve --open     (in one terminal)
//   node examples/01-coordinator.mjs                (in another)
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';

const baseURL = process.env.ANTHROPIC_BASE_URL ?? 'http://127.0.0.1:4280';
const client = new Anthropic({ baseURL, apiKey: process.env.ANTHROPIC_API_KEY ?? 'any' });

// The offline model plays the script in its system prompt. For a real model, name one and write a prompt.
const script = (/** @type {object} */ what) => `<script>${JSON.stringify(what)}</script>`;
const model = 'scripted/example';

const members = ['security', 'speed', 'style'];
const ids = [];
for (const name of members) {
  const system = script({ turns: [[{ sleep_ms: 300 }, { say: `No problem with ${name}.` }]] });
  const member = await client.beta.agents.create({ name, description: `Reviews ${name}.`, model, system });
  ids.push(member.id);
}

const tasks = members.map((agent) => ({ call: 'send_to_agent', input: { agent, message: 'Review the change.' } }));
const coordinator = await client.beta.agents.create({
  name: 'lead',
  model,
  system: script({ when: [{ match: '^Review', turn: tasks }], else: [{ say: 'I heard: {{last_user}}' }] }),
  multiagent: { type: 'coordinator', agents: ids },
});

const environment = await client.beta.environments.create({ name: 'example' });
const session = await client.beta.sessions.create({ agent: coordinator.id, environment_id: environment.id });

// One stream shows the whole session: which threads start, which are idle, and their reports.
const stream = await client.beta.sessions.events.stream(session.id);
await client.beta.sessions.events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text: 'Review this, all of you.' }] }],
});

/** @type {Map<string, string>} */
const reports = new Map();
let [running, most] = [0, 0];
for await (const event of stream) {
  if (event.type === 'session.thread_created') {
    console.log(`started    ${event.agent_name}`);
    running += 1;
    most = Math.max(most, running);
  } else if (event.type === 'agent.thread_message_received') {
    const [block] = event.content;
    const text = block?.type === 'text' ? block.text : '';
    console.log(`reported   ${event.from_agent_name}: ${text}`);
    reports.set(event.from_agent_name ?? '', text);
    running -= 1;
  } else if (event.type === 'session.status_idle') {
    // The session is idle only when all its threads are.
    break;
  }
}

const threads = [];
for await (const thread of client.beta.sessions.threads.list(session.id)) threads.push(thread);
assert.equal(threads.length, 4, 'the primary thread and three below it');
assert.deepEqual([...reports.keys()].sort(), members);
assert.equal(most, 3, 'all of them worked at the same time');
console.log('ok: three members reported');
