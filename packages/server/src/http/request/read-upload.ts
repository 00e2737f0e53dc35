import type { IncomingMessage } from 'node:http';
import { cutText } from '@fleetloom/protocol/fleet';
import type { FileMetadata } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';
import { requestError } from '../../base/request-error.ts';
import { type FormPart, readMultipart } from './read-multipart.ts';
import type { FileStore, Received } from '../../files/file-store.ts';
import type { NewFile } from '../../files/stored-file.ts';
import { toMediaType } from '../../files/media-type.ts';

/** Writes the file of a form while it arrives, and keeps it only if the whole form is valid. */
export async function readUpload(
  incoming: IncomingMessage,
  { files, clock, workspaceId }: { files: FileStore; clock: Clock; workspaceId: string },
): Promise<FileMetadata> {
  let received: (Received & Pick<NewFile, 'filename' | 'mimeType'>) | undefined;
  let expiresAt: number | null = null;
  try {
    for await (const part of readMultipart(incoming)) {
      if (part.name === 'expires_in_seconds' && expiresAt === null) {
        expiresAt = clock.now() + toSeconds(await readText(part)) * 1_000;
      } else if (part.name === 'file' && received === undefined) {
        const filename = toFilename(part.filename);
        const mimeType = toMediaType(part.mimeType);
        received = { ...(await files.receive(workspaceId, part.content)), filename, mimeType };
      } else {
        const advice = 'send one file, and expires_in_seconds if the file is to expire';
        throw requestError('invalid_request', `${cutText(part.name, 100)}: is not an expected part`, {
          advice,
        });
      }
    }
    if (received === undefined) {
      throw requestError('invalid_request', 'file: is missing', { advice: 'send it as the part `file` of a form' });
    }
    const { filename, mimeType } = received;
    return await received.keep({ filename, mimeType, expiresAt });
  } catch (error) {
    // If this fails, too, the next start removes the draft. The first error is the reason.
    await received?.drop().catch(() => {});
    throw error;
  }
}

async function readText({ name, content }: FormPart): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > httpLimits.uploadFieldBytesMax) throw requestError('invalid_request', `${name}: is too long`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function toSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= SECONDS_MAX) return seconds;
  throw requestError('invalid_request', 'expires_in_seconds: is not a valid number of seconds');
}

/** Seconds of a hundred years. */
const SECONDS_MAX = 100 * 366 * 24 * 60 * 60;

/** The last segment of the given name: directories of the client are dropped. */
function toFilename(given: string | undefined): string {
  const name = (given ?? '').split(/[\\/]/).at(-1)!;
  // oxlint-disable-next-line no-control-regex -- names are shown, and used as names of files
  const isPossible = name !== '' && name !== '.' && name !== '..' && !/[\u0000-\u001f\u007f]/.test(name);
  if (isPossible && name.length <= httpLimits.uploadNameCharsMax) return name;
  const problem = `file: has no name, or none of at most ${httpLimits.uploadNameCharsMax} characters`;
  throw requestError('invalid_request', problem, { advice: 'give it a filename' });
}
