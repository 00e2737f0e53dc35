import { inSlices, Stride } from '../../../base/in-slices.ts';
import type { NewObject, ObjectRepository } from './object-repository.ts';
import { toObjectId } from './object-format.ts';
import type { BytePath } from './path-text.ts';
import { formatTree, parseTree, SUBMODULE_MODE, TREE_MODE, type TreeItem } from './tree-objects.ts';

/** Changes by path: the new file, or null to remove the present one. */
export type TreeChanges = ReadonlyMap<BytePath, TreeItem | null>;

/**
 * The id of the tree with these changes. Only the directories on the way to a changed path are read and written. A directory
 * without entries does not exist in git, so a directory that loses its last entry is removed.
 */
export async function applyToTree(repository: ObjectRepository, tree: string, changes: TreeChanges): Promise<string> {
  if (changes.size === 0) return tree;
  const root = toNode(changes);
  const known = await readDirectories(repository, tree, root);
  const written = new Map<string, NewObject>();
  const { format } = repository;

  const stride = new Stride();
  function* build(path: BytePath, node: Node): Generator<void, string | undefined> {
    const items = new Map(known.get(path));
    for (const [name, child] of node.children) {
      if (stride.isOver()) yield;
      // Files below a submodule belong to another repository.
      if (items.get(name)?.mode === SUBMODULE_MODE && child.children.size > 0) continue;
      const inside = child.children.size === 0 ? undefined : yield* build(join(path, name), child);
      const item: TreeItem | undefined =
        inside === undefined ? (child.item ?? undefined) : { mode: TREE_MODE, object: inside };
      if (item !== undefined) items.set(name, item);
      // The removal of paths below a name removes a directory, but not a file of that name.
      else if (child.item === null || items.get(name)?.mode === TREE_MODE) items.delete(name);
    }
    if (items.size === 0 && path !== '') return undefined;
    const content = formatTree(items);
    const id = toObjectId(format, 'tree', content);
    written.set(id, { type: 'tree', content });
    return id;
  }

  const id = (await inSlices(build('', root)))!;
  await repository.write([...written.values()]);
  return id;
}

/** A name that changes, or that has changes below it. */
interface Node {
  readonly children: Map<BytePath, Node>;
  item?: TreeItem | null;
}

function toNode(changes: TreeChanges): Node {
  const root: Node = { children: new Map() };
  for (const [path, item] of changes) {
    let node = root;
    for (const name of path.split('/')) {
      const next = node.children.get(name) ?? { children: new Map() };
      node.children.set(name, next);
      node = next;
    }
    node.item = item;
  }
  return root;
}

/** The entries of every existing directory that has a change below it. */
async function readDirectories(
  repository: ObjectRepository,
  tree: string,
  root: Node,
): Promise<Map<BytePath, Map<BytePath, TreeItem>>> {
  const known = new Map<BytePath, Map<BytePath, TreeItem>>();
  const paths = toDirectories('', root);
  const contents = await repository.read(paths.map((path) => `${tree}:${path}`));
  for (const [at, path] of paths.entries()) {
    const id = path === '' ? tree : findDirectory(known, path);
    if (id === undefined) continue;
    // An object cannot be requested by a path with a line feed.
    const found = path.includes('\n') ? (await repository.read([id]))[0] : contents[at];
    if (found?.type !== 'tree')
      throw new Error(`the snapshots have lost the directory ${path || '.'} of the tree ${tree}`);
    known.set(path, parseTree(found.content, repository.format));
  }
  return known;
}

/** The tree id of a directory, found in its parent; undefined if it does not exist. */
function findDirectory(known: ReadonlyMap<BytePath, Map<BytePath, TreeItem>>, path: BytePath): string | undefined {
  const slash = path.lastIndexOf('/');
  const item = known.get(path.slice(0, Math.max(0, slash)))?.get(path.slice(slash + 1));
  return item?.mode === TREE_MODE ? item.object : undefined;
}

/** The directories with changes below them, parents first. */
function toDirectories(path: BytePath, node: Node): BytePath[] {
  if (node.children.size === 0) return [];
  return [path, ...[...node.children].flatMap(([name, child]) => toDirectories(join(path, name), child))];
}

function join(path: BytePath, name: BytePath): BytePath {
  return path === '' ? name : `${path}/${name}`;
}
