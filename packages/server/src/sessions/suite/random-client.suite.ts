import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { FleetloomError } from '../../base/errors.ts';
import type { ApprovalRecord } from '../../store/records.ts';
import type { ClientEvent } from '../core/client-event.ts';
import type { Budget } from '../../frames/payload-parts.ts';
import type { SessionErrorCode } from '../core/session-errors.ts';
import { agent, message, snapshot, workspaceId } from './fleet.suite.ts';
import { readFrames } from './check-session.suite.ts';
import type { RandomFleet } from './random-fleet.suite.ts';

/** A session of any form, with its first task. */
export async function startRandomSession(fleet: RandomFleet): Promise<void> {
  const { random } = fleet;
  const members = Array.from({ length: random.pick([0, 1, 2, 2, 3, 4]) }, (_, at) => toMember(fleet, `w${at}`));
  const lead = agent('lead', members);
  // Sometimes one of the members is the session's own agent.
  const isAmong = members.length > 0 && random.below(4) === 0;
  const { id } = await fleet.sessions.create({
    workspaceId,
    agent: isAmong ? agent('lead', [...members, { ...snapshot('lead'), name: 'w0' }]) : lead,
    environment: { id: 'env_1', type: 'cloud' },
    budget: random.below(3) === 0 ? toBudget(fleet, 0) : null,
    depthMax: 1 + random.below(2),
    events: Array.from({ length: random.pick([0, 1, 1, 1, 2]) }, () => message(random.prose(40))),
  });
  fleet.sessionIds.push(id);
}

/** With programs, about every second member runs on one. */
function toMember({ random, hasPrograms }: RandomFleet, name: string): AgentSnapshot {
  if (!hasPrograms || random.below(2) === 0) return snapshot(name);
  const id = random.pick(['claude-code/default', 'codex/default']);
  return snapshot(name, { model: { id, effort: { type: 'high' }, speed: 'standard' } });
}

function toBudget({ random }: RandomFleet, used: number): Budget {
  const bounds: (keyof Budget)[] = ['requests', 'tokens', 'cost_nano_usd', 'wall_ms'];
  const none = { requests: null, tokens: null, cost_nano_usd: null, wall_ms: null };
  const bound = random.pick(bounds);
  return {
    ...none,
    [bound]: used + 1 + random.below({ requests: 8, tokens: 3_000, cost_nano_usd: 50, wall_ms: 5_000 }[bound]),
  };
}

/** One random action of a client or an operator, or a failure. */
export async function actRandomly(fleet: RandomFleet): Promise<void> {
  const { random } = fleet;
  const act = random.pick(deck);
  const sessionId = random.pick(fleet.sessionIds);
  fleet.story.push(`${act.name} ${sessionId}`);
  await act(fleet, sessionId);
}

type Act = (fleet: RandomFleet, sessionId: string) => Promise<void>;

const speak: Act = async (fleet, sessionId) => {
  const { random } = fleet;
  const count = 1 + random.below(2);
  const events: ClientEvent[] = Array.from({ length: count }, () =>
    random.below(5) === 0
      ? { type: 'system.message', content: [{ type: 'text', text: random.prose(20) }] }
      : message(random.prose(30)),
  );
  if (random.below(6) === 0) events.push({ type: 'user.interrupt', session_thread_id: null });
  await expectOnly(fleet, ['budget_reached'], () => send(fleet, sessionId, events));
};

/** To one thread alone, whatever it does. */
const steer: Act = async (fleet, sessionId) => {
  const threads = await listThreads(fleet, sessionId);
  if (threads.length === 0) return;
  const event = { ...message(fleet.random.prose(20)), thread_id: fleet.random.pick(threads).id };
  const codes: SessionErrorCode[] = ['budget_reached', 'thread_ended', 'thread_not_steerable'];
  await expectOnly(fleet, codes, () => send(fleet, sessionId, [event]));
};

const interrupt: Act = async (fleet, sessionId) => {
  const threads = await listThreads(fleet, sessionId);
  // Running threads are preferred over idle ones.
  const busy = threads.filter(({ status }) => status === 'running');
  const among = busy.length > 0 && fleet.random.below(4) > 0 ? busy : threads;
  const threadId = fleet.random.below(4) === 0 ? null : fleet.random.pick(among).id;
  const event = {
    type: 'user.interrupt',
    session_thread_id: threadId,
    is_subtree: fleet.random.below(2) === 0,
  } as const;
  await expectOnly(fleet, [], () => send(fleet, sessionId, [event]));
};

const answer: Act = async (fleet, sessionId) => {
  const pending = await listAsks(fleet, sessionId);
  const chosen = pending.filter(() => fleet.random.below(2) === 0);
  if (chosen.length === 0) return;
  await expectOnly(fleet, [], () =>
    send(
      fleet,
      sessionId,
      chosen.map((ask) => toAnswer(fleet, ask)),
    ),
  );
  if (fleet.random.below(4) === 0) {
    const again = chosen[0]!;
    await expectJust(fleet, 'already_answered', () => send(fleet, sessionId, [toAnswer(fleet, again)]));
  }
};

const answerWrongly: Act = async (fleet, sessionId) => {
  const unknown = {
    type: 'user.tool_confirmation',
    tool_use_id: 'sevt_nobody',
    result: 'allow',
    deny_message: null,
  } as const;
  await expectJust(fleet, 'unknown_tool_use', () => send(fleet, sessionId, [unknown]));
  const [ask] = await listAsks(fleet, sessionId);
  if (ask === undefined) return;
  const id = toolUseIdOf(ask.data);
  const wrong: ClientEvent =
    ask.data['expects'] === 'confirmation'
      ? { type: 'user.custom_tool_result', custom_tool_use_id: id, content: [], is_error: false }
      : { type: 'user.tool_confirmation', tool_use_id: id, result: 'allow', deny_message: null };
  await expectJust(fleet, 'wrong_answer', () => send(fleet, sessionId, [message('lost with the other'), wrong]));
};

const raiseBudget: Act = async (fleet, sessionId) => {
  const session = (await fleet.store.sessions.get(workspaceId, sessionId))!;
  if (session.data['budget'] === null) return;
  const budget = fleet.random.below(4) === 0 ? null : toBudget(fleet, 3_000);
  // By chance it is below what was used already.
  const codes: SessionErrorCode[] = ['session_elsewhere', 'budget_not_raised'];
  await expectOnly(fleet, codes, () => fleet.sessions.update({ workspaceId, sessionId, budget }));
};

const rename: Act = async (fleet, sessionId) => {
  const title = fleet.random.prose(8);
  await expectOnly(fleet, ['session_elsewhere'], () => fleet.sessions.update({ workspaceId, sessionId, title }));
};

const changeAgent: Act = async (fleet, sessionId) => {
  const system = fleet.random.prose(8);
  const change = { workspaceId, sessionId, agent: (before: ReturnType<typeof agent>) => ({ ...before, system }) };
  await expectOnly(fleet, ['session_running', 'session_elsewhere'], () => fleet.sessions.update(change));
};

const archiveThread: Act = async (fleet, sessionId) => {
  const { id } = fleet.random.pick(await listThreads(fleet, sessionId));
  const codes: SessionErrorCode[] = ['thread_running', 'thread_is_primary', 'session_elsewhere'];
  await expectOnly(fleet, codes, () => fleet.sessions.archiveThread(workspaceId, sessionId, id));
};

const archive: Act = async (fleet, sessionId) => {
  if (fleet.random.below(8) > 0) return;
  await expectOnly(fleet, ['session_running', 'session_elsewhere'], () =>
    fleet.sessions.archive(workspaceId, sessionId),
  );
};

const read: Act = async (fleet, sessionId) => {
  const frames = await readFrames(fleet.store, sessionId);
  fleet.read(sessionId, fleet.random.below(frames.length + 1));
};

const restart: Act = (fleet) => fleet.restart();
const kill: Act = (fleet) => fleet.kill();

/** Another owner acquires the session and does nothing with it. */
const steal: Act = async (fleet, sessionId) => {
  // Only nodes that share a store look for sessions whose program is lost, and this fleet is one process.
  if (fleet.hasPrograms) return;
  await fleet.store.leases.acquire({ sessionId, owner: 'random', ttlMs: 5_000 });
};

const wait: Act = async (fleet) => {
  const steps = 1 + fleet.random.below(12);
  for (let step = 0; step < steps; step++) await fleet.time.step();
};

/** Does not wait for pending writes. */
const waitBriefly: Act = (fleet) => fleet.time.breathe(fleet.random.below(4));

/** How often each is drawn. */
const weights: readonly (readonly [Act, number])[] = [
  [wait, 6],
  [waitBriefly, 3],
  [speak, 3],
  [answer, 3],
  [interrupt, 2],
  [steer, 1],
  [answerWrongly, 1],
  [raiseBudget, 1],
  [rename, 1],
  [changeAgent, 1],
  [archiveThread, 1],
  [archive, 1],
  [read, 1],
  [restart, 1],
  [kill, 1],
  [steal, 1],
];
const deck = weights.flatMap(([act, weight]) => Array.from({ length: weight }, () => act));

/** Runs until every session is idle. */
export async function waitUntilStill(fleet: RandomFleet): Promise<void> {
  let silentMs = 0;
  while (silentMs < SILENCE_MS) {
    const { commits } = fleet;
    const took = await fleet.time.step();
    silentMs = fleet.commits === commits ? silentMs + took : 0;
  }
}

/** Longer than every wait of a session: for a tool, for an endpoint, for a lease to end. */
const SILENCE_MS = 70_000;

/** Sends every session what it waits for. Returns whether there was something. */
export async function helpAll(fleet: RandomFleet): Promise<boolean> {
  let hasHelped = false;
  for (const sessionId of fleet.sessionIds) {
    const session = (await fleet.store.sessions.get(workspaceId, sessionId))!;
    if (session.status === 'terminated') continue;
    const asks = await listAsks(fleet, sessionId);
    if (asks.length > 0)
      await expectOnly(fleet, [], () =>
        send(
          fleet,
          sessionId,
          asks.map((ask) => toAnswer(fleet, ask)),
        ),
      );
    const { reason } = session.data['stop'] as { reason: { type: string } };
    const isPaused = reason.type === 'budget_reached' || session.data['budget'] !== null;
    if (isPaused) await expectOnly(fleet, [], () => fleet.sessions.update({ workspaceId, sessionId, budget: null }));
    hasHelped ||= asks.length > 0 || isPaused;
  }
  return hasHelped;
}

function send({ sessions }: RandomFleet, sessionId: string, events: readonly ClientEvent[]) {
  return sessions.send({ workspaceId, sessionId, events });
}

async function listThreads({ store }: RandomFleet, sessionId: string) {
  return (await store.threads.list({ sessionId, limit: 1_000 })).items;
}

async function listAsks({ store }: RandomFleet, sessionId: string): Promise<readonly ApprovalRecord[]> {
  return (await store.approvals.list({ workspaceId, sessionId, isPending: true, limit: 1_000 })).items;
}

function toAnswer({ random }: RandomFleet, { data }: ApprovalRecord): ClientEvent {
  const id = toolUseIdOf(data);
  if (data['expects'] === 'confirmation') {
    const result = random.pick(['allow', 'allow', 'deny'] as const);
    return { type: 'user.tool_confirmation', tool_use_id: id, result, deny_message: null };
  }
  const content = [{ type: 'text' as const, text: random.prose(10) }];
  return { type: 'user.custom_tool_result', custom_tool_use_id: id, content, is_error: random.below(4) === 0 };
}

/** Whatever is asked of a session that is over is refused for that; otherwise only for these reasons. */
async function expectOnly(
  fleet: RandomFleet,
  codes: readonly SessionErrorCode[],
  run: () => Promise<unknown>,
): Promise<void> {
  const code = await codeOf(fleet, run);
  const isExpected = code === undefined || (codes as readonly string[]).includes(code) || isOver(fleet, code);
  if (!isExpected) fleet.problems.push(`${fleet.story.at(-1)}: refused with ${code}`);
}

async function expectJust(fleet: RandomFleet, wanted: SessionErrorCode, run: () => Promise<unknown>): Promise<void> {
  const code = await codeOf(fleet, run);
  if (code !== wanted && !isOver(fleet, code))
    fleet.problems.push(`${fleet.story.at(-1)}: ${code} instead of ${wanted}`);
}

function isOver({ hasPrograms }: RandomFleet, code: string | undefined): boolean {
  // A program may have ended the call in the meantime.
  const isEnded = code === 'approval_withdrawn' || code === 'already_answered';
  return code === 'session_terminated' || code === 'session_archived' || (hasPrograms && isEnded);
}

/** Advances the clock while nothing else happens: a request for a session of another owner waits for that owner. */
async function codeOf({ time }: RandomFleet, run: () => Promise<unknown>): Promise<string | undefined> {
  const state = { isDone: false };
  const done = run().finally(() => (state.isDone = true));
  // It is looked at below.
  done.catch(() => {});
  for (await time.breathe(); !state.isDone; ) await time.step();
  try {
    await done;
    return undefined;
  } catch (error) {
    if (error instanceof FleetloomError) return error.code;
    throw error;
  }
}

/** Sessions write it there. */
function toolUseIdOf(data: ApprovalRecord['data']): string {
  return data['tool_use_id'] as string;
}
