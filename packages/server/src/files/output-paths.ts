import { fileLimits } from './limits.ts';

/**
 * A cache of the paths of outputs, by id. The path of an id never changes, so an entry stays correct even after its file is deleted.
 * The least recently used entries are dropped first.
 */
export class OutputPaths {
  readonly #paths = new Map<string, string>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number = fileLimits.outputPathsBytesMax) {
    this.#bytesMax = bytesMax;
  }

  get(id: string): string | undefined {
    const path = this.#paths.get(id);
    if (path !== undefined) this.add(id, path);
    return path;
  }

  add(id: string, path: string): void {
    if (this.#paths.delete(id)) this.#bytes -= sizeOf(id, path);
    this.#paths.set(id, path);
    this.#bytes += sizeOf(id, path);
    for (const [oldId, oldPath] of this.#paths) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#paths.delete(oldId);
      this.#bytes -= sizeOf(oldId, oldPath);
    }
  }
}

/** The approximate memory of an entry: two bytes per character, and a fixed overhead. */
function sizeOf(id: string, path: string): number {
  return 2 * (id.length + path.length) + 100;
}
