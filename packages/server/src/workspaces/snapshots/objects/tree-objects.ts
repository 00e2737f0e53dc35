import type { ObjectFormat } from './object-format.ts';
import type { BytePath } from './path-text.ts';

/** An entry of a tree: a file, an executable file, a symbolic link, a submodule or a directory. */
export interface TreeItem {
  readonly mode: FileMode | typeof SUBMODULE_MODE | typeof TREE_MODE;
  readonly object: string;
}

/** The modes of recorded files: a file, an executable file, a symbolic link. */
export type FileMode = '100644' | '100755' | '120000';
/** The mode of a submodule: its object is a commit of another repository. */
export const SUBMODULE_MODE = '160000';
/** The mode of a directory. */
export const TREE_MODE = '40000';

/** Parses the entries of a tree object. Other modes of files, written by old tools, are read as git reads them. */
export function parseTree(content: Buffer, format: ObjectFormat): Map<BytePath, TreeItem> {
  const idBytes = format === 'sha1' ? 20 : 32;
  const items = new Map<BytePath, TreeItem>();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    const mode = toMode(content.toString('latin1', at, space));
    const object = content.toString('hex', end + 1, end + 1 + idBytes);
    items.set(content.toString('latin1', space + 1, end), { mode, object });
    at = end + 1 + idBytes;
  }
  return items;
}

/** Formats a tree object with these entries. */
export function formatTree(items: ReadonlyMap<BytePath, TreeItem>): Buffer {
  const keys = new Map<string, BytePath>();
  let bytes = 0;
  for (const [name, { mode, object }] of items) {
    keys.set(toSortKey(name, mode), name);
    bytes += mode.length + name.length + 2 + object.length / 2;
  }
  // Uses one buffer, and computes each sort key once, because a directory may have tens of thousands of files.
  const content = Buffer.alloc(bytes);
  let at = 0;
  for (const key of [...keys.keys()].sort()) {
    const name = keys.get(key)!;
    const { mode, object } = items.get(name)!;
    at += content.write(`${mode} ${name}\0`, at, 'latin1');
    at += content.write(object, at, 'hex');
  }
  return content;
}

/** The sort key of an entry: git sorts a directory as if its name ended with a slash. */
function toSortKey(name: BytePath, mode: string): string {
  return mode === TREE_MODE ? `${name}/` : name;
}

function toMode(mode: string): TreeItem['mode'] {
  if (mode === TREE_MODE || mode === SUBMODULE_MODE || mode === '120000') return mode;
  return (Number.parseInt(mode, 8) & 0o100) === 0 ? '100644' : '100755';
}
