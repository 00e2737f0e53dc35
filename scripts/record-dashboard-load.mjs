// Records fixtures/dashboard/fleet-25.sse.gz: the fleet stream of a server on which a coordinator and 24 agents run.
// `npm run bench -- dashboard` replays it to the dashboard. The scripted model makes it the same work each time.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { setUp } from './setup.mjs';
import { repositoryRoot } from './support/root.mjs';

const CHILDREN = 24;
const TASKS_OF_ONE_CALL = 12;

await setUp({ build: true });
const { startServer } = await import('../packages/server/dist/index.js');
const data = mkdtempSync(join(tmpdir(), 'fleetloom-record-'));
const server = await startServer({ dataDirectory: data, isOpen: true });
try {
  const sessionId = await runFleet(createCaller(server.url));
  const path = `/v1/sessions/${sessionId}/fleet?follow=false&gate=live&include=thinking`;
  const bytes = Buffer.from(await (await fetch(`${server.url}${path}`)).arrayBuffer());
  const folder = join(repositoryRoot, 'fixtures', 'dashboard');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'fleet-25.sse.gz'), gzipSync(bytes, { level: 9 }));
  const events = bytes.toString().split('\nevent: ').length;
  console.error(`${events} events, ${bytes.length} bytes, are recorded in fixtures/dashboard/fleet-25.sse.gz`);
} finally {
  await server.close();
  rmSync(data, { recursive: true, force: true });
}

async function runFleet(call) {
  const worker = await createAgent(call, 'worker', [...Array(5).keys()].map(toTurn));
  const tasks = Array.from({ length: CHILDREN }, (_, index) => ({ agent: 'worker', message: `part ${index + 1}` }));
  const groups = [tasks.slice(0, TASKS_OF_ONE_CALL), tasks.slice(TASKS_OF_ONE_CALL)];
  const turns = [
    [
      { think: 'The parts do not depend on each other.' },
      ...groups.map((group) => ({ call: 'delegate', input: { tasks: group } })),
    ],
    [{ say: 'All parts are done.' }],
  ];
  const lead = await createAgent(call, 'lead', turns, [worker]);
  const environment = await call('/v1/environments', { name: 'here' });
  const content = [{ type: 'text', text: 'Look at all of it.' }];
  const session = await call('/v1/sessions', {
    agent: lead,
    environment_id: environment.id,
    initial_events: [{ type: 'user.message', content }],
  });
  for (;;) {
    const { status } = await call(`/v1/sessions/${session.id}`);
    if (status === 'idle') return session.id;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Thinks, writes and calls a tool, one word every few milliseconds. */
function toTurn(number) {
  const words = (count) =>
    Array.from(
      { length: count },
      (_, index) => ['this', 'that', 'here', 'there', 'then', 'so', 'and', 'it'][(index * 5 + number) % 8],
    );
  const calls = [
    { call: 'write', input: { file_path: `notes/{{last_user}}-${number}.md`, content: 'noted\n' } },
    { call: 'glob', input: { pattern: '**/*.md' } },
    { call: 'grep', input: { pattern: 'noted', path: '.' } },
    { call: 'read', input: { file_path: 'no-such-file.md' } },
  ];
  return [
    { think: words(20).join(' '), chunks: 20, every_ms: 16 },
    { say: `## Part ${number}\n\n${words(130).join(' ')}.\n\n- one\n- two\n`, chunks: 140, every_ms: 16 },
    ...(number < calls.length ? [calls[number]] : []),
  ];
}

async function createAgent(call, name, turns, members = []) {
  const script = JSON.stringify({ turns }).replaceAll('<', '\\u003c');
  const { id } = await call('/v1/agents', {
    name,
    model: 'scripted/load',
    system: `<script>${script}</script>`,
    tools: [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_allow' } } }],
    ...(members.length === 0 ? {} : { multiagent: { type: 'coordinator', agents: members } }),
  });
  return id;
}

function createCaller(url) {
  return async (path, body) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { ...init, headers: { 'content-type': 'application/json' } });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
}
