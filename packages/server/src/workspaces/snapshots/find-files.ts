import { toolLimits } from '../../tools/limits.ts';
import { withResolvedPath } from '../../tools/workspace/resolve-path.ts';
import type { BytePath } from './objects/path-text.ts';

/**
 * The files that a call of `write` or `edit` wrote, as paths in the workspace without links. Undefined if that
 * cannot be determined any more: then the whole workspace has to be recorded.
 */
export async function findFiles(workspace: string, paths: readonly string[]): Promise<BytePath[] | undefined> {
  const files: BytePath[] = [];
  for (const path of paths) {
    const options = { linksMax: toolLimits.fileLinksMax };
    const found = await withResolvedPath(workspace, path, options, async (resolved) => resolved).catch(() => undefined);
    if (found === undefined || found.path === '' || found.stats?.isDirectory()) return undefined;
    files.push(Buffer.from(found.path).toString('latin1'));
  }
  return files;
}
