import { storeLimits } from './limits.ts';
import { found } from './guards.ts';
import type { Blobs } from './store.ts';
import { storeError } from './store-errors.ts';

/** What an implementation provides for blobs: storage for numbered parts, and an id for complete ones. */
export interface BlobParts {
  /** Storage for parts of blobs that are not yet visible. */
  begin(): Promise<number>;
  add(key: number, index: number, bytes: Uint8Array): Promise<void>;
  /** Assigns the id to the parts, and removes the parts that had it. */
  finish(key: number, id: string, size: BlobSize): Promise<void>;
  discard(key: number): Promise<void>;
  find(id: string): Promise<({ key: number } & BlobSize) | undefined>;
  get(key: number, index: number): Promise<Uint8Array | undefined>;
  /** Does nothing if there is none. */
  delete(id: string): Promise<void>;
}

export interface BlobSize {
  readonly parts: number;
  readonly bytes: number;
}

/** Blobs on any implementation. One part of each blob that is written or read is in memory. */
export function createBlobs(parts: BlobParts, partBytes: number = storeLimits.blobPartBytes): Blobs {
  return {
    write: async (id, given) => {
      const key = await parts.begin();
      const size = { parts: 0, bytes: 0 };
      try {
        for await (const part of toParts(given, partBytes)) {
          await parts.add(key, size.parts++, part);
          size.bytes += part.length;
        }
        await parts.finish(key, id, size);
      } catch (error) {
        // If this fails, too, the remaining parts are invisible and the store removes them later. The first error is the reason.
        await parts.discard(key).catch(() => {});
        throw error;
      }
      return { bytes: size.bytes };
    },
    read: (id) => readParts(parts, id),
    delete: (id) => parts.delete(id),
  };
}

async function* readParts(parts: BlobParts, id: string): AsyncGenerator<Uint8Array, void, undefined> {
  const { key, parts: count } = found(await parts.find(id), id);
  for (let index = 0; index < count; index++) {
    const bytes = await parts.get(key, index);
    // A truncated file would look complete.
    if (bytes === undefined) throw storeError('not_found', `${id} was deleted while it was read`);
    yield bytes;
  }
}

/** Splits bytes into parts of one size; the last part may be shorter. */
async function* toParts(given: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Uint8Array> {
  let part = Buffer.allocUnsafe(partBytes);
  let length = 0;
  for await (const piece of given) {
    for (let at = 0; at < piece.length; ) {
      const taken = Math.min(piece.length - at, partBytes - length);
      part.set(piece.subarray(at, at + taken), length);
      at += taken;
      length += taken;
      if (length < partBytes) continue;
      yield part;
      // A new buffer each time: the consumer may keep the previous one.
      part = Buffer.allocUnsafe(partBytes);
      length = 0;
    }
  }
  if (length > 0) yield part.subarray(0, length);
}
