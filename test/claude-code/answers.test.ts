import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RandomText } from '../../bench/random-text.ts';
import { connect } from '../server/server.suite.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { isLong, seed } from '../support/seed.ts';
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
    '[J245] of answers to main and child approvals, questions and custom tools, at random moments, late, twice, by two clients, beside interrupts, kills and restarts, each accepted one is in the log once, delivered or with the reason why not',
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

interface Ask {
  readonly id: string;
  readonly kind: 'confirmation' | 'confirmation of a child' | 'result' | 'question';
}

class AnswerRun {
  readonly #server: ClaudeServer;
  readonly #random = new RandomText(seed);
  #session = '';
  readonly #accepted: string[] = [];
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
    const sending = asks.flatMap((ask) => {
      if (random.below(4) === 0) return [];
      return Array.from({ length: 1 + random.below(2) }, () => this.#answer(ask, random.below(60)));
    });
    if (random.below(4) === 0) await this.#server.send(this.#session, { type: 'user.interrupt' });
    if (round % 3 === 2) await Promise.all(sending);
    else {
      // In the middle of it, often right behind the first acknowledgement.
      if (sending.length > 0) await Promise.race(sending);
      await this.#server.restart(round % 3 === 0 ? 'SIGKILL' : 'SIGTERM');
      await Promise.all(sending);
      await this.#isIdle();
    }
    // Whatever was open before is answered once more, late or in time.
    await Promise.all(asks.map((ask) => this.#answer(ask, 0)));
    await this.#server.say(this.#session, 'Go on.');
  }

  async end(): Promise<void> {
    await this.#server.send(this.#session, { type: 'user.interrupt' });
    await this.#isIdle();
  }

  async findProblems(): Promise<string[]> {
    const { frames, problems } = await this.#server.log(this.#session);
    const found = [...problems];
    const accepted = new Set(this.#accepted);
    const counts = new Map<string, number>();
    const settled = new Map<string, number>();
    const settle = (id: string) => settled.set(id, (settled.get(id) ?? 0) + 1);
    for (const { type, payload } of frames) {
      if (type === 'answer.delivered' || type === 'answer.not_applied') settle(payload.answer_id);
      if (type !== 'user.tool_confirmation' && type !== 'user.custom_tool_result') continue;
      counts.set(payload.id, (counts.get(payload.id) ?? 0) + 1);
      if (payload.not_applied !== undefined) settle(payload.id);
    }
    for (const id of accepted) if (counts.get(id) !== 1) found.push(`${id} is ${counts.get(id) ?? 0} times in the log`);
    for (const id of counts.keys()) {
      if (settled.get(id) !== 1) found.push(`${id} is ${settled.get(id) ?? 0} times delivered or not applied`);
    }
    const unknown = [...counts.keys()].filter((id) => !accepted.has(id));
    if (unknown.length > this.#uncertain) found.push(`${unknown.join(', ')} were refused, and are in the log`);
    return found;
  }

  /** By one of two clients. */
  async #answer({ id, kind }: Ask, delayMs: number): Promise<void> {
    const result = this.#random.pick(['allow', 'deny'] as const);
    const { url, key } = this.#server;
    const client = this.#random.below(2) === 0 ? this.#server.client : connect(url, key);
    const event =
      kind === 'result' || kind === 'question'
        ? { type: 'user.custom_tool_result', custom_tool_use_id: id, content: [{ type: 'text', text: 'filled' }] }
        : { type: 'user.tool_confirmation', tool_use_id: id, result };
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    try {
      const { data } = await client.beta.sessions.events.send(this.#session, { events: [event as never] });
      this.#accepted.push(...data!.map((sent) => (sent as { id: string }).id));
    } catch (error) {
      if (/Connection error|fetch failed|terminated|socket/i.test(String(error))) this.#uncertain++;
      else expect(String(error)).toMatch(/already answered|was withdrawn because|answered twice|shutting down|503/);
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

/** A sub-agent with a command, a custom tool, a question, commands. The program asks about some of them one after the other. */
function toTurn(at: number): object[] {
  const options = ['Red', 'Blue'].map((label) => ({ label, description: label }));
  const questions = [{ question: 'Which colour?', header: 'Colour', options, multiSelect: false }];
  const child = script([bash(`echo child ${at}`)], [{ say: 'Done.' }]);
  const custom = { call: 'mcp__fleetloom__form', input: {} };
  if (at % 3 === 0) return [delegate('asker', `child ${at}`, child), bash(`echo ${at}`)];
  return at % 3 === 1 ? [bash(`echo ${at}`), custom] : [{ call: 'AskUserQuestion', input: { questions } }, custom];
}
