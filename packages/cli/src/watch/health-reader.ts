import type { SessionHealth } from '@fleetloom/protocol/fleet';
import type { ServerApi } from '../connection/server-api.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import type { WatchModel } from './watch-model.ts';

/** Asks the server what it knows of threads that are stalled: only while one is on the screen, and now and then. */
export class HealthReader {
  readonly #io: Io;
  readonly #api: ServerApi;
  readonly #model: WatchModel;
  readonly #onChange: () => void;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(io: Io, api: ServerApi, model: WatchModel, onChange: () => void) {
    this.#io = io;
    this.#api = api;
    this.#model = model;
    this.#onChange = onChange;
  }

  /** To be called often. */
  look(): void {
    const nowMs = this.#io.timers.now();
    if (!this.#isWanted(nowMs)) {
      // What was so a while ago says nothing about the next time.
      this.#model.health = undefined;
      return;
    }
    if (nowMs - this.#askedAtMs < limits.healthMsMin) return;
    this.#askedAtMs = nowMs;
    this.#ask().catch(() => undefined);
  }

  stop(): void {
    this.#isStopped = true;
  }

  #isWanted(nowMs: number): boolean {
    const { link, page, replay } = this.#model;
    return (
      link === 'live' && page === 'threads' && replay === undefined && this.#model.hasStalled(this.#model.timeOf(nowMs))
    );
  }

  async #ask(): Promise<void> {
    const health = await readHealth(this.#api, this.#model.sessionId);
    if (this.#isStopped) return;
    this.#model.health = health;
    this.#onChange();
  }
}

/** A server that cannot tell it leaves what events say. */
export async function readHealth(api: ServerApi, sessionId: string): Promise<SessionHealth | undefined> {
  const path = `/v1/sessions/${encodeURIComponent(sessionId)}/health`;
  return await api.get<SessionHealth>(path).catch(() => undefined);
}
