import { createHash } from 'node:crypto';

/** The hash of a repository's object ids. It must be the same as in the user's repository, whose objects are read. */
export type ObjectFormat = 'sha1' | 'sha256';

/** The type of a git object. */
export type ObjectType = 'blob' | 'tree';

/** The id that git gives an object. */
export function toObjectId(format: ObjectFormat, type: ObjectType, content: Uint8Array): string {
  return createHash(format).update(`${type} ${content.length}\0`).update(content).digest('hex');
}

/** The id of the tree without entries. */
export function emptyTree(format: ObjectFormat): string {
  return toObjectId(format, 'tree', new Uint8Array());
}
