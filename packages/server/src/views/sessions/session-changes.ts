import { type SessionsChanged, sessionStateAt } from '@fleetloom/protocol/fleet';
import { encodeEvent } from '@fleetloom/protocol/sse';
import type { Clock } from '../../base/clock.ts';
import { inBackground } from '../../base/in-background.ts';
import type { Cancel, Schedule } from '../../base/schedule.ts';
import type { Store } from '../../store/store.ts';
import type { SummaryRecord } from '../../store/summaries.ts';
import { viewLimits } from '../limits.ts';
import { toStateCounts } from './list-fleet-sessions.ts';
import { toFleetSession } from './to-fleet-session.ts';

/** What changes are read from. */
export interface SessionChangesOptions {
  readonly store: Pick<Store, 'summaries' | 'subscribe'>;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly onError: (error: unknown) => void;
  /** Rows that are remembered. */
  readonly knownRowsMax?: number;
}

type Send = (bytes: Uint8Array) => unknown;

/**
 * Emits the rows of sessions that changed, and the counts of all sessions, to the readers of a workspace. All readers of a workspace
 * share the work: changes of half a second are read with one query.
 */
export class SessionChanges {
  readonly #options: SessionChangesOptions;
  readonly #readers = new Map<string, Set<Send>>();
  /** Sessions whose frames changed, or that were deleted, since the last look. */
  readonly #changed = new Set<string>();
  /** The rows as they were last emitted, to recognise those that did not change, and when each becomes stalled. */
  readonly #known = new Map<string, { readonly text: string; readonly summary: SummaryRecord }>();
  #hasDeleted = false;
  #unsubscribe: (() => void) | undefined;
  #cancel: Cancel | undefined;
  #cancelStall: Cancel = () => {};

  constructor(options: SessionChangesOptions) {
    this.#options = options;
  }

  /** Emits to a reader until the returned function is called. */
  subscribe(workspaceId: string, send: Send): () => void {
    const readers = this.#readers.get(workspaceId) ?? new Set();
    this.#readers.set(workspaceId, readers.add(send));
    this.#unsubscribe ??= this.#options.store.subscribe((signals) => {
      for (const { type, sessionId } of signals) {
        if (type !== 'frames' && type !== 'deleted') continue;
        this.#hasDeleted ||= type === 'deleted';
        this.#changed.add(sessionId);
      }
      if (this.#changed.size > 0) this.#lookLater();
    });
    inBackground(this.#learn(workspaceId), this.#options.onError);
    return () => {
      readers.delete(send);
      if (readers.size === 0) this.#readers.delete(workspaceId);
      if (this.#readers.size === 0) this.#stop();
    };
  }

  #stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#cancelStall();
    this.#changed.clear();
    this.#known.clear();
  }

  /** Sessions that run without a sound may stall, and emit nothing then. */
  async #learn(workspaceId: string): Promise<void> {
    const { store, clock } = this.#options;
    const order = {
      sort: 'activity',
      order: 'desc',
      limit: viewLimits.changedRowsMax,
      includesArchived: false,
    } as const;
    const request = { workspaceId, now: clock.now(), states: ['running'] as const, ...order };
    for (const summary of (await store.summaries.list(request)).items) {
      if (!this.#known.has(summary.sessionId)) this.#know(summary, clock.now());
    }
    this.#waitForStall();
  }

  #lookLater(): void {
    this.#cancel ??= this.#options.schedule(() => {
      this.#cancel = undefined;
      inBackground(this.#look(), this.#options.onError);
    }, viewLimits.sessionChangesMs);
  }

  async #look(): Promise<void> {
    const ids = [...this.#changed].slice(0, viewLimits.changedRowsMax);
    for (const id of ids) this.#changed.delete(id);
    const hasDeleted = this.#hasDeleted;
    this.#hasDeleted = false;
    for (const workspaceId of this.#readers.keys()) await this.#emit(workspaceId, ids, hasDeleted);
    this.#forgetOldest();
    this.#waitForStall();
    if (this.#changed.size > 0 && this.#readers.size > 0) this.#lookLater();
  }

  async #emit(workspaceId: string, ids: readonly string[], hasDeleted: boolean): Promise<void> {
    const { store, clock } = this.#options;
    const found = await store.summaries.getAll(workspaceId, ids);
    const now = clock.now();
    const sessions = found.filter((summary) => this.#know(summary, now)).map((summary) => toFleetSession(summary, now));
    if (sessions.length === 0 && !hasDeleted) return;
    const order = { sort: 'activity', order: 'desc', limit: 1, includesArchived: true } as const;
    const { groups } = await store.summaries.list({ workspaceId, now, ...order });
    const rows = { sessions, counts: toStateCounts(groups) } satisfies Pick<SessionsChanged, 'sessions' | 'counts'>;
    // Without an id, and with no cursor in place of the last one: a reader resumes from the events of sessions.
    const data = { cursor: '', ...rows };
    const bytes = Buffer.from(encodeEvent({ event: 'sessions_changed', data: JSON.stringify(data) }));
    for (const send of this.#readers.get(workspaceId) ?? []) send(bytes);
  }

  /** Whether the row differs from the one that was emitted last. Deltas are frames too, and change no row. */
  #know(summary: SummaryRecord, now: number): boolean {
    const text = JSON.stringify([summary, sessionStateAt(summary.state, summary.stallsAt, now)]);
    const isSame = this.#known.get(summary.sessionId)?.text === text;
    this.#known.delete(summary.sessionId);
    this.#known.set(summary.sessionId, { text, summary });
    return !isSame;
  }

  #forgetOldest(): void {
    const { knownRowsMax = viewLimits.knownRowsMax } = this.#options;
    for (const id of this.#known.keys()) {
      if (this.#known.size <= knownRowsMax) return;
      this.#known.delete(id);
    }
  }

  /** The next session that stalls, unless a frame of it arrives: no signal announces that. */
  #waitForStall(): void {
    this.#cancelStall();
    const now = this.#options.clock.now();
    const next = Math.min(...[...this.#known.values()].map(({ summary }) => stallOf(summary, now)));
    if (this.#readers.size === 0 || !Number.isFinite(next)) return;
    this.#cancelStall = this.#options.schedule(() => {
      for (const [id, { summary }] of this.#known) if (stallOf(summary, now) <= next) this.#changed.add(id);
      this.#lookLater();
    }, next - now);
  }
}

function stallOf({ state, stallsAt }: SummaryRecord, now: number): number {
  return state === 'running' && stallsAt !== null && stallsAt > now ? stallsAt : Number.POSITIVE_INFINITY;
}
