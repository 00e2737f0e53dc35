/** Keeps jobs in memory, the one that is due first in front. */
export class MemoryStore {
  #jobs = [];
  #last = 0;

  nextId() {
    this.#last += 1;
    return this.#last;
  }

  put(job) {
    this.#jobs.push(job);
    this.#jobs.sort((a, b) => a.dueAt - b.dueAt);
  }

  takeDue(now) {
    if (this.#jobs.length === 0 || this.#jobs[0].dueAt > now) return undefined;
    return this.#jobs.shift();
  }

  get size() {
    return this.#jobs.length;
  }
}
