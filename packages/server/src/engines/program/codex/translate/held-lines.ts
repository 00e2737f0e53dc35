import { jsonBytesAtLeast } from '../../../../base/json/json-bytes.ts';
import { RecentMap } from '../../../../base/collections/recent-map.ts';
import type { RpcLine } from '../../lines/json-rpc-line.ts';
import { programLimits } from '../../limits.ts';

/**
 * Lines of threads that are not known yet. Codex does not announce sub-agents: the item that names the parent may come after the first
 * lines of the sub-agent itself.
 */
export class HeldLines {
  readonly #linesMax: number;
  readonly #charsMax: number;
  readonly #lines = new Map<string, RpcLine[]>();
  readonly #cut = new RecentMap<true>({ entriesMax: programLimits.programKeptNamesMax });
  #count = 0;
  #chars = 0;

  constructor(linesMax: number, charsMax: number = programLimits.programKeptCharsMax) {
    this.#linesMax = linesMax;
    this.#charsMax = charsMax;
  }

  add(threadId: string, line: RpcLine): void {
    const chars = charsOf(line);
    if (this.#count >= this.#linesMax || this.#chars + chars > this.#charsMax) return this.#cut.set(threadId, true);
    this.#count++;
    this.#chars += chars;
    const held = this.#lines.get(threadId);
    if (held === undefined) this.#lines.set(threadId, [line]);
    else held.push(line);
  }

  /** Removes and returns the lines of a thread that is known now. `isCut`: some lines were not kept. */
  take(threadId: string): { readonly lines: readonly RpcLine[]; readonly isCut: boolean } {
    const lines = this.#lines.get(threadId) ?? [];
    this.#lines.delete(threadId);
    this.#count -= lines.length;
    for (const line of lines) this.#chars -= charsOf(line);
    return { lines, isCut: this.#cut.delete(threadId) };
  }
}

function charsOf(line: RpcLine): number {
  return line.type === 'response' ? 0 : jsonBytesAtLeast(line.params);
}
