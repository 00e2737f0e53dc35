import type { RpcLine } from '../../lines/json-rpc-line.ts';

/**
 * Lines of threads that are not known yet. Codex announces no sub-agent: the item that names its parent may come after the first
 * lines of the sub-agent itself.
 */
export class HeldLines {
  readonly #linesMax: number;
  readonly #lines = new Map<string, RpcLine[]>();
  readonly #cut = new Set<string>();
  #count = 0;

  constructor(linesMax: number) {
    this.#linesMax = linesMax;
  }

  add(threadId: string, line: RpcLine): void {
    if (this.#count >= this.#linesMax) return void this.#cut.add(threadId);
    this.#count++;
    const held = this.#lines.get(threadId);
    if (held === undefined) this.#lines.set(threadId, [line]);
    else held.push(line);
  }

  /** The lines of a thread that is known now. `isCut`: some were not kept. */
  take(threadId: string): { readonly lines: readonly RpcLine[]; readonly isCut: boolean } {
    const lines = this.#lines.get(threadId) ?? [];
    this.#lines.delete(threadId);
    this.#count -= lines.length;
    return { lines, isCut: this.#cut.delete(threadId) };
  }
}
