import { watchFleet } from '@fleetloom/client';
import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { toScript } from '../../packages/cli/src/conformance/script.ts';

/** Asks a server through whatever stands in between, again and again until it has an answer, as clients do. */
export class Caller {
  readonly #url: string;
  readonly #key: string;
  /** Answers that were no success, by their status; 0: there was none. */
  readonly troubles = new Map<number, number>();

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    return JSON.parse(await this.#ask(method, path, body)) as Answer;
  }

  /** An answer of many lines. */
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
    for (let attempt = 0; ; attempt++) {
      const response = await fetch(`${this.#url}${path}`, {
        method,
        headers: {
          'x-api-key': this.#key,
          'content-type': 'application/json',
          // As the official client says that it repeats itself.
          'x-stainless-retry-count': String(attempt),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      }).catch(() => undefined);
      const text = await response?.text().catch(() => undefined);
      if (response?.ok === true && text !== undefined) return text;
      const status = response?.status ?? 0;
      this.troubles.set(status, (this.troubles.get(status) ?? 0) + 1);
      if (status >= 400 && status < 500 && status !== 429) throw new Error(`${method} ${path}: ${status} ${text}`);
      if (attempt > 200) throw new Error(`${method} ${path}: nobody answers (${status} ${text})`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async *watch(session: string, signal: AbortSignal): AsyncGenerator<FleetEvent> {
    yield* watchFleet({ url: this.#url, key: this.#key, session, gate: 'off', random: () => 0.1, signal });
  }

  async replay(session: string): Promise<FleetEvent[]> {
    const all: FleetEvent[] = [];
    const watch = watchFleet({ url: this.#url, key: this.#key, session, gate: 'off', follow: false });
    for await (const event of watch) all.push(event);
    return all;
  }
}

/** What is sent to say something. */
export function toMessage(text: string): object {
  return { events: [{ type: 'user.message', content: [{ type: 'text', text }] }] };
}

export interface Task {
  readonly rounds: number;
  /** Pieces of text of each answer, and the pause before each. */
  readonly chunks: number;
  readonly everyMs: number;
  /** Whether it writes a file in each round. */
  readonly writes?: boolean;
}

/** One session with somebody who speaks to it and watches, whatever becomes of the nodes. */
export class Work {
  readonly #caller: Caller;
  readonly #task: Task;
  readonly seen: FleetEvent[] = [];
  readonly sent: string[] = [];
  id = '';

  constructor(caller: Caller, task: Task) {
    this.#caller = caller;
    this.#task = task;
  }

  /** From the first word to the last one. */
  async run(name: number, environmentId: string, signal: AbortSignal): Promise<void> {
    const { rounds } = this.#task;
    const agent = await this.#caller.call<{ id: string }>('POST', '/v1/agents', {
      name: `a${name}`,
      model: 'scripted/echo',
      system: toScript(toTurns(name, this.#task)),
      tools: [{ type: 'agent_toolset_20260401' }],
    });
    const session = { agent: agent.id, environment_id: environmentId };
    this.id = (await this.#caller.call<{ id: string }>('POST', '/v1/sessions', session)).id;
    await this.#send(name, 0);
    let ended = 0;
    for await (const event of this.#caller.watch(this.id, signal)) {
      this.seen.push(event);
      if (event.type !== 'done') continue;
      ended += 1;
      if (ended === rounds) return;
      await this.#send(name, ended);
    }
    throw new Error(`${this.id} was watched to ${ended} of ${rounds} ends`);
  }

  /** What is wrong with it now that everybody rests. */
  async findProblems(name: number): Promise<string[]> {
    const { rounds, writes = false } = this.#task;
    const problems: string[] = [];
    const frames = await readExport(this.#caller, this.id);
    frames.forEach(({ seq }, index) => {
      if (seq !== index + 1) problems.push(`frame ${index + 1} has seq ${seq}`);
    });
    const texts = (type: string) => frames.filter((frame) => frame.type === type).map(({ payload }) => textOf(payload));
    const said = texts('user.message');
    if (said.join() !== this.sent.join()) problems.push(`sent ${this.sent.join()}, and it has ${said.join()}`);
    const wanted = Array.from({ length: rounds }, (_, round) => toAnswer(name, round, this.#task));
    const answers = texts('agent.message');
    if (answers.join('|') !== wanted.join('|'))
      problems.push(`answered ${answers.map((text) => text.slice(0, 12)).join('|')}`);
    const results = frames.filter(({ type }) => type === 'agent.tool_result').length;
    if (results !== (writes ? rounds : 0)) problems.push(`${results} results of tools`);
    const turns = frames.filter(({ type }) => type === 'turn.started').length;
    const ends = frames.filter(({ type }) => type === 'turn.ended').length;
    if (turns !== rounds || ends !== rounds) problems.push(`${turns} turns began, ${ends} ended`);
    const whole = await this.#caller.replay(this.id);
    if (JSON.stringify(this.seen) !== JSON.stringify(whole)) problems.push(toDifference(this.seen, whole));
    return problems.map((problem) => `${this.id}: ${problem}`);
  }

  async #send(name: number, round: number): Promise<void> {
    const text = `m${name}.${round}`;
    this.sent.push(text);
    await this.#caller.call('POST', `/v1/sessions/${this.id}/events`, toMessage(text));
  }
}

interface ExportedFrame {
  readonly seq: number;
  readonly type: string;
  readonly payload: { readonly content?: readonly { readonly text?: string }[] };
}

async function readExport(caller: Caller, sessionId: string): Promise<readonly ExportedFrame[]> {
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

function textOf({ content = [] }: ExportedFrame['payload']): string {
  return content.map(({ text = '' }) => text).join('');
}

function toDifference(seen: readonly FleetEvent[], whole: readonly FleetEvent[]): string {
  const at = whole.findIndex((event, index) => JSON.stringify(event) !== JSON.stringify(seen[index]));
  return `seen ${seen.length} of ${whole.length} events, different at ${at}: ${JSON.stringify([seen[at], whole[at]]).slice(0, 600)}`;
}
