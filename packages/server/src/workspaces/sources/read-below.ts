import { HeldPaths } from '../snapshots/held-path.ts';
import { toBytePath } from '../snapshots/objects/path-text.ts';

/**
 * Reads a file below a directory. Undefined if it does not exist, is too large, unreadable or not a file, or if a link is on
 * the path. Does not wait for a pipe.
 */
export async function readBelow(root: string, path: string, bytesMax: number): Promise<Buffer | undefined> {
  const held = new HeldPaths(root);
  try {
    const found = await held.read(toBytePath(path), bytesMax);
    return found.type === 'file' ? found.content : undefined;
  } finally {
    await held.close();
  }
}
