import { inSlices, Stride } from '../../../base/in-slices.ts';
import type { NewObject, ObjectRepository } from './object-repository.ts';
import { toObjectId } from './object-format.ts';
import type { BytePath } from './path-text.ts';
import { formatTree, parseTree, SUBMODULE_MODE, TREE_MODE, type TreeItem } from './tree-objects.ts';

/** What becomes of paths: a file, or null to remove what is there. */
export type TreeChanges = ReadonlyMap<BytePath, TreeItem | null>;

/**
 * The id of the tree with these changes. Only the directories on the way to a changed path are read and written. A directory
 * without entries does not exist in git, so one that loses its last entry is removed.
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
      // The files of a submodule are not those of its repository.
      if (items.get(name)?.mode === SUBMODULE_MODE && child.children.size > 0) continue;
      const inside = child.children.size === 0 ? undefined : yield* build(join(path, name), child);
      const item: TreeItem | undefined =
        inside === undefined ? (child.item ?? undefined) : { mode: TREE_MODE, object: inside };
      if (item !== undefined) items.set(name, item);
      // A file is not removed by the removal of what is said to be below it.
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

/** The entries of every directory that has a change below it, those that do not exist left out. */
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
    // A name with a line feed cannot be asked for by its path.
    const found = path.includes('\n') ? (await repository.read([id]))[0] : contents[at];
    if (found?.type !== 'tree')
      throw new Error(`the snapshots have lost the directory ${path || '.'} of the tree ${tree}`);
    known.set(path, parseTree(found.content, repository.format));
  }
  return known;
}

/** The tree of a directory, whose parent is known if it exists. */
function findDirectory(known: ReadonlyMap<BytePath, Map<BytePath, TreeItem>>, path: BytePath): string | undefined {
  const slash = path.lastIndexOf('/');
  const item = known.get(path.slice(0, Math.max(0, slash)))?.get(path.slice(slash + 1));
  return item?.mode === TREE_MODE ? item.object : undefined;
}

/** Parents come before what is in them. */
function toDirectories(path: BytePath, node: Node): BytePath[] {
  if (node.children.size === 0) return [];
  return [path, ...[...node.children].flatMap(([name, child]) => toDirectories(join(path, name), child))];
}

function join(path: BytePath, name: BytePath): BytePath {
  return path === '' ? name : `${path}/${name}`;
}
