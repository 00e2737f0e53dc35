import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import Anthropic, { APIError } from '@anthropic-ai/sdk';
import type { FleetEvent, GateMode } from '@fleetloom/protocol/fleet';
import { type Step, toScript } from '../../packages/cli/src/conformance/harness/script.ts';
import { Findings } from './findings.ts';
import { type Caller, readExport, textOf } from './work.ts';
import { pause, type Worked } from './work-through.ts';

type SentEvent = Parameters<Anthropic['beta']['sessions']['events']['send']>[1]['events'][number];

/** As much of an event as is read here. */
interface SeenEvent {
  readonly id: string;
  readonly type: string;
  readonly stop_reason?: { readonly type: string; readonly event_ids?: readonly string[] };
}

export interface SdkWorkOptions {
  /** The load balancer. */
  readonly url: string;
  readonly key: string;
  /** For the checks at the end. */
  readonly caller: Caller;
  readonly environmentId: string;
  readonly name: number;
  readonly rounds: number;
  /** What a reader of all sessions has seen of each, with the gate `strict`. */
  readonly everything: ReadonlyMap<string, readonly FleetEvent[]>;
}

/**
 * A session with a client that uses the official SDK, and with readers of its fleet stream. In each round the client sends a message,
 * answers a custom tool, approves a call, and an agent delegates. The client follows the stream of events; when that ends, it
 * opens another one and lists what it has missed.
 */
export class SdkWork implements Worked {
  readonly #options: SdkWorkOptions;
  readonly #client: Anthropic;
  /** What each stream of events has sent, in order. */
  readonly #streams: SeenEvent[][] = [];
  readonly #known = new Map<string, SeenEvent>();
  readonly #answered = new Set<string>();
  readonly #fleet = GATES.map((gate) => ({ gate, seen: [] as FleetEvent[] }));
  readonly #sent: string[] = [];
  id = '';
  isDone = false;

  constructor(options: SdkWorkOptions) {
    this.#options = options;
    this.#client = new Anthropic({ baseURL: options.url, apiKey: options.key, maxRetries: 100, timeout: 10_000 });
  }

  async run(signal: AbortSignal, isOver: () => boolean): Promise<void> {
    await this.#create(signal);
    const leaving = new AbortController();
    setMaxListeners(0, leaving.signal);
    signal.addEventListener('abort', () => leaving.abort(), { once: true });
    const readers = this.#fleet.map(({ gate, seen }) => this.#readFleet(gate, seen, leaving.signal));
    for (let round = 0; round < this.#options.rounds && (round === 0 || !isOver()); round++) {
      const text = `m${this.#options.name}.${round}`;
      this.#sent.push(text);
      await this.#send({ type: 'user.message', content: [{ type: 'text', text }] }, signal);
      while (!(await this.#followOnce(signal))) signal.throwIfAborted();
    }
    this.isDone = true;
    await this.#catchUp(signal);
    leaving.abort();
    await Promise.all(readers);
  }

  async findProblems(): Promise<Findings> {
    const { caller } = this.#options;
    const findings = new Findings(this.id);
    const frames = await readExport(caller, this.id);
    const ofType = (type: string) => frames.filter((frame) => frame.type === type);
    const rounds = this.#sent.length;
    const once = (type: string, perRound: number) =>
      findings.compare(type, repeat(rounds * perRound), repeat(ofType(type).length));
    findings.gaps += frames.filter(({ seq }, index) => seq !== index + 1).length;
    const texts = (type: string) => ofType(type).map(({ payload }) => textOf(payload));
    findings.compare('messages', this.#sent, texts('user.message'));
    const answers = this.#sent.flatMap((_, round) => [REPORT, this.#answerOf(round)]);
    findings.compare('answers', answers.toSorted(), texts('agent.message').toSorted());
    // The coordinator calls three tools of each kind in a round, and a member begins once.
    once('agent.custom_tool_use', 1);
    once('user.custom_tool_result', 1);
    once('user.tool_confirmation', 1);
    once('turn.started', 2);
    once('turn.ended', 2);
    const uses = ofType('agent.tool_use').length;
    findings.compare('results of tools', repeat(uses), repeat(ofType('agent.tool_result').length));
    await this.#compareEvents(findings);
    for (const { gate, seen } of this.#watched()) {
      const [wanted, got] = [await caller.replay(this.id, gate), seen].map(toLines);
      findings.compare(`events that were watched (${gate})`, wanted!, got!);
    }
    return findings;
  }

  async #create(signal: AbortSignal): Promise<void> {
    const { environmentId, name, rounds } = this.#options;
    const { agents, sessions } = this.#client.beta;
    const member = await agents.create(
      { name: `m${name}`, model: 'scripted/echo', system: toScript([[{ think: 'so' }, slowly(REPORT)]]) },
      once(signal),
    );
    const turns = Array.from({ length: rounds }, (_, round) => [
      [{ call: 'lookup', input: { round } }],
      [{ call: 'write', input: { file_path: `/mnt/session/outputs/${round}.txt`, content: 'x' } }],
      [{ call: 'delegate', input: { tasks: [{ agent: member.name, message: 'Go' }] } }],
      [slowly(this.#answerOf(round))],
    ]).flat();
    const coordinator = await agents.create(
      {
        name: `a${name}`,
        model: 'scripted/echo',
        system: toScript(turns),
        tools: [
          { type: 'custom', name: 'lookup', description: 'Looks up.', input_schema: { type: 'object' } },
          { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } },
        ],
        multiagent: { type: 'coordinator', agents: [member.id] },
      },
      once(signal),
    );
    this.id = (await sessions.create({ agent: coordinator.id, environment_id: environmentId }, once(signal))).id;
  }

  #answerOf(round: number): string {
    return `answer ${this.#options.name}.${round} with some more words`;
  }

  async #send(event: SentEvent, signal: AbortSignal): Promise<void> {
    await this.#client.beta.sessions.events.send(this.id, { events: [event] }, once(signal));
  }

  /** Follows one stream of events. True at the end of the turn; false if the stream ended before. */
  async #followOnce(signal: AbortSignal): Promise<boolean> {
    const { events } = this.#client.beta.sessions;
    const seen: SeenEvent[] = [];
    this.#streams.push(seen);
    const leaving = new AbortController();
    try {
      const stream = await events.stream(this.id, {}, { signal: AbortSignal.any([signal, leaving.signal]) });
      for await (const event of events.list(this.id, { limit: 1_000 })) {
        if (await this.#take(event, signal)) return true;
      }
      for await (const event of stream) {
        seen.push(event as SeenEvent);
        if (await this.#take(event as SeenEvent, signal)) return true;
      }
    } catch (error) {
      // A request that this server refuses is not a fault of the machine.
      if (error instanceof APIError && error.status !== undefined && error.status < 500) throw error;
    } finally {
      leaving.abort();
    }
    await pause(100);
    return false;
  }

  /** True if the event ends the turn. What waits for the client is answered, once. */
  async #take(event: SeenEvent, signal: AbortSignal): Promise<boolean> {
    if (this.#known.has(event.id)) return false;
    this.#known.set(event.id, event);
    if (event.type !== 'session.status_idle') return false;
    for (const id of event.stop_reason?.event_ids ?? []) {
      if (this.#answered.has(id)) continue;
      this.#answered.add(id);
      const content = [{ type: 'text', text: '42' }] as const;
      const isCustom = this.#known.get(id)?.type === 'agent.custom_tool_use';
      if (isCustom)
        await this.#send({ type: 'user.custom_tool_result', custom_tool_use_id: id, content: [...content] }, signal);
      else await this.#send({ type: 'user.tool_confirmation', tool_use_id: id, result: 'allow' }, signal);
    }
    return event.stop_reason?.type !== 'requires_action';
  }

  async #readFleet(gate: GateMode, seen: FleetEvent[], signal: AbortSignal): Promise<void> {
    try {
      for await (const event of this.#options.caller.watch(this.id, null, signal, gate)) seen.push(event);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Until the readers of the fleet stream have as many events as a replay. */
  async #catchUp(signal: AbortSignal): Promise<void> {
    for (const { gate, seen } of this.#fleet) {
      const { length } = await this.#options.caller.replay(this.id, gate);
      while (seen.length < length && !signal.aborted) await pause(50);
      if (gate !== 'strict') continue;
      while (this.#ofEverything().length < length && !signal.aborted) await pause(50);
    }
  }

  #watched() {
    return [...this.#fleet, { gate: 'strict', seen: this.#ofEverything() } as const];
  }

  #ofEverything(): readonly FleetEvent[] {
    return this.#options.everything.get(this.id) ?? [];
  }

  /** What each stream of events has sent live is a part of the list, without a gap, a repetition or a difference. */
  async #compareEvents(findings: Findings): Promise<void> {
    const listed: SeenEvent[] = [];
    for await (const event of this.#client.beta.sessions.events.list(this.id, { limit: 1_000 })) listed.push(event);
    const ids = listed.map(({ id }) => id);
    for (const stream of this.#streams) {
      const seen = stream.filter(({ type }) => !LIVE_ONLY.test(type));
      const from = ids.indexOf(seen[0]?.id ?? '');
      const wanted = seen.length === 0 ? [] : listed.slice(from, from + seen.length);
      findings.compare('events of a stream', toLines(wanted), toLines(seen));
    }
  }
}

const GATES = ['off', 'live', 'strict'] as const;
const REPORT = 'a report in a few words';
/** Parts of events that are still to come. */
const LIVE_ONLY = /^event_/;

/** An answer that is under way while faults happen. */
function slowly(say: string): Step {
  return { say, chunks: 5, every_ms: 100 };
}

/** The options of a request that is applied once, also if the first node is killed and another one is asked. */
function once(signal: AbortSignal) {
  return { headers: { 'idempotency-key': randomUUID() }, signal };
}

function repeat(count: number): string[] {
  return Array.from({ length: count }, () => 'one');
}

function toLines(events: readonly object[]): string[] {
  return events.map((event) => JSON.stringify(event));
}
