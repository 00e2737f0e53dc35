import { snapshotLimits } from './limits.ts';
import type { BytePath } from './path-text.ts';
import type { FileMode } from './tree-objects.ts';

/**
 * Whether a path can be in a snapshot. Git cannot have a `.git`, in any case of its letters, below a tree, nor a `.gitmodules`
 * that is a link; and `.fleetloom` has files of the server. Directories are opened one in another, so their depth is limited.
 */
export function isRecordable(path: BytePath, mode?: FileMode): boolean {
  const names = path.split('/');
  if (names.length > snapshotLimits.pathDepthMax + 1) return false;
  if (names[0] === '.fleetloom') return false;
  if (names.some((name) => name === '' || name === '.' || name === '..' || name.toLowerCase() === '.git')) return false;
  return mode !== '120000' || !names.some((name) => name.toLowerCase() === '.gitmodules');
}
