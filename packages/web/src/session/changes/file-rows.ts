/** A file of the tree. Files that did not change have no status. */
export interface TreeFile {
  readonly path: string;
  readonly status?: string;
  readonly added?: number | null;
  readonly removed?: number | null;
}

/** A row of the file tree: a directory, or a file in it. */
export type FileRow =
  | {
      readonly type: 'directory';
      readonly path: string;
      readonly name: string;
      readonly level: number;
      readonly isOpen: boolean;
    }
  | {
      readonly type: 'file';
      readonly path: string;
      readonly name: string;
      readonly level: number;
      readonly file: TreeFile;
    };

/** The rows of a tree: directories before files, and a directory with nothing but one directory in one row with it. */
export function toFileRows(files: readonly TreeFile[], closed: ReadonlySet<string>): readonly FileRow[] {
  const root = createNode('');
  for (const file of files) {
    let node = root;
    const names = file.path.split('/');
    for (const name of names.slice(0, -1)) {
      let next = node.directories.get(name);
      if (next === undefined) {
        next = createNode(node.path === '' ? name : `${node.path}/${name}`);
        node.directories.set(name, next);
      }
      node = next;
    }
    node.files.push(file);
  }
  const rows: FileRow[] = [];
  addRows(root, 0, closed, rows);
  return rows;
}

interface Node {
  readonly path: string;
  readonly directories: Map<string, Node>;
  readonly files: TreeFile[];
}

function createNode(path: string): Node {
  return { path, directories: new Map(), files: [] };
}

function addRows(node: Node, level: number, closed: ReadonlySet<string>, rows: FileRow[]): void {
  for (const directory of node.directories.values()) {
    const { name, inner } = joinChain(directory, node.path.length === 0 ? 0 : node.path.length + 1);
    const isOpen = !closed.has(inner.path);
    rows.push({ type: 'directory', path: inner.path, name, level, isOpen });
    if (isOpen) addRows(inner, level + 1, closed, rows);
  }
  for (const file of node.files) {
    const name = file.path.slice(file.path.lastIndexOf('/') + 1);
    rows.push({ type: 'file', path: file.path, name, level, file });
  }
}

function joinChain(node: Node, prefixChars: number): { readonly name: string; readonly inner: Node } {
  let inner = node;
  while (inner.files.length === 0 && inner.directories.size === 1) inner = [...inner.directories.values()][0]!;
  return { name: inner.path.slice(prefixChars), inner };
}
