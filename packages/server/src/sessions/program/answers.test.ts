import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { RandomText } from '../../../../../bench/random-text.ts';
import { isLong, seed, timeout } from '../../../../../test/support/seed.ts';
import { FleetloomError } from '../../base/errors.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import type { ApprovalRecord } from '../../store/records.ts';
import type { ClientEvent } from '../core/client-event.ts';
import { readFrames } from '../suite/check-session.suite.ts';
import { agent, confirm, customResult, message, snapshot, workspaceId } from '../suite/fleet.suite.ts';
import { createVirtualTime } from '../suite/virtual-time.suite.ts';
import { waitUntilStill } from '../suite/random-client.suite.ts';
import { RandomFleet } from '../suite/random-fleet.suite.ts';
import { createWildPrograms, type WildPrograms } from '../runtime/program/wild-programs.suite.ts';

const RUNS = isLong ? 5_000 : 200;
/** On a busy machine the short test makes do with fewer runs, as soon as they have had every outcome. */
const RUNS_MS = isLong ? Infinity : 3_000;

const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
const main: SessionAgent = { ...agent('main', [snapshot('worker')]), model };

it(
  '[R340] whenever answers to a program are sent, late, twice, from two clients or after restarts: each accepted one is in the log once, applied or with its reason, and each refused one left no trace',
  async () => {
    console.log(`FLEETLOOM_SEED=${seed}`);
    const deadline = performance.now() + RUNS_MS;
    const seen = new Set<string>();
    // Runs in which nothing came late would prove nothing.
    const wanted = ['applied', 'call_ended', 'restarted', 'already_answered', 'approval_withdrawn'];
    const missing = () => wanted.filter((outcome) => !seen.has(outcome));
    for (let run = 0; run < RUNS && (performance.now() < deadline || missing().length > 0); run++) {
      for (const outcome of await runOnce(seed + run)) seen.add(outcome);
    }
    expect(missing()).toEqual([]);
  },
  timeout,
);

class AnswerRun {
  readonly time = createVirtualTime();
  readonly random: RandomText;
  readonly programs: WildPrograms;
  readonly fleet: RandomFleet;
  readonly accepted: { readonly sessionId: string; readonly id: string }[] = [];
  readonly outcomes = new Set<string>();
  /** Requests that were open when the server was killed: their answers may be in the log. */
  uncertain = 0;
  readonly #sending = new Set<Promise<void>>();

  constructor(runSeed: number) {
    this.random = new RandomText(runSeed);
    this.programs = createWildPrograms({ random: this.random, time: this.time });
    const store = createMemoryStore({ clock: this.time.clock });
    this.fleet = new RandomFleet({ random: this.random, store, time: this.time, programs: this.programs });
  }

  async begin(): Promise<void> {
    await this.fleet.start();
    const environment = { id: 'env_1', type: 'cloud' } as const;
    const created = { workspaceId, agent: main, environment, events: [message('Go.')] };
    for (let count = 0; count < 2; count++) this.fleet.sessionIds.push((await this.fleet.sessions.create(created)).id);
  }

  async act(): Promise<void> {
    const { fleet, random, time } = this;
    const sessionId = random.pick(fleet.sessionIds);
    const chance = random.below(20);
    if (chance < 8) await this.#answer(sessionId);
    else if (chance < 10) this.#send(sessionId, [message('More.')]);
    else if (chance < 12) this.#send(sessionId, [{ type: 'user.interrupt', session_thread_id: null }]);
    else if (chance === 12) await fleet.restart();
    else if (chance === 13) await this.#kill();
    else if (chance === 14) await this.#answerAndKill(sessionId);
    else if (chance < 17) await time.breathe(random.below(4));
    else for (let step = random.below(12); step >= 0; step--) await time.step();
  }

  async settle(): Promise<void> {
    await waitUntilStill(this.fleet);
    await Promise.all(this.#sending);
    await waitUntilStill(this.fleet);
    await this.fleet.check();
  }

  /** An approval that waits, or one that waited once; often twice at the same time, as two clients do. */
  async #answer(sessionId: string): Promise<void> {
    const { items } = await this.fleet.store.approvals.list({ workspaceId, sessionId, limit: 1_000 });
    const pending = items.filter(({ resolution }) => resolution === null);
    const among = pending.length > 0 && this.random.below(5) > 0 ? pending : items;
    if (among.length === 0) return;
    const ask = this.random.pick(among);
    const clients = 1 + this.random.below(2);
    const withInterrupt = this.random.below(6) === 0;
    for (let client = 0; client < clients; client++) {
      const before: ClientEvent[] = withInterrupt ? [{ type: 'user.interrupt', session_thread_id: null }] : [];
      this.#send(sessionId, [...before, this.#toAnswer(ask)]);
    }
  }

  #toAnswer({ data }: ApprovalRecord): ClientEvent {
    const id = data['tool_use_id'] as string;
    if (data['expects'] === 'result') return customResult(id, 'filled');
    return confirm(id, this.random.pick(['allow', 'deny']));
  }

  #send(sessionId: string, events: ClientEvent[]): void {
    const { fleet } = this;
    const isCurrent = () => this.#sending.has(sending);
    const sending: Promise<void> = fleet.sessions.send({ workspaceId, sessionId, events }).then(
      (sent) => {
        // A server that was killed sends no response.
        if (!isCurrent()) return;
        this.#sending.delete(sending);
        const answers = sent.filter(({ event }) => isAnswer(event.type));
        this.accepted.push(...answers.map(({ id }) => ({ sessionId, id })));
      },
      (error: unknown) => {
        if (!isCurrent()) return;
        this.#sending.delete(sending);
        if (!(error instanceof FleetloomError)) throw error;
        this.outcomes.add(error.code);
      },
    );
    this.#sending.add(sending);
  }

  /** The window between an acknowledgement and the delivery is small: here the kill comes right behind the acknowledgement. */
  async #answerAndKill(sessionId: string): Promise<void> {
    await this.#answer(sessionId);
    const before = this.accepted.length;
    for (let rounds = 0; rounds < 20 && this.accepted.length === before; rounds++) await this.time.breathe(1);
    await this.time.breathe(this.random.below(6));
    await this.#kill(0);
  }

  /** At any moment: between an acknowledgement and its delivery, too. It is unknown whether a request in flight was accepted. */
  async #kill(rounds = this.random.below(20)): Promise<void> {
    for (let round = rounds; round > 0; round--) await this.time.breathe();
    this.uncertain += this.#sending.size;
    this.#sending.clear();
    await this.fleet.kill();
  }
}

async function runOnce(runSeed: number): Promise<ReadonlySet<string>> {
  const run = new AnswerRun(runSeed);
  const { fleet, random } = run;
  await run.begin();
  for (let acts = 10 + random.below(40); acts > 0; acts--) await run.act();
  await run.settle();
  const problems = [...fleet.problems];
  for (const sessionId of fleet.sessionIds) problems.push(...(await findProblems(run, sessionId)));
  await fleet.close();
  await fleet.store.close();
  if (problems.length > 0) {
    throw new Error(
      `FLEETLOOM_SEED=${runSeed} npm test -- program/answers repeats it\n  ${problems.slice(0, 10).join('\n  ')}`,
    );
  }
  return run.outcomes;
}

async function findProblems(run: AnswerRun, sessionId: string): Promise<string[]> {
  const frames = await readFrames(run.fleet.store, sessionId);
  const problems: string[] = [];
  const accepted = new Set(run.accepted.filter((each) => each.sessionId === sessionId).map(({ id }) => id));
  const logged = new Map<string, number>();
  const callIds = new Map<string, string>();
  const dropped = new Map<string, string>();
  const delivered = new Set<string>();
  const unknown: string[] = [];
  for (const { type, payload } of frames) {
    if (type === 'agent.tool_use' || type === 'agent.custom_tool_use') callIds.set(payload.id, payload.call_id);
    if (type !== 'answer.not_applied' && type !== 'answer.delivered') continue;
    const isTwice = dropped.has(payload.answer_id) || delivered.has(payload.answer_id);
    if (isTwice) problems.push(`${payload.answer_id} is delivered or not applied more than once`);
    if (type === 'answer.not_applied') dropped.set(payload.answer_id, payload.reason);
    else delivered.add(payload.answer_id);
  }
  for (const { type, payload } of frames) {
    if (type !== 'user.tool_confirmation' && type !== 'user.custom_tool_result') continue;
    const toolUseId = type === 'user.tool_confirmation' ? payload.tool_use_id : payload.custom_tool_use_id;
    logged.set(payload.id, (logged.get(payload.id) ?? 0) + 1);
    if (!accepted.has(payload.id)) unknown.push(payload.id);
    const notApplied = payload.not_applied ?? dropped.get(payload.id);
    run.outcomes.add(notApplied ?? 'applied');
    const isHeard = run.programs.answered.has(callIds.get(toolUseId)!);
    // A server that is killed may have handed the answer over a moment before, and not logged that.
    const isWrong = notApplied !== undefined && notApplied !== 'restarted' && isHeard;
    if (isWrong) problems.push(`${payload.id} was not applied (${notApplied}), but delivered`);
    if (notApplied === undefined && !isHeard) problems.push(`${payload.id} was applied, but not delivered`);
    const isSettled = delivered.has(payload.id) !== (notApplied !== undefined);
    if (!isSettled) problems.push(`${payload.id} is not either delivered or not applied: ${notApplied}`);
  }
  if (unknown.length > run.uncertain) problems.push(`${unknown.join(', ')} were refused, and are in the log`);
  for (const id of accepted)
    if (logged.get(id) !== 1) problems.push(`${id} is ${logged.get(id) ?? 0} times in the log`);
  return problems;
}

function isAnswer(type: string): boolean {
  return type === 'user.tool_confirmation' || type === 'user.custom_tool_result';
}
