import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Not import.meta.dirname: an old Node must reach the check of its version.
export const repositoryRoot = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/**
 * The JavaScript file behind a development tool, to be run with this very Node. Not node_modules/.bin: those are shell
 * scripts on Windows, and would pick whichever `node` comes first in PATH.
 */
export function toolPath(packageName, toolName = packageName, root = repositoryRoot) {
  const folder = join(root, 'node_modules', packageName);
  const { bin } = readJson(join(folder, 'package.json'));
  return join(folder, typeof bin === 'string' ? bin : bin[toolName]);
}

export function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
