import { createHash } from 'node:crypto';

/** How a repository names its objects. It must be that of the user's repository, whose objects are read. */
export type ObjectFormat = 'sha1' | 'sha256';

/** What an object of git is. */
export type ObjectType = 'blob' | 'tree';

/** The id that git gives an object. */
export function toObjectId(format: ObjectFormat, type: ObjectType, content: Uint8Array): string {
  return createHash(format).update(`${type} ${content.length}\0`).update(content).digest('hex');
}

/** The id of the tree without entries. */
export function emptyTree(format: ObjectFormat): string {
  return toObjectId(format, 'tree', new Uint8Array());
}
