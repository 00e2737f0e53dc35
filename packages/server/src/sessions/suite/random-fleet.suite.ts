import type { RandomText } from '../../../../../bench/random-text.ts';
import { createIds } from '../../base/ids.ts';
import type { FrameType } from '../../frames/frames.ts';
import { createLog, type SessionLog } from '../../log/log.ts';
import type { Schedule } from '../../base/schedule.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError } from '../../store/store-errors.ts';
import { createSessions, type Sessions } from '../api/sessions.ts';
import { findSessionProblems } from './check-session.suite.ts';
import { toProgramOf, workspaceId } from './fleet.suite.ts';
import type { WildPrograms } from '../runtime/program/wild-programs.suite.ts';
import { LiveReader } from './live-reader.suite.ts';
import type { VirtualTime } from './virtual-time.suite.ts';
import { createRandomEngine } from './random-engine.suite.ts';
import { createRandomToolbox } from './random-toolbox.suite.ts';

/** What the random fleet needs. */
export interface RandomFleetOptions {
  readonly random: RandomText;
  readonly store: Store;
  readonly time: VirtualTime;
  /** Runs agents whose model names a program. */
  readonly programs?: WildPrograms | undefined;
}

/** Sessions with a random model and random tools on a store, whose process can be stopped, killed and started again. */
export class RandomFleet {
  readonly random: RandomText;
  readonly store: Store;
  readonly time: VirtualTime;
  readonly problems: string[] = [];
  /** What was done, to find out why a run failed. */
  readonly story: string[] = [];
  readonly sessionIds: string[] = [];
  readonly runs = new Map<number, number>();
  /** Everything that has happened. */
  readonly types = new Set<FrameType>();
  readonly #readers: LiveReader[] = [];
  readonly #engine;
  readonly #ids;
  readonly #windowTokens: number;
  readonly #programs: WildPrograms | undefined;
  #host!: { readonly sessions: Sessions; readonly log: SessionLog; isDead: boolean };
  #calls = 0;
  #commits = 0;
  #checked = -1;

  constructor({ random, store, time, programs }: RandomFleetOptions) {
    this.#programs = programs;
    this.random = random;
    this.store = store;
    this.time = time;
    this.#windowTokens = random.pick([1_000_000, 1_000_000, 1_000_000, 1_500]);
    this.#ids = createIds({ now: time.clock.now, random: () => random.next() });
    this.#engine = createRandomEngine({
      random,
      sleep: time.sleep,
      requestsMax: 10 + random.below(50),
      failures: random.pick([0, 10, 25]),
      nextCall: () => this.#calls++,
      onProblem: (problem) => void this.problems.push(problem),
    });
  }

  /** Whether agents may run on programs, which withdraw approvals and end on their own. */
  get hasPrograms(): boolean {
    return this.#programs !== undefined;
  }

  get sessions(): Sessions {
    return this.#host.sessions;
  }

  /** How many writes there were: while the number stays, nothing happens. */
  get commits(): number {
    return this.#commits;
  }

  async start(): Promise<void> {
    const host = { isDead: false };
    const { time, random } = this;
    const store = guard(this.store, {
      isDead: () => host.isDead,
      onCommit: () => this.#commits++,
    });
    const schedule: Schedule = (run, delayMs) => time.schedule(() => host.isDead || run(), delayMs);
    const log = createLog({ store, schedule });
    const onProblem = (problem: string) => void this.problems.push(problem);
    const toolbox = {
      random,
      store: this.store,
      sleep: time.sleep,
      runs: this.runs,
      onProblem,
      isDead: () => host.isDead,
    };
    const sessions = createSessions({
      store,
      log,
      engine: this.#engine,
      programOf: toProgramOf(this.#programs),
      models: { costNanoUsd: () => 1 + random.below(9), windowTokens: () => this.#windowTokens },
      openToolbox: () => createRandomToolbox(toolbox),
      openWorkspace: async () => '/nowhere',
      clock: time.clock,
      ids: this.#ids,
      random: () => random.next(),
      owner: 'random',
      schedule,
      onProblem: (sessionId, error) => this.#hear(sessionId, error),
    });
    this.#host = Object.assign(host, { sessions, log });
    await sessions.start();
    for (const reader of this.#readers) reader.attach(log);
  }

  /** As a server that is asked to stop. */
  async restart(): Promise<void> {
    await this.#host.sessions.close();
    await this.#host.log.close();
    for (const reader of this.#readers) await reader.detach();
    await this.start();
  }

  /** As `kill -9`: nothing of it gets anywhere any more. */
  async kill(): Promise<void> {
    this.#host.isDead = true;
    this.#programs?.killAll();
    for (const reader of this.#readers) await reader.detach();
    await this.start();
  }

  read(sessionId: string, after: number): void {
    const reader = new LiveReader(sessionId, after);
    this.#readers.push(reader);
    reader.attach(this.#host.log);
  }

  /** The problems of all sessions now. Skipped if nothing was written since the last check. */
  async check(): Promise<void> {
    if (this.#checked === this.#commits) return;
    this.#checked = this.#commits;
    for (const sessionId of this.sessionIds) {
      const found = await findSessionProblems(this.store, { workspaceId, sessionId });
      this.problems.push(...found.map((problem) => `${sessionId}: ${problem}`));
    }
  }

  async close(): Promise<void> {
    await this.#host.sessions.close();
    await this.#host.log.close();
    for (const reader of this.#readers) await reader.detach();
    for (const reader of this.#readers) this.problems.push(...(await reader.findProblems(this.store)));
  }

  /** A session is lost only if another process took it, which a test does on purpose. */
  #hear(sessionId: string, error: unknown): void {
    const isStolen = isStoreError(error, 'stale_owner') || isStoreError(error, 'write_skipped');
    if (!isStolen) this.problems.push(`${sessionId}: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

interface Guard {
  readonly isDead: () => boolean;
  readonly onCommit: () => void;
}

/** The store of one process: after its death no call returns. */
function guard<Part extends object>(part: Part, watch: Guard): Part {
  const guarded = Object.entries(part).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'object' && value !== null) return [name, guard(value, watch)];
    if (typeof value !== 'function') return [name, value];
    const call = (...args: unknown[]) => {
      if (watch.isDead()) return new Promise<never>(() => {});
      if (name === 'commit') watch.onCommit();
      return value(...args) as unknown;
    };
    if (name !== 'subscribe') return [name, call];
    const listen = value as Store['subscribe'];
    return [
      name,
      (onSignals: Parameters<Store['subscribe']>[0]) => listen((signals) => watch.isDead() || onSignals(signals)),
    ];
  });
  // The same names with functions of the same types.
  return Object.fromEntries(guarded) as Part;
}
