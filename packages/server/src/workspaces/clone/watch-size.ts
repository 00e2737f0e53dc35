import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { inBackground } from '../../base/in-background.ts';

/** Calls `onOver` when the files below a directory have more than `bytesMax`. Returns a function that ends the watch. */
export function watchSize(
  directory: string,
  { bytesMax, lookMs, onOver }: { readonly bytesMax: number; readonly lookMs: number; readonly onOver: () => void },
): () => void {
  const stop = new AbortController();
  const watch = async () => {
    for (;;) {
      const begin = performance.now();
      if ((await measure(directory, bytesMax)) > bytesMax) return onOver();
      // A tree of very many files is measured less often, so that measuring costs at most a fifth of a core.
      await wait(Math.max(lookMs, 4 * (performance.now() - begin)), undefined, { signal: stop.signal, ref: false });
    }
  };
  // The watch ends by the abort of its wait.
  inBackground(watch(), () => undefined);
  return () => stop.abort();
}

/** The bytes of all files below a directory. Stops counting once they exceed `bytesMax`. */
export async function measure(directory: string, bytesMax: number): Promise<number> {
  let bytes = 0;
  const open = [directory];
  for (let path = open.pop(); path !== undefined && bytes <= bytesMax; path = open.pop()) {
    const parent = path;
    // Errors are ignored, because git creates and removes files in the meantime.
    for (const entry of await readdir(parent, { withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory()) open.push(join(parent, entry.name));
      else bytes += (await lstat(join(parent, entry.name)).catch(() => undefined))?.size ?? 0;
    }
  }
  return bytes;
}
