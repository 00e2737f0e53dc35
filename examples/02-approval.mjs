// An agent wants to write a file, which needs approval. The request is an event on the session's own stream, with the thread
// that waits; the decision only needs the id of that event.
//
//   node packages/cli/dist/main.js serve --open     (in one terminal)
//   node examples/02-approval.mjs                   (in another)
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';

const baseURL = process.env.ANTHROPIC_BASE_URL ?? 'http://127.0.0.1:4280';
const client = new Anthropic({ baseURL, apiKey: process.env.ANTHROPIC_API_KEY ?? 'any' });

const script = (/** @type {object} */ what) => `<script>${JSON.stringify(what)}</script>`;
const model = 'scripted/example';

const writer = await client.beta.agents.create({
  name: 'writer',
  model,
  system: script({
    turns: [
      [{ call: 'write', input: { file_path: 'notes.md', content: '# Notes\n' } }],
      [{ say: 'The notes are written.' }],
    ],
  }),
  // Every tool call of this agent needs approval.
  tools: [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }],
});
const lead = await client.beta.agents.create({
  name: 'lead',
  model,
  system: script({
    when: [{ match: '^Write', turn: [{ call: 'send_to_agent', input: { agent: 'writer', message: 'Write notes.' } }] }],
    else: [{ say: 'I heard: {{last_user}}' }],
  }),
  multiagent: { type: 'coordinator', agents: [writer.id] },
});

const environment = await client.beta.environments.create({ name: 'example' });
const session = await client.beta.sessions.create({ agent: lead.id, environment_id: environment.id });

const stream = await client.beta.sessions.events.stream(session.id);
await client.beta.sessions.events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text: 'Write some notes.' }] }],
});

/** @type {Map<string, import('@anthropic-ai/sdk/resources/beta/sessions').BetaManagedAgentsAgentToolUseEvent>} */
const asked = new Map();
let report = '';
for await (const event of stream) {
  if (event.type === 'agent.tool_use' && event.evaluated_permission === 'ask') {
    asked.set(event.id, event);
  } else if (event.type === 'agent.thread_message_received') {
    const [block] = event.content;
    if (block?.type === 'text') report = block.text;
  } else if (event.type === 'session.status_idle') {
    if (event.stop_reason.type !== 'requires_action') break;
    // The session waits without a time limit, also across restarts of the server. These are all its pending approvals.
    for (const id of event.stop_reason.event_ids) {
      const use = asked.get(id);
      console.log(`asks       ${use?.session_thread_id}: may I ${use?.name} ${JSON.stringify(use?.input)}?`);
      await client.beta.sessions.events.send(session.id, {
        events: [{ type: 'user.tool_confirmation', tool_use_id: id, result: 'allow' }],
      });
      console.log('allowed');
    }
  }
}

assert.equal(asked.size, 1);
assert.equal(report, 'The notes are written.');
console.log(`ok: the member went on and reported "${report}"`);
