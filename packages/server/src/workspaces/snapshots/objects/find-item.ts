import { MissingObject } from './missing-object.ts';
import type { BytePath } from './path-text.ts';
import type { SnapshotRepository } from './snapshot-repository.ts';
import { parseTree, TREE_MODE, type TreeItem } from './tree-objects.ts';

/** The item of a tree at a path. Throws a `MissingObject` if one of the trees on the way does not exist. */
export async function findItem(
  repository: SnapshotRepository,
  tree: string,
  path: BytePath,
): Promise<TreeItem | undefined> {
  let item: TreeItem | undefined = { mode: TREE_MODE, object: tree };
  for (const name of path.split('/')) {
    if (item?.mode !== TREE_MODE) return undefined;
    const [found] = await repository.read([item.object]);
    if (found === undefined) throw new MissingObject(item.object);
    item = parseTree(found.content, repository.format).get(name);
  }
  return item;
}
