import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIds, createLog, openSqliteStore, type SessionLog, systemClock } from '@fleetloom/server';
import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
// Sessions are not exported by the package, and HTTP is measured elsewhere, so this imports them by path.
import type { Engine, EngineEvent, ModelRequest } from '../packages/server/src/engines/model/engine.ts';
import { interrupted } from '../packages/server/src/engines/model/failures.ts';
import { toSessionFrame } from '../packages/server/src/frames/frames.ts';
import { createSessions, type SessionsOptions } from '../packages/server/src/sessions/api/sessions.ts';

/** The work of each agent: this many deltas of the same length. */
export interface BenchWork {
  readonly deltas: number;
  /** The pace of the deltas; undefined: as fast as they are consumed. */
  readonly perSecond?: number;
  /** Whether each delta is the time at which it was written. */
  readonly isStamped?: boolean;
}

export interface BenchFleet {
  /**
   * Runs one session in which a coordinator delegates to this many agents at once, until a reader has seen it idle. Returns
   * the measured times.
   */
  run(agents: number, work: BenchWork): Promise<BenchRun>;
  close(): Promise<void>;
}

/** Times are those of `performance.now`. */
export interface BenchRun {
  /** For each piece of text, how long it took from the engine to the reader. Sorted by when it was sent. */
  readonly delaysMs: readonly number[];
  /** The time from the coordinator's whole response to the last agent's request at the engine, which is durable by then. */
  readonly openingMs: number;
  /** The text that the reader received, by thread. */
  readonly said: ReadonlyMap<string, string>;
}

/** Opens sessions on a file, with an engine that the bench controls. `openRecorder`: as a server that can record workspaces. */
export async function openBenchFleet(options: Pick<SessionsOptions, 'openRecorder'> = {}): Promise<BenchFleet> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-bench-'));
  const store = await openSqliteStore({ path: join(folder, 'bench.db') });
  const log = createLog({ store });
  let book = new Book(0, { deltas: 0 });
  const sessions = createSessions({
    store,
    log,
    engine: createBenchEngine(() => book),
    models: { costNanoUsd: () => 0, windowTokens: () => 1_000_000 },
    openToolbox: () => ({
      offer: async () => ({ tools: new Map(), problems: [] }),
      closeThread: async () => {},
      close: async () => {},
    }),
    openWorkspace: async () => folder,
    clock: systemClock,
    ids: createIds({ now: Date.now, random: Math.random }),
    random: Math.random,
    owner: 'bench',
    ...options,
  });
  await sessions.start();
  return {
    run: async (agents, work) => {
      book = new Book(agents, work);
      const { id } = await sessions.create({ workspaceId, agent, environment: { id: 'env_1', type: 'cloud' } });
      const reading = read(log, id, book);
      const content = [{ type: 'text' as const, text: 'Begin.' }];
      await sessions.send({ workspaceId, sessionId: id, events: [{ type: 'user.message', content }] });
      await reading;
      return book.toRun();
    },
    close: async () => {
      await sessions.close();
      await log.close();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const workspaceId = 'wrkspc_1';
const worker: AgentSnapshot = {
  type: 'agent',
  id: 'agent_worker',
  version: 1,
  name: 'worker',
  description: 'works',
  system: null,
  model: { id: 'bench', effort: { type: 'high' }, speed: 'standard' },
  tools: [],
  mcp_servers: [],
  skills: [],
  execution_identity: { type: 'service_account' },
};
const agent = {
  ...worker,
  id: 'agent_lead',
  name: 'lead',
  multiagent: { type: 'coordinator' as const, agents: [worker] },
};

/** The measurements of a run. */
export class Book {
  readonly agents: number;
  readonly work: BenchWork;
  readonly #sentAt = new Map<string, number[]>();
  readonly #delays: { readonly sentAt: number; readonly tookMs: number }[] = [];
  readonly #said = new Map<string, string>();
  #answeredAt = 0;
  #openedAt = 0;

  constructor(agents: number, work: BenchWork) {
    this.agents = agents;
    this.work = work;
  }

  answered(): void {
    this.#answeredAt = performance.now();
  }

  opened(): void {
    this.#openedAt = performance.now();
  }

  sent(threadId: string): void {
    const times = this.#sentAt.get(threadId);
    if (times === undefined) this.#sentAt.set(threadId, [performance.now()]);
    else times.push(performance.now());
  }

  seen(threadId: string, text: string, now: number): void {
    const before = this.#said.get(threadId) ?? '';
    this.#said.set(threadId, before + text);
    const times = this.#sentAt.get(threadId);
    if (times === undefined) return;
    const from = before.length / DELTA.length;
    const to = (before.length + text.length) / DELTA.length;
    for (const sentAt of times.slice(from, to)) this.#delays.push({ sentAt, tookMs: now - sentAt });
  }

  toRun(): BenchRun {
    const sorted = this.#delays.sort((a, b) => a.sentAt - b.sentAt);
    const openingMs = this.#openedAt - this.#answeredAt;
    return { delaysMs: sorted.map(({ tookMs }) => tookMs), openingMs, said: this.#said };
  }
}

/** One delta, as long as those of models: a few words. */
export const DELTA = 'a few words and a comma, ';

async function read(log: SessionLog, sessionId: string, book: Book): Promise<void> {
  let isRunning = false;
  for await (const entries of log.tail({ sessionId, after: 0 })) {
    const now = performance.now();
    for (const entry of entries) {
      if (entry.kind !== 'frame') continue;
      const { type, threadId, payload } = toSessionFrame(entry.value);
      if (type === 'delta.text') book.seen(threadId!, payload.text, now);
      if (type === 'session.status_running') isRunning = true;
      if (type === 'session.status_idle' && isRunning) return;
    }
  }
}

export function createBenchEngine(book: () => Book): Engine {
  return {
    request: (request, signal) =>
      request.thread.agentName === 'lead' ? coordinate(book(), request) : talk(book(), request, signal),
    close: async () => {},
  };
}

/** Delegates in its first response and ends with its second. */
async function* coordinate(book: Book, { messages }: ModelRequest): AsyncGenerator<EngineEvent> {
  const tasks = Array.from({ length: book.agents }, () => ({ agent: 'worker', message: 'Talk.' }));
  const isFirst = messages.length === 1;
  const call = { type: 'tool_use' as const, id: 'toolu_1', name: 'delegate', input: { tasks } };
  yield { type: 'block_started', index: 0, block: isFirst ? 'tool_use' : 'other' };
  if (isFirst) book.answered();
  yield isFirst ? finish([call], 'tool_use') : finish([{ type: 'text', text: 'Done.' }], 'end_turn');
}

async function* talk(book: Book, { thread }: ModelRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
  const { deltas, perSecond, isStamped = false } = book.work;
  let stamps = '';
  book.opened();
  yield { type: 'block_started', index: 0, block: 'text' };
  const startAt = performance.now();
  const stop = { isWanted: false };
  // A listener, because reading `signal.aborted` for each delta takes a tenth of what the bench measures.
  signal.addEventListener('abort', () => (stop.isWanted = true), { once: true });
  for (let index = 0; index < deltas && !stop.isWanted; index++) {
    await pause(index, startAt, perSecond);
    const text = isStamped ? toStamp() : DELTA;
    if (isStamped) stamps += text;
    else book.sent(thread.id);
    yield { type: 'delta', index: 0, text };
  }
  // An engine that continued after an interrupt would keep the process of the bench alive for minutes.
  if (stop.isWanted) yield { type: 'failed', failure: interrupted(), usage: null };
  else yield finish([{ type: 'text', text: isStamped ? stamps : DELTA.repeat(deltas) }], 'end_turn');
}

/** The time in milliseconds since 1970, comparable between processes, always of the same length. */
export function toStamp(): string {
  return (performance.timeOrigin + performance.now()).toFixed(3).padEnd(24);
}

/** Waits until a delta is due; without a pace, yields after as many deltas as arrive in one network packet. */
export async function pause(index: number, startAt: number, perSecond: number | undefined): Promise<void> {
  if (perSecond === undefined) {
    if (index % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
    return;
  }
  const waitMs = startAt + (index * 1_000) / perSecond - performance.now();
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
}

type Finished = Extract<EngineEvent, { type: 'finished' }>;

function finish(content: Finished['content'], reason: Finished['stop']['reason']): Finished {
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWrite5mTokens: 0, cacheWrite1hTokens: 0 };
  return { type: 'finished', content, stop: { reason, category: null, explanation: null }, usage, model: 'bench' };
}
