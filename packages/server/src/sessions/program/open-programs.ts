import { limits } from '../../base/limits.ts';
import type { Documents } from '../../store/store.ts';

/** The kind of their documents. */
export const OPEN_PROGRAM = 'open_program';

/**
 * Marks in the store for sessions whose program is open in a process. A process that dies leaves its marks behind: that is
 * how the next one finds idle sessions with approvals or background work of a program that no longer exists.
 */
export class OpenPrograms {
  /** Sessions that were marked when this process last looked, and that it has not opened since. */
  readonly left = new Set<string>();
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async load(): Promise<void> {
    let cursor: string | null = null;
    do {
      const from: { cursor?: string } = cursor === null ? {} : { cursor };
      const page = await this.#documents.list({
        kind: OPEN_PROGRAM,
        order: 'asc',
        limit: limits.pageItemsMax,
        ...from,
      });
      for (const { id } of page.items) this.left.add(id);
      cursor = page.next;
    } while (cursor !== null);
  }

  async add(sessionId: string): Promise<void> {
    this.left.delete(sessionId);
    await this.#documents.put({ kind: OPEN_PROGRAM, id: sessionId, data: {} });
  }

  async remove(sessionId: string): Promise<void> {
    this.left.delete(sessionId);
    await this.#documents.delete(OPEN_PROGRAM, sessionId);
  }
}
