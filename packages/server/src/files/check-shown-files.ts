import { fileLimits } from './limits.ts';
import { requestError } from '../base/request-error.ts';
import type { FileStore } from './file-store.ts';
import { fileIdOf } from './show-files.ts';

interface Sent {
  readonly content?: readonly { readonly type: string; readonly source?: unknown }[];
}

/** Rejects events that refer to files that do not exist or that cannot be shown to a model. */
export async function checkShownFiles(
  files: Pick<FileStore, 'find'>,
  workspaceId: string,
  events: readonly object[],
  field = 'events',
): Promise<void> {
  for (const [index, event] of events.entries()) {
    for (const block of (event as Sent).content ?? []) {
      const id = fileIdOf(block);
      if (id === undefined) continue;
      const file = await files.find(workspaceId, id);
      const place = `${field}.${index}`;
      if (file === undefined) throw wrong(`${place}: ${id} does not exist`, 'upload it first');
      if (!isShowable(block.type, file.mime_type)) {
        throw wrong(`${place}: ${id} is ${file.mime_type}, which cannot be shown as ${block.type}`, ADVICE);
      }
      if (file.size_bytes > fileLimits.shownFileBytesMax) {
        const problem = `${place}: ${id} has ${file.size_bytes} bytes, and ${fileLimits.shownFileBytesMax} can be shown`;
        throw wrong(problem, 'mount it for the session, and let the agent read it');
      }
    }
  }
}

const ADVICE = 'images are PNG, JPEG, GIF or WebP, documents are PDF or text; mount other files for the session';
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const TEXTS = ['application/json', 'application/xml'];

function isShowable(block: string, mimeType: string): boolean {
  if (block === 'image') return IMAGES.includes(mimeType);
  return mimeType === 'application/pdf' || mimeType.startsWith('text/') || TEXTS.includes(mimeType);
}

function wrong(problem: string, advice: string) {
  return requestError('invalid_request', problem, { advice });
}
