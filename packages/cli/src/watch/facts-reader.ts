import type { ServerApi } from '../connection/server-api.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { readFacts } from './session-facts.ts';
import type { WatchModel } from './watch-model.ts';

/** Reads what the stream does not tell, soon after it was asked to and never twice at once or in quick succession. */
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
    // Whatever is wrong with the server, the stream tells it too, and these are looked for again with the next thread.
    const facts = await readFacts(this.#api, this.#model.sessionId).catch(() => undefined);
    if (facts === undefined || this.#isStopped) return;
    this.#model.facts = facts;
    this.#onChange();
  }
}
