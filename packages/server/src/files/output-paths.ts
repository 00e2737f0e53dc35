import { fileLimits } from './limits.ts';

/**
 * The paths of outputs by their ids. The path of an id never changes, so an entry is never wrong, also when the file is gone.
 * The entries that were used longest ago are dropped first.
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

/** Two bytes for a character, and what an entry takes besides. */
function sizeOf(id: string, path: string): number {
  return 2 * (id.length + path.length) + 100;
}
