import { isStoreError } from '../../../store/store-errors.ts';
import { sessionLimits } from '../../core/limits.ts';
import type { SessionState } from '../../core/state/state.ts';
import { contentBytesOf } from '../../core/state/content-bytes.ts';
import { mayRunPrograms } from '../../core/state/program-threads.ts';
import type { SessionActor } from '../actor.ts';
import { type OpenedSession, openSession } from '../open-session.ts';
import { OpenPrograms } from '../program/open-programs.ts';
import type { ResolvedHostOptions } from './host-options.ts';
import { measureSession } from './measure-session.ts';
import { type HeldContent, OpenContent } from './open-content.ts';
import type { ProblemReporter } from './problem-reporter.ts';
import { RemoteWorkspaces } from './remote-workspaces.ts';

/** A session that this process owns. */
export interface HostedSession extends OpenedSession {
  /** When the session was last used, by the steady clock. */
  usedAt: number;
  /** The content of the session in memory. */
  readonly content: HeldContent;
}

/** Counts of the sessions of this process since the start. */
export interface HostedFigures {
  /** Sessions whose lease this process holds. */
  readonly owned: number;
  readonly running: number;
  /** Running sessions that another process owned before, or that this one had lost. */
  readonly takenOver: number;
  /** Sessions that this process lost: with their lease, or because a write failed. */
  readonly lost: Readonly<Record<'lease' | 'failure', number>>;
}

/** The sessions that this process owns or is opening. Each is opened once, however many callers ask for it. */
export class HostedSessions {
  /** Sessions that are open. Leases of these are renewed without waiting for logs that are still being read. */
  readonly ready = new Map<string, HostedSession>();
  readonly remoteWorkspaces: RemoteWorkspaces;
  readonly openPrograms: OpenPrograms;
  readonly #content: OpenContent;
  readonly #options: ResolvedHostOptions;
  readonly #reporter: ProblemReporter;
  /** Sessions that are open or being opened. */
  readonly #hosted = new Map<string, Promise<HostedSession | undefined>>();
  /** Sessions with a frame that no log accepts, and the error, until they are ended for it. */
  readonly #unwritable = new Map<string, string>();
  /** Why this process lost sessions that it owned, until it opens them again. */
  readonly #lostBecause = new Map<string, string>();
  #isClosed = false;
  #takenOver = 0;
  readonly #lost = { lease: 0, failure: 0 };

  constructor(options: ResolvedHostOptions, reporter: ProblemReporter) {
    this.#options = options;
    this.#reporter = reporter;
    this.remoteWorkspaces = new RemoteWorkspaces(options.clock);
    this.openPrograms = new OpenPrograms(options.store.documents);
    this.#content = new OpenContent(options.openBytesMax);
  }

  /** Whether a session waits for memory that other sessions use. */
  get isRoomAwaited(): boolean {
    return this.#content.isAwaited;
  }

  /** Counts of the sessions of this process since the start. */
  get figures(): HostedFigures {
    const open = [...this.ready.values()].filter(({ lease, actor }) => lease.isHeld && !actor.isLost);
    const running = open.filter(({ actor }) => isAtWork(actor.state)).length;
    return { owned: open.length, running, takenOver: this.#takenOver, lost: this.#lost };
  }

  /** The ids of the sessions that are open or being opened. */
  get ids(): readonly string[] {
    return [...this.#hosted.keys()];
  }

  /** Whether the session is open or being opened. */
  has(sessionId: string): boolean {
    return this.#hosted.has(sessionId);
  }

  /** Resolves with the session once it is open; undefined if this process does not own it. */
  async get(sessionId: string): Promise<HostedSession | undefined> {
    return await this.#hosted.get(sessionId);
  }

  /** Opens a session unless it is open. Resolves with undefined if another process owns it, or this one has no room. */
  open(sessionId: string): Promise<HostedSession | undefined> {
    const known = this.#hosted.get(sessionId);
    if (known !== undefined) return known;
    const isFull = this.#options.shared !== undefined && this.#countRoom() <= 0;
    if (this.#isClosed || isFull) return Promise.resolve(undefined);
    const opening = this.#claim(sessionId);
    this.#hosted.set(sessionId, opening);
    const settle = (hosted?: HostedSession) => {
      if (this.#hosted.get(sessionId) !== opening) return;
      if (hosted === undefined) this.#hosted.delete(sessionId);
      else this.ready.set(sessionId, hosted);
    };
    opening.then(settle, () => settle());
    return opening;
  }

  /** Stops the work of a session and releases its lease. */
  async release(sessionId: string): Promise<void> {
    const hosted = await this.#hosted.get(sessionId);
    this.#remove(sessionId);
    if (hosted !== undefined) await this.#end(sessionId, hosted);
  }

  /** Releases an open session in the background. It counts as released when this returns. */
  releaseInBackground(sessionId: string, hosted: HostedSession): void {
    this.#remove(sessionId);
    this.#reporter.watch(sessionId, this.#end(sessionId, hosted));
  }

  /** The lease of the session has expired, or another process has it. */
  dropLost(sessionId: string): void {
    if (this.#hosted.has(sessionId)) this.#lost.lease += 1;
    this.drop(sessionId);
  }

  /** The session is lost or deleted: nothing may be written to it any more. */
  drop(sessionId: string): void {
    if (this.#hosted.has(sessionId)) this.#reporter.watch(sessionId, this.release(sessionId));
  }

  /** Drops a deleted session and all records of it in memory. */
  forgetDeleted(sessionId: string): void {
    this.#unwritable.delete(sessionId);
    this.remoteWorkspaces.delete(sessionId);
    this.#lostBecause.delete(sessionId);
    this.drop(sessionId);
  }

  /** No session is opened after this. Open ones stay until they are released. */
  close(): void {
    this.#isClosed = true;
    this.#content.close();
  }

  #remove(sessionId: string): void {
    this.#hosted.delete(sessionId);
    this.ready.delete(sessionId);
  }

  /** The lease is acquired when there is room for the session: until then another node may take it. */
  async #claim(sessionId: string): Promise<HostedSession | undefined> {
    const content = await this.#content.admit(await measureSession(this.#options.store, sessionId));
    if (content === undefined) return undefined;
    try {
      const hosted = await this.#openWith(sessionId, content);
      if (hosted === undefined) content.release();
      return hosted;
    } catch (error) {
      content.release();
      throw error;
    }
  }

  async #openWith(sessionId: string, content: HeldContent): Promise<HostedSession | undefined> {
    const onProblem = (error: unknown) => this.#reporter.report(sessionId, error);
    const onLost = (error: unknown) => {
      const isTaken = isStoreError(error, 'stale_owner');
      this.#lost[isTaken ? 'lease' : 'failure'] += 1;
      // A session that another process took is recovered there, and that process cannot know why.
      if (!isTaken) this.#lostBecause.set(sessionId, String(error));
      if (isStoreError(error, 'frame_too_large')) this.#unwritable.set(sessionId, error.message);
      this.drop(sessionId);
      onProblem(error);
    };
    const onElsewhere = () => this.remoteWorkspaces.add(sessionId);
    const unwritable = this.#unwritable.get(sessionId);
    const lostBecause = this.#lostBecause.get(sessionId);
    const onRead = (state: SessionState) => {
      if (lostBecause === undefined && isAtWork(state)) this.#takenOver += 1;
    };
    const events = { onLost, onProblem, onElsewhere, onRead, unwritable, lostBecause };
    const opened = await openSession(this.#options, sessionId, events);
    if (opened === undefined) return undefined;
    this.#unwritable.delete(sessionId);
    this.#lostBecause.delete(sessionId);
    const hosted = { ...opened, usedAt: this.#options.clock.steady(), content };
    // The state is smaller than the log if the conversation was compacted.
    content.resize(contentBytesOf(opened.actor.state));
    if (mayHoldPrograms(opened.actor)) await this.#markOpen(sessionId, hosted);
    return hosted;
  }

  /** Before its programs start: a program that the next process cannot find must not run. */
  async #markOpen(sessionId: string, hosted: HostedSession): Promise<void> {
    try {
      await this.openPrograms.add(sessionId);
    } catch (error) {
      await this.#end(sessionId, hosted);
      throw error;
    }
  }

  async #end(sessionId: string, { actor, toolbox, content }: HostedSession): Promise<void> {
    // Work in progress is lost. The mark stays, so that the next process recovers the session and logs the loss.
    const isLeftOpen = actor.hasOpenProgram;
    actor.drop();
    try {
      await actor.ended();
      await toolbox.close();
      if (mayHoldPrograms(actor) && !isLeftOpen) await this.openPrograms.remove(sessionId);
    } finally {
      content.release();
      await this.#options.store.leases.release({ sessionId, fence: actor.fence });
    }
  }

  /** How many more sessions may run here. */
  #countRoom(): number {
    const { busySessionsMax = sessionLimits.busySessionsMax } = this.#options.shared ?? {};
    const opening = this.#hosted.size - this.ready.size;
    const busy = [...this.ready.values()].filter(({ actor }) => actor.isBusy).length;
    return busySessionsMax - busy - opening;
  }
}

function isAtWork({ status }: SessionState): boolean {
  return status === 'running' || status === 'rescheduling';
}

/** Whether programs may run threads of the session here. Imported sessions are read-only. */
function mayHoldPrograms({ state }: SessionActor): boolean {
  return mayRunPrograms(state) && state.created.is_read_only !== true;
}
