import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';
import { toPathText } from './objects/path-text.ts';
import type { TreeItem } from './objects/tree-objects.ts';

/** A file of a tree. */
export interface TreeEntry extends TreeItem {
  /** The path as text: see `toPathText`. */
  readonly path: string;
  /** The size; null for a submodule. */
  readonly bytes: number | null;
}

/** The files of a tree, sorted by path. */
export async function* listTree(repository: SnapshotRepository, tree: string): AsyncIterable<TreeEntry> {
  const { stdout } = await repository.run(['ls-tree', '-r', '-l', '-z', '--full-tree', tree]);
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(0, at);
    // The format is `100644 blob <id>    123\tpath`.
    const entry = stdout.toString('latin1', at, end);
    const tab = entry.indexOf('\t');
    const [mode, , object, bytes] = entry.slice(0, tab).split(/ +/) as [TreeItem['mode'], string, string, string];
    yield { path: toPathText(entry.slice(tab + 1)), mode, object, bytes: bytes === '-' ? null : Number(bytes) };
    at = end + 1;
    await yieldToEventLoop();
  }
}
