import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RandomText } from '../../bench/random-text.ts';
import { connect } from '../server/server.suite.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { isLong, seed } from '../support/seed.ts';
import type { SessionFrame } from '../../packages/server/src/frames/frames.ts';
import { bash, ClaudeServer, delegate, toolset } from './claude-server.ts';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { type HostServer, openHostServer } from './scenarios/host-server.ts';

const ROUNDS = isLong ? 60 : 6;
const form = { type: 'custom', name: 'form', description: 'Asks', input_schema: { type: 'object', properties: {} } };
const tools = [toolset('always_ask'), form];

await describeWithClaudeCode('random answers to the real program', ({ path }) => {
  let host: HostServer;
  // A server for each attempt: the run restarts it, so its first address is gone.
  beforeEach(async () => void (host = await openHostServer(path)), 120_000);
  afterEach(() => host.close());

  it(
    '[J245] of answers to main and child approvals, questions and custom tools, at random moments, late, twice, by two clients, in batches, beside interrupts, kills of program and server and restarts, each accepted one is in the log once as it was sent, delivered or with the reason why not, and what came of the call agrees with it',
    async () => {
      console.log(`FLEETLOOM_SEED=${seed}`);
      const run = new AnswerRun(new ClaudeServer(host.handle));
      await run.begin();
      for (let round = 0; round < ROUNDS; round++) await run.round(round);
      await run.end();
      expect(await run.findProblems()).toEqual([]);
      const kinds = ['confirmation', 'confirmation of a child', 'result', 'question'];
      expect(kinds.filter((kind) => !run.asked.has(kind))).toEqual([]);
    },
    isLong ? 2_400_000 : 300_000,
  );
});

type Answer = { readonly type: string; readonly [field: string]: unknown };

interface Ask {
  readonly id: string;
  readonly kind: 'confirmation' | 'confirmation of a child' | 'result' | 'question';
}

class AnswerRun {
  readonly #server: ClaudeServer;
  readonly #random = new RandomText(seed);
  #session = '';
  /** What was sent, by the id that the server gave it. */
  readonly #accepted = new Map<string, Answer>();
  /** Requests that failed because the server was killed: it is unknown whether it had accepted them. */
  #uncertain = 0;
  /** Kinds of calls that waited when answers were sent. */
  readonly asked = new Set<string>();

  constructor(server: ClaudeServer) {
    this.#server = server;
  }

  async begin(): Promise<void> {
    this.#session = await this.#server.createSession({ tools, roster: [{ name: 'asker', tools }] });
    const turns = Array.from({ length: 8 * ROUNDS }, (_, at) => toTurn(at));
    await this.#server.say(this.#session, `Go. ${script(...turns)}`);
  }

  async round(round: number): Promise<void> {
    const random = this.#random;
    const asks = await this.#waitForAsks();
    for (const { kind } of asks) this.asked.add(kind);
    const one = asks.flatMap((ask) => {
      if (random.below(4) === 0) return [];
      return Array.from({ length: 1 + random.below(2) }, () => this.#answer([ask], random.below(60)));
    });
    // Several in one request are accepted together or not at all, and one call twice in a request is refused.
    const sending =
      random.below(3) === 0
        ? [...one, this.#answer([...asks, ...asks.slice(0, random.below(2))], random.below(60))]
        : one;
    if (random.below(4) === 0) await this.#server.send(this.#session, { type: 'user.interrupt' });
    if (round % 3 === 2) {
      if (sending.length > 0) await Promise.race(sending);
      if (random.below(2) === 0) await this.#killProgram();
      await Promise.all(sending);
      await this.#isIdle();
    } else {
      // In the middle of it, often right behind the first acknowledgement.
      if (sending.length > 0) await Promise.race(sending);
      await this.#server.restart(round % 3 === 0 ? 'SIGKILL' : 'SIGTERM');
      await Promise.all(sending);
      await this.#isIdle();
    }
    // Whatever was open before is answered once more, late or in time.
    await Promise.all(asks.map((ask) => this.#answer([ask], 0)));
    await this.#server.say(this.#session, 'Go on.');
  }

  async end(): Promise<void> {
    await this.#server.send(this.#session, { type: 'user.interrupt' });
    await this.#isIdle();
  }

  async findProblems(): Promise<string[]> {
    const { frames, problems } = await this.#server.log(this.#session);
    const found = [...problems];
    const counts = new Map<string, number>();
    const settled = new Map<string, number>();
    const settle = (id: string) => settled.set(id, (settled.get(id) ?? 0) + 1);
    for (const { type, payload } of frames) {
      if (type === 'answer.delivered' || type === 'answer.not_applied') settle(payload.answer_id);
      if (type === 'answer.not_applied' && payload.reason.length === 0)
        found.push(`${payload.answer_id} has no reason`);
      if (type !== 'user.tool_confirmation' && type !== 'user.custom_tool_result') continue;
      counts.set(payload.id, (counts.get(payload.id) ?? 0) + 1);
      if (payload.not_applied !== undefined) settle(payload.id);
    }
    for (const id of this.#accepted.keys())
      if (counts.get(id) !== 1) found.push(`${id} is ${counts.get(id) ?? 0} times in the log`);
    for (const id of counts.keys()) {
      if (settled.get(id) !== 1) found.push(`${id} is ${settled.get(id) ?? 0} times delivered or not applied`);
    }
    const unknown = [...counts.keys()].filter((id) => !this.#accepted.has(id));
    if (unknown.length > this.#uncertain) found.push(`${unknown.join(', ')} were refused, and are in the log`);
    return [...found, ...this.#findDisagreements(frames)];
  }

  /** The log has each answer as it was sent, and no call whose answer was delivered ended as if it had been another answer. */
  #findDisagreements(frames: readonly SessionFrame[]): string[] {
    const found: string[] = [];
    const results = new Map<string, { readonly isError: boolean; readonly content: string }>();
    const delivered = new Set<string>();
    for (const { type, payload } of frames) {
      if (type === 'answer.delivered') delivered.add(payload.answer_id);
      if (type !== 'agent.tool_result' || payload.is_interrupted) continue;
      results.set(payload.tool_use_id, { isError: payload.is_error, content: JSON.stringify(payload.content) });
    }
    for (const { type, payload } of frames) {
      if (type !== 'user.tool_confirmation' && type !== 'user.custom_tool_result') continue;
      const sent = this.#accepted.get(payload.id);
      const logged: Record<string, unknown> = { ...payload, type };
      const fields = sent === undefined ? [] : Object.keys(sent);
      for (const field of fields) {
        if (JSON.stringify(logged[field]) !== JSON.stringify(sent![field]))
          found.push(`${payload.id} has another ${field}`);
      }
      const result = type === 'user.tool_confirmation' ? results.get(payload.tool_use_id) : undefined;
      if (type !== 'user.tool_confirmation' || result === undefined || !delivered.has(payload.id)) continue;
      const isDenied = result.content.includes(DENIED);
      if (payload.result === 'deny' && !result.isError) found.push(`${payload.tool_use_id} was denied, and ran`);
      if (payload.result === 'allow' && isDenied) found.push(`${payload.tool_use_id} was allowed, and is denied`);
      if (payload.updated_input !== undefined && !result.isError && !result.content.includes(CHANGED))
        found.push(`${payload.tool_use_id} ran with another input: ${result.content}`);
    }
    return found;
  }

  async #killProgram(): Promise<void> {
    for (const pid of await this.#server.programs()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended on its own in the meantime.
      }
    }
  }

  #toEvent({ id, kind }: Ask): Answer {
    const random = this.#random;
    if (kind === 'result' || kind === 'question') {
      const content = [{ type: 'text', text: `filled ${random.below(1_000_000)}` }];
      return { type: 'user.custom_tool_result', custom_tool_use_id: id, content };
    }
    const about = { type: 'user.tool_confirmation', tool_use_id: id };
    if (random.below(2) === 0) {
      const input = { command: `echo ${CHANGED}`, description: 'Changed' };
      return { ...about, result: 'allow', ...(random.below(3) === 0 ? { updated_input: input } : {}) };
    }
    return { ...about, result: 'deny', deny_message: DENIED, ...(random.below(4) === 0 ? { interrupt: true } : {}) };
  }

  /** By one of two clients. */
  async #answer(asks: readonly Ask[], delayMs: number): Promise<void> {
    const { url, key } = this.#server;
    const client = this.#random.below(2) === 0 ? this.#server.client : connect(url, key);
    const events = asks.map((ask) => this.#toEvent(ask));
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    try {
      const { data } = await client.beta.sessions.events.send(this.#session, { events: events as never });
      for (const [at, sent] of data!.entries()) this.#accepted.set((sent as { id: string }).id, events[at]!);
    } catch (error) {
      if (/Connection error|fetch failed|terminated|socket/i.test(String(error))) this.#uncertain += events.length;
      else expect(String(error)).toMatch(/already answered|was withdrawn because|answered twice|shutting down|503|529/);
    }
  }

  async #isIdle(): Promise<void> {
    const isIdle = async () => (await this.#server.client.beta.sessions.retrieve(this.#session)).status === 'idle';
    await vi.waitFor(async () => expect(await isIdle()).toBe(true), { timeout: 60_000, interval: 100 });
  }

  /** The calls that wait; the newest ones, if the program goes on in the meantime. */
  async #waitForAsks(): Promise<readonly Ask[]> {
    return vi.waitFor(
      async () => {
        const { frames } = await this.#server.log(this.#session);
        const last = frames.findLast(({ type }) => type.startsWith('session.status_'));
        const stop = last?.type === 'session.status_idle' ? last.payload.stop_reason : undefined;
        if (stop?.type !== 'requires_action') throw new Error(`it waits for nothing: ${last?.type} ${stop?.type}`);
        const primary = frames[0]?.type === 'session.created' ? frames[0].payload.primary_thread_id : '';
        return stop.event_ids.map((id): Ask => {
          const call = frames.find(({ payload }) => 'call_id' in payload && payload.id === id);
          if (call?.type === 'agent.custom_tool_use')
            return { id, kind: call.payload.name === 'AskUserQuestion' ? 'question' : 'result' };
          return { id, kind: call?.threadId === primary ? 'confirmation' : 'confirmation of a child' };
        });
      },
      { timeout: 90_000, interval: 100 },
    );
  }
}

const DENIED = 'Not this one, please.';
const CHANGED = 'as it was changed';

/** A sub-agent with a command, a custom tool, a question, commands. The program asks about some of them one after the other. */
function toTurn(at: number): object[] {
  const options = ['Red', 'Blue'].map((label) => ({ label, description: label }));
  const questions = [{ question: 'Which colour?', header: 'Colour', options, multiSelect: false }];
  const child = script([bash(`echo child ${at}`)], [{ say: 'Done.' }]);
  const custom = { call: 'mcp__fleetloom__form', input: {} };
  if (at % 3 === 0) return [delegate('asker', `child ${at}`, child), bash(`echo ${at}`)];
  return at % 3 === 1 ? [bash(`echo ${at}`), custom] : [{ call: 'AskUserQuestion', input: { questions } }, custom];
}
