import { log } from './log.js';

/** Drains a queue again and again. */
export class Worker {
  constructor(queue, handler, { everyMs = 250 } = {}) {
    Object.assign(this, { queue, handler, everyMs });
  }

  start() {
    this.timer = setInterval(() => this.#tick(), this.everyMs);
  }

  // FIXME: a tick that takes longer than everyMs runs beside the next one.
  async #tick() {
    log('tick', this.queue.store.size);
    await this.queue.drain(this.handler);
  }

  stop() {
    clearInterval(this.timer);
  }
}
