import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RandomText } from '../../../../bench/random-text.ts';
import { buildProgram } from '../../../../test/support/build-program.ts';
import { repositoryRoot } from '../../../../test/support/root.ts';
import { isLong, randomText } from '../../../../test/support/seed.ts';
import type { SessionFrame } from '../frames/frames.ts';
import { encodeFrame } from '../store/frame.ts';
import { Database } from '../store/sqlite/database.ts';
import { createSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { findSessionProblems, findUnsettled, readFrames } from './suite/check-session.suite.ts';

/** Databases, and how often the process is killed that works on each. */
const ROUNDS = isLong ? 20 : 1;
const KILLS = isLong ? 25 : 12;
/** On a busy machine the short test has to do with fewer. */
const ROUND_MS = isLong ? Infinity : 4_000;

const workspaceId = 'wrkspc_1';
// Within the repository, because what is not bundled is found from there.
const codeFolder = join(repositoryRoot, '.cache', `sessions-crash-${process.pid}`);
const dataFolder = mkdtempSync(join(tmpdir(), 'fleetloom-sessions-crash-'));
afterAll(() => [codeFolder, dataFolder].forEach((folder) => rmSync(folder, { recursive: true, force: true })));

beforeAll(async () => {
  await buildProgram(codeFolder, { host: fileURLToPath(new URL('./suite/crash-host.suite.ts', import.meta.url)) });
});

it(
  '[X2] a process killed at any moment loses nothing that was delivered and runs nothing twice, and the next one continues',
  async () => {
    const random = randomText();
    let figures: Figures = { kills: 0, sessions: 0, frames: 0, tools: 0, resumedRequests: 0, interruptedTools: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const place = new CrashSite(join(dataFolder, String(round)));
      const deadline = performance.now() + ROUND_MS;
      for (let kill = 0; kill < KILLS && (kill < 3 || performance.now() < deadline); kill++) {
        await place.run('live', random.below(2 ** 31), toMoment(random));
        expect(await place.check()).toEqual([]);
      }
      await place.run('settle', random.below(2 ** 31));
      expect([...(await place.check()), ...(await place.checkRest())]).toEqual([]);
      figures = addFigures(figures, await place.count());
    }
    if (isLong) console.log(JSON.stringify(figures));
    // If nothing had been interrupted, it would prove nothing.
    expect(figures.tools).toBeGreaterThan(0);
    expect(figures.resumedRequests + figures.interruptedTools).toBeGreaterThan(0);
  },
  isLong ? 3_600_000 : 60_000,
);

interface Figures {
  readonly kills: number;
  readonly sessions: number;
  readonly frames: number;
  readonly tools: number;
  readonly resumedRequests: number;
  readonly interruptedTools: number;
}

function addFigures(a: Figures, b: Figures): Figures {
  return {
    kills: a.kills + b.kills,
    sessions: a.sessions + b.sessions,
    frames: a.frames + b.frames,
    tools: a.tools + b.tools,
    resumedRequests: a.resumedRequests + b.resumedRequests,
    interruptedTools: a.interruptedTools + b.interruptedTools,
  };
}

/** After so many frames that a reader received, or so many milliseconds, whichever is first. */
interface Moment {
  readonly frames: number;
  readonly ms: number;
}

/** A slow machine gets as far as a quick one when frames are counted; time hits what leaves no frames. */
function toMoment(random: RandomText): Moment {
  return random.below(3) === 0 ? { frames: Infinity, ms: random.below(200) } : { frames: random.below(250), ms: 3_000 };
}

/** One database, the traces of the tools that ran for it, and what readers were shown of it. */
class CrashSite {
  readonly #path: string;
  readonly #traces: string;
  /** The digest of every frame that a reader has received, by session and seq. */
  readonly #seen = new Map<string, Map<number, string>>();
  #kills = 0;

  constructor(path: string) {
    this.#path = `${path}.db`;
    this.#traces = `${path}.traces`;
  }

  /** Starts a process on it. With a moment it is killed then, counted from when it was ready. */
  async run(mode: 'live' | 'settle', seed: number, moment?: Moment): Promise<void> {
    const program = [join(codeFolder, 'host.mjs'), this.#path, this.#traces, String(seed), mode];
    const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let complaints = '';
    let lines = 0;
    let timer: NodeJS.Timeout | undefined;
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (moment === undefined || !output.includes('ready\n')) return;
      timer ??= setTimeout(() => child.kill('SIGKILL'), moment.ms);
      lines += text.split('\n').length - 1;
      if (lines >= moment.frames) child.kill('SIGKILL');
    });
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
      child.on('close', (...ending) => resolve(ending));
    });
    clearTimeout(timer);
    if (moment !== undefined) this.#kills++;
    const ending = moment === undefined ? [0, null, ''] : [null, 'SIGKILL', ''];
    expect([code, signal, complaints.replace(/.*ExperimentalWarning[^]*/, '')]).toEqual(ending);
    // The last line may be cut.
    for (const line of output.split('\n').slice(0, -1)) this.#remember(line);
  }

  /** What is wrong with what the dead process has left. */
  async check(): Promise<string[]> {
    return await this.#open(async (store, database) => {
      const problems: string[] = [];
      const integrity = database.prepare<{ integrity_check: string }>('PRAGMA integrity_check').get();
      if (integrity?.integrity_check !== 'ok') problems.push(JSON.stringify(integrity));
      for (const sessionId of await listSessions(store)) {
        problems.push(...(await findSessionProblems(store, { workspaceId, sessionId })));
        problems.push(...(await this.#findLost(store, sessionId)), ...(await findIntruders(store, sessionId)));
      }
      return [...problems, ...(await this.#findWrongRuns(store))];
    });
  }

  async checkRest(): Promise<string[]> {
    return await this.#open(async (store) => {
      const all = (await listSessions(store)).map((sessionId) => findUnsettled(store, { workspaceId, sessionId }));
      const { items: asks } = await store.approvals.list({ workspaceId, isPending: true, limit: 1_000 });
      return [...(await Promise.all(all)).flat(), ...asks.map(({ id }) => `${id} was not answered`)];
    });
  }

  async count(): Promise<Figures> {
    return await this.#open(async (store) => {
      const sessionIds = await listSessions(store);
      const frames = (await Promise.all(sessionIds.map((id) => readFrames(store, id)))).flat();
      return {
        kills: this.#kills,
        sessions: sessionIds.length,
        frames: frames.length,
        tools: this.#readTraces('begin').length,
        resumedRequests: frames.filter(isResumption).length,
        interruptedTools: frames.filter(({ type, payload }) => type === 'agent.tool_result' && payload.is_interrupted)
          .length,
      };
    });
  }

  #remember(line: string): void {
    if (line === 'ready') return;
    const [sessionId = '', seq = '', digest = ''] = line.split(' ');
    const known = this.#seen.get(sessionId) ?? new Map<number, string>();
    this.#seen.set(sessionId, known);
    // A reader must receive the same frames after a restart.
    expect(known.get(Number(seq)) ?? digest).toBe(digest);
    known.set(Number(seq), digest);
  }

  async #findLost(store: Store, sessionId: string): Promise<string[]> {
    const entries = await store.read({ sessionId, after: 0, entriesMax: Infinity, bytesMax: Infinity });
    const kept = new Map(entries.map((entry) => [entry.seq, 'bytes' in entry ? digestOf(entry.bytes) : '']));
    const lost = [...(this.#seen.get(sessionId) ?? [])].filter(([seq, digest]) => kept.get(seq) !== digest);
    return lost.map(([seq]) => `a reader received frame ${seq} of ${sessionId}, which is missing`);
  }

  /** Every tool call ran at most once, and every logged success really ran. */
  async #findWrongRuns(store: Store): Promise<string[]> {
    const frames = (await Promise.all((await listSessions(store)).map((id) => readFrames(store, id)))).flat();
    const started = new Set(
      frames.flatMap(({ type, payload }) => (type === 'tool.started' ? [payload.tool_use_id] : [])),
    );
    const tokens = new Map<string, string>();
    for (const { type, payload } of frames) {
      // The scripts give every call of a tool a token.
      if (type === 'agent.tool_use' && payload.kind === 'builtin')
        tokens.set((payload.input as { token: string }).token, payload.id);
    }
    const begun = this.#readTraces('begin');
    const twice = begun.filter((token, index) => begun.indexOf(token) !== index);
    const unmeant = begun.filter((token) => !started.has(tokens.get(token) ?? ''));
    const ended = new Set(this.#readTraces('end').map((token) => tokens.get(token)));
    const invented = frames.flatMap(({ type, payload }) => {
      const isDone = type === 'agent.tool_result' && !payload.is_error && started.has(payload.tool_use_id);
      return isDone && [...tokens.values()].includes(payload.tool_use_id) && !ended.has(payload.tool_use_id)
        ? [payload.tool_use_id]
        : [];
    });
    return [
      ...twice.map((token) => `${token} was run twice`),
      ...unmeant.map((token) => `${token} was run before that was written down`),
      ...invented.map((id) => `${id} has a result and did not end`),
    ];
  }

  #readTraces(word: 'begin' | 'end'): string[] {
    if (!existsSync(this.#traces)) return [];
    const lines = readFileSync(this.#traces, 'utf8').split('\n');
    return lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  }

  async #open<Result>(look: (store: Store, database: Database) => Promise<Result>): Promise<Result> {
    const database = await Database.open(this.#path);
    const store = createSqliteStore(database);
    try {
      return await look(store, database);
    } finally {
      await store.close();
    }
  }
}

function isResumption({ type, payload }: SessionFrame): boolean {
  return type === 'session.error' && payload.error.message.includes('restarted');
}

/** The dead one cannot come back: what it would write with its number is refused. */
async function findIntruders(store: Store, sessionId: string): Promise<string[]> {
  const lease = await store.leases.acquire({ sessionId, owner: 'next', ttlMs: 1_000 });
  if (!lease.ok) return [`${sessionId} still belongs to ${lease.owner}`];
  const frame = encodeFrame({ threadId: null, turn: null, time: 0, type: 'session.error', payload: {} });
  const write = { type: 'append', sessionId, fence: lease.fence - 1, frames: [frame], changes: [] } as const;
  const [outcome] = await store.commit([write]);
  await store.leases.release({ sessionId, fence: lease.fence });
  return outcome?.ok === false && outcome.error.code === 'stale_owner'
    ? []
    : [`${sessionId} was written by a dead owner`];
}

async function listSessions(store: Store): Promise<string[]> {
  return (await store.sessions.list({ workspaceId, limit: 1_000 })).items.map(({ id }) => id);
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha1').update(bytes).digest('base64url');
}
