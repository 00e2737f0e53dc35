import { FleetloomError } from '../../base/errors.ts';
import { createHash } from 'node:crypto';
import { appendFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { RandomText } from '../../../../../bench/random-text.ts';
import { systemClock } from '../../base/clock.ts';
import { createIds } from '../../base/ids.ts';
import { createScriptedEngine } from '../../engines/model/scripted/engine.ts';
import { createLog } from '../../log/log.ts';
import type { ApprovalRecord, SessionRecord } from '../../store/records.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { type ToolContext, textResult } from '../../tools/tool.ts';
import type { OfferedTool, Toolbox } from '../../tools/toolbox.ts';
import type { ClientEvent } from '../core/client-event.ts';
import { createSessions } from '../api/sessions.ts';
import { toScript, toRandomAgent } from './crash-script.suite.ts';

// A server in a process of its own, to be killed. crash.test.ts bundles and starts it:
//   <database> <file for the traces of tools> <seed> live|settle
//
// It says on stdout what a reader of each session has seen, one frame per line: session, seq, digest. `live` works until
// it is killed; `settle` continues what it finds, decides pending approvals, and ends when every session is idle.

const [path = '', traces = '', seed = '0', mode = 'live'] = process.argv.slice(2);
const workspaceId = 'wrkspc_1';
/** Why an answer is refused that an earlier one has made unnecessary. */
const ANSWERED = new Set(['already_answered', 'approval_withdrawn']);
const random = new RandomText(Number(seed));
const store = await openSqliteStore({ path });
const log = createLog({ store });
const ids = createIds({ now: systemClock.now, random: Math.random });
const followed = new Set<string>();
let tokens = 0;

const sessions = createSessions({
  store,
  log,
  engine: createScriptedEngine(),
  models: { costNanoUsd: () => 3, windowTokens: () => 1_000_000 },
  openToolbox: createTracingToolbox,
  openWorkspace: async () => tmpdir(),
  clock: systemClock,
  ids,
  random: Math.random,
  owner: `host-${process.pid}`,
  onProblem: (sessionId, error) => {
    throw new Error(`${sessionId} was lost`, { cause: error });
  },
});

const heads = await store.heads((await listSessions()).map(({ id }) => id));
// `settle` reads everything again: it must match what earlier readers received.
for (const [id, head] of heads) follow(id, mode === 'settle' ? 0 : head);
say('ready');
await sessions.start();
if (mode === 'settle') await settle();
else for (;;) await live();

/** Sends random events of clients. */
async function live(): Promise<void> {
  const all = await listSessions();
  const open = all.filter(({ status }) => status !== 'terminated');
  const act = random.below(12);
  if (open.filter(({ status }) => status === 'running').length < 2) await begin();
  const { id: sessionId } = random.pick(open.length > 0 ? open : await listSessions());
  if (act < 5) await answer((await listAsks(sessionId)).filter(() => random.below(2) === 0));
  else if (act === 5) await send(sessionId, [{ type: 'user.message', content: [{ type: 'text', text: 'And now?' }] }]);
  else if (act === 6) await interrupt(sessionId);
  await wait(1 + random.below(6));
}

async function begin(): Promise<void> {
  const text = toScript(random, () => `${seed}-${tokens++}`);
  const { id } = await sessions.create({
    workspaceId,
    agent: toRandomAgent(),
    environment: { id: 'env_1', type: 'cloud' },
    depthMax: 2,
    events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
  follow(id, 0);
}

async function interrupt(sessionId: string): Promise<void> {
  const { items: threads } = await store.threads.list({ sessionId, limit: 1_000 });
  const threadId = random.below(2) === 0 ? null : random.pick(threads).id;
  await send(sessionId, [{ type: 'user.interrupt', session_thread_id: threadId }]);
}

/** Until nothing runs and no approval is pending. */
async function settle(): Promise<void> {
  for (let round = 0; round < 1_000; round++) {
    await wait(10);
    const all = await listSessions();
    const { items: asks } = await store.approvals.list({ workspaceId, isPending: true, limit: 1_000 });
    const waiting = (await Promise.all(all.map(({ id }) => store.inputs.peek(id, 1)))).flat();
    const busy = all.filter(({ status }) => status === 'running' || status === 'rescheduling');
    if (asks.length + waiting.length + busy.length === 0) return await end();
    await answer(asks);
  }
  throw new Error('the sessions were not idle within 10 s');
}

async function end(): Promise<void> {
  await sessions.close();
  await log.close();
  await store.close();
}

/** Each of them on its own: an approval that cannot be decided must not hide behind another. */
async function answer(asks: readonly ApprovalRecord[]): Promise<void> {
  for (const ask of asks) {
    await send(ask.sessionId, [toAnswer(ask)]).catch(async (error: unknown) => {
      // An answer that the killed process had accepted was applied between the look and this one.
      const isAnswered = error instanceof FleetloomError && ANSWERED.has(error.code);
      if (!isAnswered || (await listAsks(ask.sessionId)).some(({ id }) => id === ask.id)) throw error;
    });
  }
}

function toAnswer({ data }: ApprovalRecord): ClientEvent {
  const id = toolUseIdOf(data);
  if (data['expects'] === 'confirmation') {
    const result = random.below(3) === 0 ? 'deny' : 'allow';
    return { type: 'user.tool_confirmation', tool_use_id: id, result, deny_message: null };
  }
  return { type: 'user.custom_tool_result', custom_tool_use_id: id, content: [], is_error: false };
}

async function send(sessionId: string, events: readonly ClientEvent[]): Promise<void> {
  await sessions.send({ workspaceId, sessionId, events });
}

async function listSessions(): Promise<readonly SessionRecord[]> {
  return (await store.sessions.list({ workspaceId, limit: 1_000 })).items;
}

async function listAsks(sessionId: string): Promise<readonly ApprovalRecord[]> {
  return (await store.approvals.list({ workspaceId, sessionId, isPending: true, limit: 1_000 })).items;
}

/** A reader of a session that prints what it receives. */
function follow(sessionId: string, after: number): void {
  if (followed.has(sessionId)) return;
  followed.add(sessionId);
  void (async () => {
    for await (const entries of log.tail({ sessionId, after })) {
      const lines = entries.map((entry) => {
        if (entry.kind !== 'frame') throw new Error('nothing was pruned');
        return `${sessionId} ${entry.seq} ${createHash('sha1').update(entry.bytes).digest('base64url')}`;
      });
      say(lines.join('\n'));
    }
  })();
}

function say(text: string): void {
  writeSync(1, `${text}\n`);
}

/** Tools that leave a trace of every run, before and after what they do. */
function createTracingToolbox(): Toolbox {
  const run = async (input: unknown, { signal }: ToolContext) => {
    // The scripts give every call a token of its own.
    const { token, ms = 0 } = input as { token: string; ms?: number };
    appendFileSync(traces, `begin ${token}\n`);
    if (ms > 0) await wait(ms, undefined, { signal }).catch(() => {});
    appendFileSync(traces, `end ${token}\n`);
    return textResult(`trace of ${token}`);
  };
  const about = { description: 'leaves a trace', inputSchema: { type: 'object' }, isEnabled: true } as const;
  const builtin = { ...about, kind: 'builtin', isSandboxed: false, run } as const;
  const tools = new Map<string, OfferedTool>([
    ['trace', { ...builtin, name: 'trace', permission: 'allow' }],
    ['careful_trace', { ...builtin, name: 'careful_trace', permission: 'ask' }],
    ['outside', { ...about, kind: 'custom', name: 'outside' }],
  ]);
  return { offer: async () => ({ tools, problems: [] }), closeThread: async () => {}, close: async () => {} };
}

/** Sessions write it there. */
function toolUseIdOf(data: ApprovalRecord['data']): string {
  return data['tool_use_id'] as string;
}
