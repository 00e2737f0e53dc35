import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createHash, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { mapAtOnce } from '../../../base/map-at-once.ts';
import { isCode } from '../../../tools/workspace/directory.ts';
import { snapshotLimits } from './limits.ts';
import type { NewObject, ObjectRepository } from './object-repository.ts';

/**
 * Stores objects by their ids: a few as single files, which needs no process, many as a pack, because a directory with
 * tens of thousands of files is slow to write and to read. Returns the files that were written, which may not be durable yet.
 */
export async function writeObjects(
  repository: ObjectRepository,
  objects: ReadonlyMap<string, NewObject>,
): Promise<readonly string[]> {
  if (objects.size <= snapshotLimits.looseObjectsMax) {
    const written = await mapAtOnce([...objects], AT_ONCE, ([id, object]) => writeLoose(repository, id, object));
    return written.filter((path) => path !== undefined);
  }
  const deflated = await mapAtOnce([...objects.values()], AT_ONCE, async ({ type, content }) => {
    return [toPackHeader(type, content.length), await compress(content)];
  });
  const head = Buffer.alloc(12);
  head.write('PACK', 'latin1');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects.size, 8);
  const pack = Buffer.concat([head, ...deflated.flat()]);
  const input = Buffer.concat([pack, createHash(repository.format).update(pack).digest()]);
  const { stdout } = await repository.run(['index-pack', '--stdin'], { input });
  const [, name] = /\b([0-9a-f]{40,64})\b/.exec(stdout.toString()) ?? [];
  return ['pack', 'idx'].map((kind) => repository.file('objects', 'pack', `pack-${name}.${kind}`));
}

/** Writes an object as a file, which is complete once it has its name. Undefined if the object existed. */
async function writeLoose(
  repository: ObjectRepository,
  id: string,
  { type, content }: NewObject,
): Promise<string | undefined> {
  const directory = repository.file('objects', id.slice(0, 2));
  const path = `${directory}/${id.slice(2)}`;
  if (await isThere(path)) return undefined;
  await mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
    if (!isCode(error, 'EEXIST')) throw error;
  });
  const draft = `${directory}/tmp_obj_${randomUUID()}`;
  try {
    const head = Buffer.from(`${type} ${content.length}\0`);
    await writeFile(draft, await compress(Buffer.concat([head, content])), { mode: 0o400, flag: 'wx' });
    await rename(draft, path);
    return path;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** Encodes the type and the size: four bits of the size in the first byte, seven bits in each further byte. */
function toPackHeader(type: NewObject['type'], size: number): Buffer {
  const bytes = [(PACK_TYPES[type] << 4) | (size & 0x0f)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(rest & 0x7f);
  }
  return Buffer.from(bytes);
}

const PACK_TYPES = { tree: 2, blob: 3 };
const AT_ONCE = 8;

/** Compresses with the fastest level: packing compresses better later. */
async function compress(content: Buffer): Promise<Buffer> {
  return await promisify(deflate)(content, { level: 1 });
}
