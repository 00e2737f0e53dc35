import type { ServerApi } from '../../connection/server-api.ts';
import type { Io } from '../../base/io.ts';
import { limits } from '../../base/limits.ts';
import { readFacts } from '../state/session-facts.ts';
import type { WatchModel } from '../state/watch-model.ts';

/** Reads session facts that are not on the stream, on request, one request at a time and rate-limited. */
export class FactsReader {
  readonly #io: Io;
  readonly #api: ServerApi;
  readonly #model: WatchModel;
  readonly #onChange: () => void;
  #cancel: (() => void) | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(io: Io, api: ServerApi, model: WatchModel, onChange: () => void) {
    this.#io = io;
    this.#api = api;
    this.#model = model;
    this.#onChange = onChange;
  }

  read(): void {
    if (this.#cancel !== undefined || this.#isStopped) return;
    const waitMs = Math.max(0, this.#readAtMs + limits.factsMsMin - this.#io.timers.now());
    this.#cancel = this.#io.timers.after(waitMs, () => {
      this.#readNow().catch(() => undefined);
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  async #readNow(): Promise<void> {
    this.#cancel = undefined;
    this.#readAtMs = this.#io.timers.now();
    // The stream reports problems of the server as well, and the next new thread triggers another attempt.
    const facts = await readFacts(this.#api, this.#model.sessionId).catch(() => undefined);
    if (facts === undefined || this.#isStopped) return;
    this.#model.facts = facts;
    this.#onChange();
  }
}
