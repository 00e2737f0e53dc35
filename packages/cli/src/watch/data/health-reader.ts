import type { SessionHealth } from '@fleetloom/protocol/fleet';
import type { ServerApi } from '../../connection/server-api.ts';
import type { Io } from '../../base/io.ts';
import { limits } from '../../base/limits.ts';
import type { WatchModel } from '../state/watch-model.ts';

/** Requests the health of stalled threads, only while one is visible, and rate-limited. */
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

  /** Call before every redraw. */
  look(): void {
    const nowMs = this.#io.timers.now();
    if (!this.#isWanted(nowMs)) {
      // Health of an earlier stall is outdated.
      this.#model.health = undefined;
      return;
    }
    if (nowMs - this.#askedAtMs < limits.healthMsMin) return;
    this.#askedAtMs = nowMs;
    this.#read().catch(() => undefined);
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

  async #read(): Promise<void> {
    const health = await readHealth(this.#api, this.#model.sessionId);
    if (this.#isStopped) return;
    this.#model.health = health;
    this.#onChange();
  }
}

/** If the request fails, the state from events is shown. */
export async function readHealth(api: ServerApi, sessionId: string): Promise<SessionHealth | undefined> {
  const path = `/v1/sessions/${encodeURIComponent(sessionId)}/health`;
  return await api.get<SessionHealth>(path).catch(() => undefined);
}
