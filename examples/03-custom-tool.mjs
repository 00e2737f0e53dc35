// An agent calls a tool that this program runs. The call is an event on the session's own stream; the result is sent with
// the id of the call, and the server finds the thread that waits for it.
//
//   node packages/cli/dist/main.js serve --open     (in one terminal)
//   node examples/03-custom-tool.mjs                (in another)
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';

const baseURL = process.env.ANTHROPIC_BASE_URL ?? 'http://127.0.0.1:4280';
const client = new Anthropic({ baseURL, apiKey: process.env.ANTHROPIC_API_KEY ?? 'any' });

const script = (/** @type {object} */ what) => `<script>${JSON.stringify(what)}</script>`;
const model = 'scripted/example';

const clerk = await client.beta.agents.create({
  name: 'clerk',
  model,
  system: script({
    turns: [[{ call: 'look_up_order', input: { number: 4711 } }], [{ say: 'Order 4711 is {{last_result}}.' }]],
  }),
  tools: [
    {
      type: 'custom',
      name: 'look_up_order',
      description: 'Returns the state of an order.',
      input_schema: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
    },
  ],
});
const lead = await client.beta.agents.create({
  name: 'lead',
  model,
  system: script({
    when: [{ match: '^Where', turn: [{ call: 'send_to_agent', input: { agent: 'clerk', message: 'Order 4711?' } }] }],
    else: [{ say: 'I heard: {{last_user}}' }],
  }),
  multiagent: { type: 'coordinator', agents: [clerk.id] },
});

const environment = await client.beta.environments.create({ name: 'example' });
const session = await client.beta.sessions.create({ agent: lead.id, environment_id: environment.id });

const stream = await client.beta.sessions.events.stream(session.id);
await client.beta.sessions.events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text: 'Where is order 4711?' }] }],
});

let report = '';
for await (const event of stream) {
  if (event.type === 'agent.custom_tool_use') {
    console.log(`calls      ${event.name} ${JSON.stringify(event.input)} on ${event.session_thread_id}`);
    // There is no need to wait for the session to be idle.
    await client.beta.sessions.events.send(session.id, {
      events: [
        {
          type: 'user.custom_tool_result',
          custom_tool_use_id: event.id,
          content: [{ type: 'text', text: 'on its way' }],
        },
      ],
    });
  } else if (event.type === 'agent.thread_message_received') {
    const [block] = event.content;
    if (block?.type === 'text') report = block.text;
  } else if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') {
    break;
  }
}

assert.equal(report, 'Order 4711 is on its way.');
console.log(`ok: ${report}`);
