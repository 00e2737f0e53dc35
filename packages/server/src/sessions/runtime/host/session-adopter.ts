import { sessionLimits } from '../../core/limits.ts';
import type { ResolvedHostOptions } from './host-options.ts';
import type { HostedSessions } from './hosted-sessions.ts';
import type { ProblemReporter } from './problem-reporter.ts';

/** What a session adopter needs. */
export interface SessionAdopterOptions extends ResolvedHostOptions {
  readonly sessions: HostedSessions;
  readonly reporter: ProblemReporter;
  /** Opens the session and applies its pending inputs. */
  readonly applyInputs: (sessionId: string) => Promise<unknown>;
}

/** Counts of sessions with work to do and without an owner, as far as one search finds them. */
export interface AdopterFigures {
  readonly withoutOwner: number;
  /** Sessions whose workspace is on another node. */
  readonly waitingForNode: number;
}

/** Takes over sessions that have work to do and no owner: new ones, and those of a process that died. */
export class SessionAdopter {
  readonly #options: SessionAdopterOptions;
  #figures: AdopterFigures = { withoutOwner: 0, waitingForNode: 0 };

  constructor(options: SessionAdopterOptions) {
    this.#options = options;
  }

  /** The counts of the last search. */
  get figures(): AdopterFigures {
    return this.#figures;
  }

  /**
   * Opens sessions without an owner. Where several nodes search at the same time, each takes a random share; sessions that no
   * node took are found again at the next tick.
   */
  async adopt(tick: number): Promise<void> {
    const { store, shared, random, sessions } = this.#options;
    await this.#adoptOpenPrograms(tick);
    if (shared === undefined) {
      const orphans = await store.leases.findOrphans(sessionLimits.orphansTakenMax);
      this.#figures = { withoutOwner: orphans.length, waitingForNode: 0 };
      for (const sessionId of orphans) this.#adoptInBackground(sessionId);
      return;
    }
    const found = await store.leases.findOrphans(sessionLimits.sharedOrphansMax);
    // Sessions that wait for their node must not hide other sessions from the search.
    sessions.remoteWorkspaces.expire();
    const orphans = found.filter((sessionId) => !sessions.remoteWorkspaces.has(sessionId));
    this.#figures = { withoutOwner: found.length, waitingForNode: found.length - orphans.length };
    const share = Math.min(sessionLimits.orphansTakenMax, Math.ceil(orphans.length / (shared.countNodes?.() ?? 1)));
    for (const sessionId of shuffle(orphans, random).slice(0, share)) this.#adoptInBackground(sessionId);
  }

  /**
   * Adopts sessions that another process left idle while their program had work in progress. The list of orphans does not have
   * them, and until they are recovered their approvals look open.
   */
  async #adoptOpenPrograms(tick: number): Promise<void> {
    const { shared, sessions, reporter } = this.#options;
    const { openPrograms, remoteWorkspaces } = sessions;
    if (shared !== undefined && tick % sessionLimits.sharedPollTicks === 0) await openPrograms.load();
    for (const sessionId of openPrograms.left) {
      if (sessions.has(sessionId)) openPrograms.left.delete(sessionId);
      else if (!remoteWorkspaces.has(sessionId)) reporter.watch(sessionId, this.#adoptProgram(sessionId));
    }
  }

  async #adoptProgram(sessionId: string): Promise<void> {
    const { store, sessions } = this.#options;
    const isThere = (await store.heads([sessionId])).has(sessionId);
    if (!isThere) return sessions.openPrograms.remove(sessionId);
    if ((await store.leases.findOwner(sessionId)) === undefined) await this.#adoptOne(sessionId);
  }

  #adoptInBackground(sessionId: string): void {
    this.#options.reporter.watch(sessionId, this.#adoptOne(sessionId));
  }

  async #adoptOne(sessionId: string): Promise<void> {
    const { sessions, applyInputs } = this.#options;
    await applyInputs(sessionId);
    const hosted = await sessions.get(sessionId);
    // An imported session belongs to the client that imports it. It was opened to end its turns, and is idle now.
    if (hosted?.actor.state.created.is_read_only === true) await sessions.release(sessionId);
  }
}

function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
