import { FleetloomError } from '../../base/errors.ts';
import type { ApprovalRecord } from '../../store/records.ts';
import type { ClientEvent } from '../client-event.ts';
import type { Budget } from '../../frames/frames.ts';
import type { SessionErrorCode } from '../session-errors.ts';
import { agent, message, snapshot, workspaceId } from './fleet.suite.ts';
import { readFrames } from './check-session.suite.ts';
import type { WildFleet } from './wild-fleet.suite.ts';

/** A session of any form, with its first task. */
export async function beginWildSession(fleet: WildFleet): Promise<void> {
  const { random } = fleet;
  const members = Array.from({ length: random.pick([0, 1, 2, 2, 3, 4]) }, (_, at) => snapshot(`w${at}`));
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

function toBudget({ random }: WildFleet, used: number): Budget {
  const bounds: (keyof Budget)[] = ['requests', 'tokens', 'cost_nano_usd', 'wall_ms'];
  const none = { requests: null, tokens: null, cost_nano_usd: null, wall_ms: null };
  const bound = random.pick(bounds);
  return {
    ...none,
    [bound]: used + 1 + random.below({ requests: 8, tokens: 3_000, cost_nano_usd: 50, wall_ms: 5_000 }[bound]),
  };
}

/** One thing that a client, an operator or fate does. */
export async function actWildly(fleet: WildFleet): Promise<void> {
  const { random } = fleet;
  const act = random.pick(deck);
  const sessionId = random.pick(fleet.sessionIds);
  fleet.story.push(`${act.name} ${sessionId}`);
  await act(fleet, sessionId);
}

type Act = (fleet: WildFleet, sessionId: string) => Promise<void>;

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
  await expectOnly(fleet, ['budget_reached', 'thread_ended'], () => send(fleet, sessionId, [event]));
};

const interrupt: Act = async (fleet, sessionId) => {
  const threads = await listThreads(fleet, sessionId);
  // Who is at work is worth more than who rests.
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
  const nobody = {
    type: 'user.tool_confirmation',
    tool_use_id: 'sevt_nobody',
    result: 'allow',
    deny_message: null,
  } as const;
  await expectJust(fleet, 'unknown_tool_use', () => send(fleet, sessionId, [nobody]));
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

/** Another one takes the session, and does nothing with it. */
const steal: Act = async (fleet, sessionId) => {
  await fleet.store.leases.acquire({ sessionId, owner: 'wild', ttlMs: 5_000 });
};

const wait: Act = async (fleet) => {
  const steps = 1 + fleet.random.below(12);
  for (let step = 0; step < steps; step++) await fleet.time.step();
};

/** Not even until everything is written that could be. */
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

/** Lets everything run until nothing happens any more. */
export async function waitUntilStill(fleet: WildFleet): Promise<void> {
  let silentMs = 0;
  while (silentMs < SILENCE_MS) {
    const { commits } = fleet;
    const took = await fleet.time.step();
    silentMs = fleet.commits === commits ? silentMs + took : 0;
  }
}

/** Longer than every wait of a session: for a tool, for an endpoint, for a lease to end. */
const SILENCE_MS = 70_000;

/** Gives every session what it waits for. Says whether there was something. */
export async function helpAll(fleet: WildFleet): Promise<boolean> {
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

function send({ sessions }: WildFleet, sessionId: string, events: readonly ClientEvent[]) {
  return sessions.send({ workspaceId, sessionId, events });
}

async function listThreads({ store }: WildFleet, sessionId: string) {
  return (await store.threads.list({ sessionId, limit: 1_000 })).items;
}

async function listAsks({ store }: WildFleet, sessionId: string): Promise<readonly ApprovalRecord[]> {
  return (await store.approvals.list({ workspaceId, sessionId, isPending: true, limit: 1_000 })).items;
}

function toAnswer({ random }: WildFleet, { data }: ApprovalRecord): ClientEvent {
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
  fleet: WildFleet,
  codes: readonly SessionErrorCode[],
  run: () => Promise<unknown>,
): Promise<void> {
  const code = await codeOf(fleet, run);
  const isExpected = code === undefined || (codes as readonly string[]).includes(code) || isOver(code);
  if (!isExpected) fleet.problems.push(`${fleet.story.at(-1)}: refused with ${code}`);
}

async function expectJust(fleet: WildFleet, wanted: SessionErrorCode, run: () => Promise<unknown>): Promise<void> {
  const code = await codeOf(fleet, run);
  if (code !== wanted && !isOver(code)) fleet.problems.push(`${fleet.story.at(-1)}: ${code} instead of ${wanted}`);
}

function isOver(code: string | undefined): boolean {
  return code === 'session_terminated' || code === 'session_archived';
}

/** Meanwhile time passes, if nothing else happens: who asks for a session that another one has waits for that one. */
async function codeOf({ time }: WildFleet, run: () => Promise<unknown>): Promise<string | undefined> {
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
