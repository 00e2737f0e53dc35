import type { ObjectFormat } from './object-format.ts';
import type { BytePath } from './path-text.ts';

/** What a tree has at a name: a file, an executable file, a symbolic link, a submodule or a directory. */
export interface TreeItem {
  readonly mode: FileMode | typeof SUBMODULE_MODE | typeof TREE_MODE;
  readonly object: string;
}

/** Modes of what is recorded: a file, an executable file, a symbolic link. */
export type FileMode = '100644' | '100755' | '120000';
/** The mode of a submodule: its object is a commit of another repository. */
export const SUBMODULE_MODE = '160000';
/** The mode of a directory. */
export const TREE_MODE = '40000';

/** The entries of a tree object. Old tools wrote other modes of files, which are read as git reads them. */
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

/** A tree object with these entries. */
export function formatTree(items: ReadonlyMap<BytePath, TreeItem>): Buffer {
  const sorted = [...items].sort(([one, { mode }], [other, { mode: otherMode }]) => {
    const [first, second] = [toSortKey(one, mode), toSortKey(other, otherMode)];
    return first < second ? -1 : first > second ? 1 : 0;
  });
  return Buffer.concat(
    sorted.flatMap(([name, { mode, object }]) => [
      Buffer.from(`${mode} ${name}\0`, 'latin1'),
      Buffer.from(object, 'hex'),
    ]),
  );
}

/** Git sorts a directory as if its name ended with a slash. */
function toSortKey(name: BytePath, mode: string): string {
  return mode === TREE_MODE ? `${name}/` : name;
}

function toMode(mode: string): TreeItem['mode'] {
  if (mode === TREE_MODE || mode === SUBMODULE_MODE || mode === '120000') return mode;
  return (Number.parseInt(mode, 8) & 0o100) === 0 ? '100644' : '100755';
}
