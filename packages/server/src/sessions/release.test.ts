import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { sessionLimits } from './core/limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import type { EngineEvent } from '../engines/model/engine.ts';
import { createGovernor } from '../engines/model/messages/governor.ts';
import { createMessagesEngine } from '../engines/model/messages/messages-engine.ts';
import { createNoProgramEngine } from '../engines/program/no-program.ts';
import type { ProgramEngine } from '../engines/program/program.ts';
import type { SessionFrame } from '../frames/frames.ts';
import { createToolbox } from '../tools/registry/create-toolbox.ts';
import { createTestPrograms } from './runtime/program/test-program.suite.ts';
import { agent, delegates, type FleetOptions, interruption, lead, openFleet, solo } from './suite/fleet.suite.ts';
import { createPlainEngine, someUsage } from './suite/plain-engine.suite.ts';

/** One way to wait: what the session is, what it is given, and the frame after which it waits. */
interface Wait {
  readonly options?: FleetOptions;
  readonly agent?: SessionAgent;
  readonly task?: string | object;
  readonly budget?: Parameters<Awaited<ReturnType<typeof openFleet>>['begin']>[2];
  readonly waitsAfter: (frame: SessionFrame) => boolean;
}

const waits: Readonly<Record<string, () => Promise<Wait> | Wait>> = {
  'the next attempt': () => ({
    task: { turns: [[{ fail: { status: 529, times: 3 } }]] },
    waitsAfter: is('session.status_rescheduled'),
  }),
  'the next attempt of a child': () => ({
    agent: lead,
    task: { turns: [[delegates({ turns: [[{ fail: { status: 529, times: 3 } }]] })]] },
    waitsAfter: is('session.error'),
  }),
  'a place in the queue of its endpoint': async () => ({
    options: { engine: await openQueuedEngine() },
    waitsAfter: is('span.model_request_start'),
  }),
  'an endpoint that does not answer': async () => ({
    options: { engine: createMessagesEngine({ credential: { apiKey: 'k' }, baseURL: await openSilentServer() }) },
    waitsAfter: is('span.model_request_start'),
  }),
  'an engine that does not listen to its signal': () => ({
    options: { engine: createPlainEngine(() => neverEnding()) },
    waitsAfter: is('span.model_request_start'),
  }),
  'a summary of its history': () => ({
    options: { engine: createSummarisingEngine(), tools: bash, windowTokens: 1_000 },
    waitsAfter: ({ type, payload }) =>
      type === 'span.model_request_start' && (payload as { purpose: string }).purpose === 'compaction',
  }),
  'a higher budget': () => ({
    options: { tools: bash },
    task: { turns: [[{ call: 'bash' }], [{ say: 'Done.' }]] },
    budget: { budget: { cost_nano_usd: null, tokens: null, wall_ms: null, requests: 1 } },
    waitsAfter: is('session.status_idle'),
  }),
  'a toolbox that never offers anything': () => ({
    options: {
      openToolbox: () => ({ offer: () => new Promise(() => {}), closeThread: async () => {}, close: async () => {} }),
    },
    waitsAfter: is('span.model_request_start'),
  }),
  'an MCP server that accepts connections and does not answer': async () => ({
    agent: {
      ...solo,
      tools: [{ type: 'mcp_toolset', mcp_server_name: 'silent', configs: [] }],
      mcp_servers: [{ type: 'url', name: 'silent', url: await openSilentServer() }],
    } as unknown as SessionAgent,
    options: { openToolbox: () => createToolbox() },
    waitsAfter: is('span.model_request_start'),
  }),
  'a tool that does not stop': () => ({
    options: { tools: { never: { kind: 'builtin', run: () => new Promise<never>(() => {}) } } },
    task: { turns: [[{ call: 'never' }]] },
    waitsAfter: is('tool.started'),
  }),
  'a workspace that is never opened': () => ({
    options: { tools: bash, onWorkspace: () => new Promise(() => {}) },
    task: { turns: [[{ call: 'bash' }]] },
    waitsAfter: is('tool.started'),
  }),
  'an approval': () => ({
    options: { tools: { bash: { kind: 'builtin', permission: 'ask' } } },
    task: { turns: [[{ call: 'bash' }]] },
    waitsAfter: is('session.status_idle'),
  }),
  'a program that never begins its turn': () => ({
    agent: program,
    options: { programs: createTestPrograms() },
    waitsAfter: is('user.message'),
  }),
  'a program that never starts': () => ({
    agent: program,
    options: { programs: createStuckPrograms() },
    waitsAfter: is('user.message'),
  }),
};

it.each(Object.keys(waits))('[R280] interrupted while it waits for %s, a session is idle and let go', async (name) => {
  const { options, agent: waiting = solo, task = 'Go', budget = {}, waitsAfter } = await waits[name]!();
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const fleet = await openFleet({ ...options, clock, schedule: time.schedule });
  const id = await fleet.begin(waiting, task, budget);
  await fleet.until(id, waitsAfter);
  await breathe();
  await fleet.send(id, interruption());
  // An aborted tool that does not stop is abandoned after a while.
  for (
    let passed = 0;
    passed < sessionLimits.programStopMs + sessionLimits.hostTickMs;
    passed += sessionLimits.hostTickMs
  ) {
    time.advance(sessionLimits.hostTickMs);
    await breathe();
  }
  await expect.poll(async () => (await fleet.state(id)).status).toBe('idle');
  expect(fleet.sessions.countOpen()).toBe(1);
  for (let passed = 0; passed <= sessionLimits.hostIdleMs; passed += sessionLimits.hostTickMs) {
    time.advance(sessionLimits.hostTickMs);
    await breathe();
  }
  await expect.poll(() => fleet.sessions.countOpen()).toBe(0);
  expect(fleet.problems).toEqual([]);
});

function is(wanted: SessionFrame['type']): Wait['waitsAfter'] {
  return ({ type }) => type === wanted;
}

const breathe = () => new Promise((resolve) => setTimeout(resolve, 5));

const bash = { bash: { kind: 'builtin' as const } };

const program: SessionAgent = {
  ...agent('main'),
  model: { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' },
};

/** The only request that its endpoint takes at a time is under way, and does not end. */
async function openQueuedEngine() {
  const governor = createGovernor({ concurrencyMax: 1 });
  await governor.acquire('other', new AbortController().signal);
  return createMessagesEngine({ credential: { apiKey: 'k' }, baseURL: 'http://127.0.0.1:9', governor });
}

async function openSilentServer(): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const sockets = new Set<{ destroy(): unknown }>();
  server.on('connection', (socket) => sockets.add(socket));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

// oxlint-disable-next-line require-yield
async function* neverEnding(): AsyncGenerator<EngineEvent> {
  await new Promise(() => {});
}

/** Fills its window with calls, and never sums anything up. */
function createSummarisingEngine() {
  let calls = 0;
  return createPlainEngine((request, signal) => {
    const isSummary = JSON.stringify(request.messages.at(-1)).includes('replaced by a summary');
    return isSummary ? untilStopped(signal) : callsBash(`toolu_${calls++}`);
  });
}

async function* callsBash(id: string): AsyncGenerator<EngineEvent> {
  const content = [{ type: 'tool_use' as const, id, name: 'bash', input: {} }];
  const stop = { reason: 'tool_use' as const, category: null, explanation: null };
  yield { type: 'finished', content, stop, usage: { ...someUsage, inputTokens: 850 }, model: 'plain' };
}

// oxlint-disable-next-line require-yield
async function* untilStopped(signal: AbortSignal): AsyncGenerator<EngineEvent> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
}

function createStuckPrograms(): ProgramEngine {
  return { ...createNoProgramEngine(''), open: () => new Promise(() => {}) };
}
