import { randomUUID } from 'node:crypto';
import { type ConnectionState, type FleetWatch, watchFleet } from '@fleetloom/client';
import type { FleetEvent, GateMode } from '@fleetloom/protocol/fleet';
import { Findings } from './findings.ts';
import type { Worked } from './work-through.ts';
import { toScript } from '../../packages/cli/src/conformance/harness/script.ts';

/** A client that retries every request until it is answered. */
export class Caller {
  readonly #url: string;
  readonly #key: string;
  /** The number of failed attempts by status; 0: no answer. */
  readonly troubles = new Map<number, number>();
  /** How often a reader has connected or reconnected. */
  connections = 0;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    return JSON.parse(await this.#ask(method, path, body)) as Answer;
  }

  /** Reads a response of JSON lines. */
  async lines(path: string): Promise<unknown[]> {
    const text = await this.#ask('GET', path);
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  }

  text(path: string): Promise<string> {
    return this.#ask('GET', path);
  }

  async #ask(method: string, path: string, body?: object): Promise<string> {
    // Applied once, also if the first node is killed and another one is asked.
    const once = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
    for (let attempt = 0; ; attempt++) {
      const response = await fetch(`${this.#url}${path}`, {
        method,
        headers: {
          'x-api-key': this.#key,
          'content-type': 'application/json',
          ...once,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(method === 'POST' ? IMPATIENT_MS : PATIENT_MS),
      }).catch(() => undefined);
      const text = await response?.text().catch(() => undefined);
      if (response?.ok === true && text !== undefined) return text;
      const status = response?.status ?? 0;
      this.troubles.set(status, (this.troubles.get(status) ?? 0) + 1);
      if (status >= 400 && status < 500 && status !== 429) throw new Error(`${method} ${path}: ${status} ${text}`);
      if (attempt > 200) throw new Error(`${method} ${path}: no node answers (${status} ${text})`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Opens a fleet stream after a cursor, if there is one; without a session, that of all sessions. */
  watch(session: string | undefined, after: string | null, signal: AbortSignal, gate: GateMode = 'off'): FleetWatch {
    const onConnection = ({ type }: ConnectionState) => void (type === 'open' && (this.connections += 1));
    const place = { ...(session === undefined ? {} : { session }), ...(after === null ? {} : { after }) };
    const server = { url: this.#url, key: this.#key };
    return watchFleet({ ...server, gate, random: () => 0.1, signal, onConnection, ...place });
  }

  async replay(session: string, gate: GateMode = 'off'): Promise<FleetEvent[]> {
    const all: FleetEvent[] = [];
    const watch = watchFleet({ url: this.#url, key: this.#key, session, gate, follow: false });
    for await (const event of watch) all.push(event);
    return all;
  }
}

/** A short timeout for writes, so that they are repeated on another node while the first is still applying them. */
const IMPATIENT_MS = 5_000;
const PATIENT_MS = 20_000;

/** The body that sends a message. */
export function toMessage(text: string): object {
  return { events: [toEvent(text)] };
}

/** A message as an event. */
export function toEvent(text: string): object {
  return { type: 'user.message', content: [{ type: 'text', text }] };
}

export interface Task {
  /** The largest number of messages. */
  readonly rounds: number;
  /** Deltas of each answer, and below the pause before each. */
  readonly chunks: number;
  readonly everyMs: number;
  /** Whether the agent writes a file in each round. */
  readonly writes?: boolean;
}

/** One session with a client that sends messages and watches it while faults are applied to the nodes. */
export class Work implements Worked {
  readonly #caller: Caller;
  readonly #environmentId: string;
  readonly #name: number;
  readonly #task: Task;
  readonly seen: FleetEvent[] = [];
  readonly sent: string[] = [];
  id = '';

  constructor(caller: Caller, environmentId: string, name: number, task: Task) {
    this.#caller = caller;
    this.#environmentId = environmentId;
    this.#name = name;
    this.#task = task;
  }

  get isDone(): boolean {
    return this.seen.at(-1)?.type === 'done';
  }

  /** Runs all rounds. The watcher disconnects after each answer and resumes after it on any node. */
  async run(signal: AbortSignal, isOver: () => boolean): Promise<void> {
    const agent = await this.#caller.call<{ id: string }>('POST', '/v1/agents', {
      name: `a${this.#name}`,
      model: 'scripted/echo',
      system: toScript(toTurns(this.#name, this.#task)),
      tools: [{ type: 'agent_toolset_20260401' }],
    });
    const session = { agent: agent.id, environment_id: this.#environmentId };
    this.id = (await this.#caller.call<{ id: string }>('POST', '/v1/sessions', session)).id;
    let cursor: string | null = null;
    for (let round = 0; round < this.#task.rounds && (round === 0 || !isOver()); round++) {
      await this.#send(round);
      cursor = await this.#watchRound(cursor, signal);
    }
  }

  async findProblems(): Promise<Findings> {
    const { writes = false } = this.#task;
    const rounds = this.sent.length;
    const frames = await readExport(this.#caller, this.id);
    const ofType = (type: string) => frames.filter((frame) => frame.type === type);
    const texts = (type: string) => ofType(type).map(({ payload }) => textOf(payload));
    const answers = this.sent.map((_, round) => toAnswer(this.#name, round, this.#task));
    const whole = await this.#caller.replay(this.id);
    const findings = new Findings(this.id);
    findings.gaps += frames.filter(({ seq }, index) => seq !== index + 1).length;
    findings.compare('messages', this.sent, texts('user.message'));
    findings.compare('answers', answers, texts('agent.message'));
    const times = (count: number) => Array.from({ length: count }, () => 'one');
    findings.compare('results of tools', times(writes ? rounds : 0), times(ofType('agent.tool_result').length));
    findings.compare('begun turns', times(rounds), times(ofType('turn.started').length));
    findings.compare('ended turns', times(rounds), times(ofType('turn.ended').length));
    const [wanted, got] = [whole, this.seen].map((events) => events.map((event) => JSON.stringify(event)));
    findings.compare('events that were watched', wanted!, got!);
    return findings;
  }

  async #watchRound(after: string | null, signal: AbortSignal): Promise<string | null> {
    const watch = this.#caller.watch(this.id, after, signal);
    for await (const event of watch) {
      this.seen.push(event);
      if (event.type === 'done') return watch.cursor;
    }
    throw new Error(`${this.id} was watched, and its turn ${this.sent.length} did not end`);
  }

  async #send(round: number): Promise<void> {
    const text = `m${this.#name}.${round}`;
    this.sent.push(text);
    await this.#caller.call('POST', `/v1/sessions/${this.id}/events`, toMessage(text));
  }
}

export interface ExportedFrame {
  readonly seq: number;
  readonly type: string;
  readonly payload: { readonly content?: readonly { readonly text?: string }[] };
}

export async function readExport(caller: Caller, sessionId: string): Promise<readonly ExportedFrame[]> {
  const lines = await caller.lines(`/v1/sessions/${sessionId}/export`);
  return (lines as ExportedFrame[]).filter(({ type }) => !type.startsWith('export.'));
}

function toTurns(name: number, task: Task) {
  return Array.from({ length: task.rounds }, (_, round) => {
    const say = { say: toAnswer(name, round, task), chunks: task.chunks, every_ms: task.everyMs };
    const path = `/mnt/session/outputs/${round}.txt`;
    return task.writes === true ? [[{ call: 'write', input: { file_path: path, content: 'x' } }], [say]] : [[say]];
  }).flat();
}

function toAnswer(name: number, round: number, { chunks }: Task): string {
  return `a${name}.${round} ${'word '.repeat(chunks)}.`;
}

export function textOf({ content = [] }: ExportedFrame['payload']): string {
  return content.map(({ text = '' }) => text).join('');
}
