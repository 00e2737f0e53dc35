import { readPages } from '../../../store/read-pages.ts';
import { storeLimits } from '../../../store/limits.ts';
import type { Documents } from '../../../store/store.ts';

/** The kind of the documents that are the marks. */
export const OPEN_PROGRAM = 'open_program';

/**
 * Marks in the store for sessions whose program is open in a process. A process that dies leaves its marks behind: that is
 * how the next one finds idle sessions with approvals or background work of a program that no longer exists.
 */
export class OpenPrograms {
  /** Sessions that were marked at the last query of this process, and that it has not opened since. */
  readonly left = new Set<string>();
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async load(): Promise<void> {
    const request = { kind: OPEN_PROGRAM, order: 'asc', limit: storeLimits.pageItemsMax } as const;
    for await (const sessions of readPages((from) => this.#documents.list({ ...request, ...from }))) {
      for (const { id } of sessions) this.left.add(id);
    }
  }

  async add(sessionId: string): Promise<void> {
    this.left.delete(sessionId);
    await this.#documents.put({ kind: OPEN_PROGRAM, id: sessionId, data: {} });
  }

  /** Marks a session whose program runs for a client, outside of the server: the session is opened when its lease is free. */
  async addElsewhere(sessionId: string): Promise<void> {
    if (this.left.has(sessionId)) return;
    await this.add(sessionId);
    this.left.add(sessionId);
  }

  async remove(sessionId: string): Promise<void> {
    this.left.delete(sessionId);
    await this.#documents.delete(OPEN_PROGRAM, sessionId);
  }
}
