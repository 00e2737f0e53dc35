import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it, vi } from 'vitest';
import { createManualClock, type ManualClock } from '../../../base/clock.ts';
import { createIds } from '../../../base/ids.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import { jsonBytesAtLeast } from '../../../base/json/json-bytes.ts';
import { sessionLimits } from '../../core/limits.ts';
import { createLog } from '../../../log/log.ts';
import { createMemoryStore } from '../../../store/memory/memory-store.ts';
import type { Store } from '../../../store/store.ts';
import { isStoreError } from '../../../store/store-errors.ts';
import { createHealthFinder } from '../../runtime/owner/find-health.ts';
import { openFleet } from '../../suite/fleet.suite.ts';
import { findSessionProblems, readFrames } from '../../suite/check-session.suite.ts';
import type { ImportedStep } from './imported-step.ts';
import { sendEvents } from '../send-events.ts';
import { createImports, type ImportRequest } from './imports.ts';

it('[J163] a followed import holds its session for a limited time', async () => {
  const { clock, store, take } = open();
  const { sessionId } = await take({ steps: [said(1)] });
  clock.advance(sessionLimits.importLeaseMs - 1);
  expect(await store.leases.findOrphans(10)).toEqual([]);
  await take({ steps: [] });
  clock.advance(sessionLimits.importLeaseMs - 1);
  expect(await store.leases.findOrphans(10)).toEqual([]);
  clock.advance(1);
  expect(await store.leases.findOrphans(10)).toEqual([sessionId]);
});

it('[J163] an import is rejected while another process owns the session', async () => {
  const { store, take } = open();
  const { sessionId } = await take({ steps: [said(1)], isEnd: true });
  await store.leases.acquire({ sessionId, owner: 'host', ttlMs: 1_000 });
  await expect(take({ steps: [said(2)] })).rejects.toMatchObject({ code: 'session_elsewhere' });
});

it('[J161] imported steps are remembered for a limited time', async () => {
  const { clock, take } = open();
  const first = await take({ steps: [said(1)], isEnd: true });
  clock.advance(sessionLimits.importKeyMs - 1);
  expect(await take({ steps: [said(1)], isEnd: true })).toMatchObject({ sessionId: first.sessionId, taken: 0 });
});

it('[J161] an import that was overtaken in the middle writes nothing', async () => {
  const { store, log, take } = open();
  const { sessionId } = await take({ steps: [said(1)] });
  const stale = await store.leases.acquire({ sessionId, owner: 'import c', ttlMs: 1_000 });
  await take({ steps: [said(2)] });
  if (!stale.ok) throw new Error('the same owner may take it');
  const late = log.append({ type: 'append', sessionId, fence: stale.fence, frames: [], changes: [] });
  await expect(late).rejects.toSatisfy((error) => isStoreError(error, 'stale_owner'));
});

it('[J160] sub-agents, calls and all endings leave a log that is whole', async () => {
  const { store, take } = open();
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWrite5mTokens: 0, cacheWrite1hTokens: 0 };
  const call = { type: 'call', callId: 'c1', name: 'Agent', input: {}, tool: { kind: 'agent' } } as const;
  const opened = {
    type: 'thread_opened',
    parentKey: 'main',
    agentName: 'alpha',
    description: null,
    prompt: 'Go',
    callId: 'c1',
  } as const;
  const answered = { type: 'request_ended', model: 'x', usage, stopReason: 'end_turn', isError: false } as const;
  const steps: ImportedStep[] = [
    said(1),
    step('main', 2, { type: 'request_started', model: 'x' }),
    step('main', 2, call),
    step('a1', 1, opened),
    step('a1', 2, { type: 'request_started', model: 'x' }),
    step('a1', 2, { type: 'block', content: { type: 'text', text: 'Here' } }),
    step('a1', 2, answered),
    step('a1', 2, { type: 'thread_ended', status: 'completed', error: null }),
    step('main', 2, { ...answered, stopReason: 'tool_use' }),
    step('main', 3, { type: 'result', callId: 'c1', content: [{ type: 'text', text: 'Done' }], isError: false }),
    step('main', 4, { type: 'compacted' }),
    step('main', 5, { type: 'turn_ended', outcome: { type: 'done' }, isMoreToCome: false }),
    step('a1', 3, { type: 'thread_started', prompt: 'And now' }),
    said(6),
    step('main', 7, {
      type: 'turn_ended',
      outcome: { type: 'failed', reason: 'request_failed', message: 'no' },
      isMoreToCome: false,
    }),
    said(8),
  ];
  const { sessionId, lines } = await take({ steps, isEnd: true });
  expect(lines).toEqual({ main: 8, a1: 3 });
  expect(await findSessionProblems(store, { workspaceId: 'default', sessionId })).toEqual([]);
  const threads = await store.threads.list({ sessionId, limit: 10, order: 'asc' });
  expect(threads.items.map(({ status }) => status)).toEqual(['idle', 'idle']);
});

it('[J287] the health of a session that a client follows names the call that runs or waits for permission there', async () => {
  const { store, imports, take, clock } = open();
  const find = createHealthFinder({ leases: store.leases, own: () => undefined, imported: (id) => imports.health(id) });
  const call = { type: 'call', callId: 'c1', name: 'Bash', input: {}, tool: BUILTIN } as const;
  const { sessionId } = await take({ steps: [said(1), step('main', 2, { type: 'request_started', model: 'x' })] });
  const owner = { nodeId: null };
  const working = { since: '2026-01-01T00:00:01.000Z', doing: 'elsewhere' };
  expect(await find(sessionId)).toMatchObject({ isKnown: true, owner, threads: [{ ...working, tool: null }] });
  await take({ steps: [step('main', 3, call)] });
  expect(await find(sessionId)).toMatchObject({ isKnown: true, owner, threads: [{ ...working, tool: 'Bash' }] });
  // The client is gone.
  clock.advance(sessionLimits.importLeaseMs);
  expect(await find(sessionId)).toEqual({ isKnown: true, owner: null, threads: [] });
  await take({ steps: [], isEnd: true });
  expect(imports.health(sessionId)).toBeUndefined();
});

it('[J287] the threads of 1,000 sessions that clients follow are known', async () => {
  const { imports, take } = open();
  const first = await take({ steps: [said(1)], conversation: 'first' });
  for (let n = 1; n < sessionLimits.importsFollowedMax; n++) await take({ steps: [said(1)], conversation: `c${n}` });
  expect([imports.health(first.sessionId)?.length, sessionLimits.importsFollowedMax]).toEqual([1, 1_000]);
  await take({ steps: [said(1)], conversation: 'last' });
  expect(imports.health(first.sessionId)).toBeUndefined();
});

it('[J164] a write of an import ends with the line that reaches 1 MiB of steps', async () => {
  const sizes = [sessionLimits.importFlushBytes - 1, sessionLimits.importFlushBytes];
  const counts = await Promise.all(
    sizes.map(async (bytes) => {
      const { log, take } = open();
      await take({ steps: [said(1)] });
      const append = vi.spyOn(log, 'append');
      await take({ steps: [saidBytes(2, bytes), said(3)] });
      return append.mock.calls.length;
    }),
  );
  expect([sessionLimits.importFlushBytes, ...counts]).toEqual([1024 * 1024, 1, 2]);
});

it('[MX101] a decision that the program was not given before its call ended is logged as not applied, and leaves a log that is whole', async () => {
  const { store, take, clock } = open();
  const ids = createIds({ now: clock.now, random: Math.random });
  const call = { type: 'call', callId: 'c1', name: 'Bash', input: {}, tool: BUILTIN } as const;
  const asks = [{ key: 'main', callId: 'c1' }];
  const request = step('main', 2, { type: 'request_started', model: 'x' });
  const steps = [said(1), request, step('main', 2, call)];
  const { sessionId } = await take({ steps, control: { asks, delivered: [] } });
  const session = (await store.sessions.get('default', sessionId))!;
  const [approval] = (await store.approvals.list({ workspaceId: 'default', limit: 10, order: 'asc' })).items;
  const by = { result: 'allow', deny_message: null } as const;
  const event = { type: 'user.tool_confirmation', tool_use_id: approval!.id, ...by } as const;
  await sendEvents({ store, clock, ids, session, events: [event] });
  const result = step('main', 3, { type: 'result', callId: 'c1', content: [], isError: false });
  expect(await take({ steps: [result], control: { asks: [], delivered: [] } })).toMatchObject({ answers: [] });
  const frames = await readFrames(store, sessionId);
  expect(frames.find(({ type }) => type === 'user.tool_confirmation')?.payload).toMatchObject({
    not_applied: 'call_ended',
  });
  await take({ steps: [], isEnd: true });
  expect(await findSessionProblems(store, { workspaceId: 'default', sessionId })).toEqual([]);
});

const BUILTIN = { kind: 'builtin', permission: 'allow' } as const;

it('[MX102] the approvals of a session whose client was killed are withdrawn when its lease is over', async () => {
  const clock = createManualClock(Date.UTC(2026, 5, 1));
  const time = createManualSchedule(clock);
  const fleet = await openFleet({ clock, schedule: time.schedule });
  const { take, store } = open({ store: fleet.store, clock, onControlled: (id) => fleet.sessions.watchFollowed(id) });
  const call = { type: 'call', callId: 'c1', name: 'Bash', input: {}, tool: BUILTIN } as const;
  const asks = [{ key: 'main', callId: 'c1' }];
  const { sessionId } = await take({ steps: [said(1), step('main', 2, call)], control: { asks, delivered: [] } });
  const isPending = async () => {
    const request = { workspaceId: 'default', sessionId, isPending: true, limit: 10, order: 'asc' } as const;
    return (await store.approvals.list(request)).items.length > 0;
  };
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += sessionLimits.hostTickMs) {
      time.advance(sessionLimits.hostTickMs);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  await pass(sessionLimits.importLeaseMs - 2 * sessionLimits.hostTickMs);
  expect(await isPending()).toBe(true);
  await pass(4 * sessionLimits.hostTickMs);
  await expect.poll(isPending).toBe(false);
  expect(fleet.problems).toEqual([]);
});

function open(parts: { store?: Store; clock?: ManualClock; onControlled?: (id: string) => Promise<void> } = {}) {
  const { clock = createManualClock(Date.UTC(2026, 5, 1)), onControlled } = parts;
  const { store = createMemoryStore({ clock }) } = parts;
  const log = createLog({ store });
  const ids = createIds({ now: clock.now, random: () => 0.5 });
  const models = { costNanoUsd: () => 1, windowTokens: () => 200_000 };
  const imports = createImports({ store, log, ids, models, onControlled });
  const take = (request: Pick<ImportRequest, 'steps'> & Partial<ImportRequest>) =>
    imports.append({
      workspaceId: 'default',
      conversation: 'c',
      agent,
      environment: { id: 'env_1', type: 'cloud' },
      title: null,
      metadata: {},
      isEnd: false,
      now: clock.now(),
      ...request,
    });
  return { clock, store, log, imports, take };
}

function said(line: number): ImportedStep {
  return step('main', line, { type: 'said', content: [{ type: 'text', text: `Line ${line}` }] });
}

/** A message whose step counts as exactly this many bytes. */
function saidBytes(line: number, bytes: number): ImportedStep {
  const toEvent = (text: string) => ({ type: 'said' as const, content: [{ type: 'text' as const, text }] });
  const text = 'x'.repeat(bytes - jsonBytesAtLeast(toEvent('')));
  return step('main', line, toEvent(text));
}

function step(key: string, line: number, event: ImportedStep['event']): ImportedStep {
  return { key, line, time: Date.UTC(2026, 0, 1) + line * 1_000, event };
}

const agent: SessionAgent = {
  type: 'agent',
  id: 'agent_1',
  version: 1,
  name: 'claude',
  description: null,
  system: null,
  model: { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' },
  tools: [],
  mcp_servers: [],
  skills: [],
  execution_identity: { type: 'service_account' },
  multiagent: null,
};
