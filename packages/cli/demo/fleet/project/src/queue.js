import { systemClock } from './clock.js';
import { retryDelay } from './retry.js';
import { MemoryStore } from './store.js';

/** Jobs in the order in which they are due. */
export class Queue {
  constructor({ retries = 3, clock = systemClock, store = new MemoryStore() } = {}) {
    this.retries = retries;
    this.clock = clock;
    this.store = store;
  }

  add(name, data, { delay = 0 } = {}) {
    const job = { id: this.store.nextId(), name, data, attempts: 0, dueAt: this.clock.now() + delay };
    this.store.put(job);
    return job.id;
  }

  /** Runs everything that is due, and what is added meanwhile. */
  async drain(handler) {
    for (let job = this.store.takeDue(this.clock.now()); job; job = this.store.takeDue(this.clock.now())) {
      try {
        await handler(job);
      } catch (error) {
        this.#retry(job, error);
      }
    }
  }

  // TODO: report when a job is given up; today it just disappears.
  #retry(job, error) {
    const attempts = job.attempts + 1;
    if (attempts > this.retries) return;
    this.store.put({ ...job, attempts, error: String(error), dueAt: this.clock.now() + retryDelay(attempts) });
  }
}
