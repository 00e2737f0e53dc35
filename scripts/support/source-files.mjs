import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders of generated files. */
const generatedFolders = new Set(['node_modules', 'dist', 'coverage', '.cache', '.git']);

/** All files below a folder as paths relative to `root`, with `/`, sorted. A folder that does not exist is empty. */
export function listFiles(root, folder = '') {
  /** @type {string[]} */
  const files = [];
  visit(folder);
  return files.sort();

  function visit(path) {
    for (const entry of entriesOf(join(root, path))) {
      const child = path === '' ? entry.name : `${path}/${entry.name}`;
      if (!entry.isDirectory()) files.push(child);
      else if (!generatedFolders.has(entry.name)) visit(child);
    }
  }
}

export function isSource(path) {
  return /\.(?:[cm]?ts|tsx|[cm]?js|jsx)$/.test(path);
}

function entriesOf(path) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  }
}
