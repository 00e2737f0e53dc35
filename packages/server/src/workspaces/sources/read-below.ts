import { HeldPaths } from '../snapshots/held-path.ts';
import { toBytePath } from '../snapshots/objects/path-text.ts';

/**
 * Reads a file below a directory. Undefined if there is none, if it is too large, unreadable or not a file, or if a link is on
 * the way. A pipe is not waited for.
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
