// Tools that run on your machine, not on the server's. The environment is self-hosted, so the server queues the work of its
// sessions, and the EnvironmentWorker of the official SDK fetches it, runs the tools here and sends the results back.
//
//   node packages/cli/dist/main.js serve --open     (in one terminal)
//   node examples/07-worker.mjs                     (in another)
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';

const baseURL = process.env.ANTHROPIC_BASE_URL ?? 'http://127.0.0.1:4280';
const key = process.env.ANTHROPIC_API_KEY ?? 'any';
const client = new Anthropic({ baseURL, apiKey: key });

const agent = await client.beta.agents.create({
  name: 'builder',
  model: 'scripted/example',
  system: `<script>${JSON.stringify({
    turns: [
      [{ call: 'bash', input: { command: 'echo "built by $(basename "$PWD")" > result.txt && cat result.txt' } }],
      [{ say: 'It says: {{last_result}}' }],
    ],
  })}</script>`,
  tools: [{ type: 'agent_toolset_20260401' }],
});
const environment = await client.beta.environments.create({ name: 'mine', config: { type: 'self_hosted' } });
const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });

const workdir = await mkdtemp(join(tmpdir(), 'worker-'));
const leaving = new AbortController();
// In production a worker has a key of its own, valid for one environment only; the key of the server works too.
const worker = client.beta.environments.work.worker({
  environmentId: environment.id,
  environmentKey: key,
  workdir,
  maxIdleMs: 200,
  signal: leaving.signal,
});
const work = worker.run();

const stream = await client.beta.sessions.events.stream(session.id);
await client.beta.sessions.events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text: 'Build it.' }] }],
});
let said = '';
for await (const event of stream) {
  if (event.type === 'agent.tool_use') console.log(`runs here  ${event.name} ${JSON.stringify(event.input)}`);
  if (event.type === 'agent.message') said = event.content.map((block) => ('text' in block ? block.text : '')).join('');
  if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break;
}
console.log(`said       ${said}`);

const written = await readFile(join(workdir, 'result.txt'), 'utf8');
leaving.abort();
await work.catch(() => {});
await rm(workdir, { recursive: true });

assert.match(written, /^built by worker-/);
assert.ok(said.includes(written.trim()));
console.log('ok: the file is on this machine');
