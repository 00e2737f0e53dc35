import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Io } from '../../base/io.ts';
import { UsageError } from '../../base/usage-error.ts';

/** A stream to read: its bytes, and whether it is live. */
export interface OpenInput {
  bytes: AsyncIterable<Uint8Array>;
  live: boolean;
}

/** Opens the file, or standard input if there is none or it is `-`. Gzipped input is unpacked. */
export async function openInput(io: Io, file: string | undefined): Promise<OpenInput> {
  if (file === undefined || file === '-') return openStandardInput(io);
  const stats = await stat(file).catch((error: NodeJS.ErrnoException) => refuse(file, error));
  if (!isReadable(stats)) throw new UsageError(`"${file}" is not a file.`, FIX);
  const bytes = createReadStream(file, { highWaterMark: CHUNK_BYTES });
  return { bytes: unpack(reportErrors(bytes, file)), live: !stats.isFile() };
}

const CHUNK_BYTES = 256 * 1024;
const FIX =
  'Pass the path of a recorded stream, or pipe one in: claude -p "…" --output-format stream-json --verbose | fleetloom translate';

function openStandardInput(io: Io): OpenInput {
  if (io.stdin.isTTY) throw new UsageError('No input: pass a file or pipe a stream in.', FIX);
  return { bytes: unpack(io.stdin), live: io.stdin.isFile !== true };
}

/** Regular files, named pipes and `<(…)`. */
function isReadable(stats: Stats): boolean {
  return stats.isFile() || stats.isFIFO() || stats.isCharacterDevice();
}

async function* reportErrors(bytes: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    refuse(file, error as NodeJS.ErrnoException);
  }
}

function refuse(file: string, error: NodeJS.ErrnoException): never {
  if (error.code === 'ENOENT') throw new UsageError(`There is no file "${file}".`, FIX);
  if (error.code === 'EACCES') throw new UsageError(`Permission denied: "${file}".`, 'Change its permissions.');
  throw error;
}

async function* unpack(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done) return;
  const whole = chain(first.value, iterator);
  // No JSON text begins with these two bytes.
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return yield* whole;
  const [{ Readable, pipeline }, { createGunzip }] = await Promise.all([import('node:stream'), import('node:zlib')]);
  // pipeline destroys the last stream with the error, so the loop below throws it.
  const unpacked = pipeline(Readable.from(whole), createGunzip(), () => {}) as AsyncIterable<Uint8Array>;
  try {
    yield* unpacked;
  } catch (error) {
    if (!String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw error;
    throw new UsageError('The gzipped input is damaged or truncated.', 'Record it again.');
  }
}

async function* chain(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}
