import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import type { FileMetadata } from '@fleetloom/protocol/managed-agents';
import type { Store } from '../store/store.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import {
  findOutput,
  listOutputs,
  openOutput,
  removeSessionFile,
  type OutputFile,
} from '../tools/workspace/session-files.ts';
import { OUTPUTS_PATH } from '../tools/workspace/session-paths.ts';
import { OutputPaths } from './output-paths.ts';
import { OutputScans } from './output-scans.ts';

/** The files that agents wrote to `/mnt/session/outputs`. */
export interface SessionOutputs {
  /** The outputs of a session; undefined if the session does not exist. */
  list(workspaceId: string, sessionId: string): Promise<readonly FileMetadata[] | undefined>;
  find(workspaceId: string, id: string): Promise<FileMetadata | undefined>;
  open(
    workspaceId: string,
    id: string,
  ): Promise<{ readonly file: FileMetadata; readonly content: Readable } | undefined>;
  /** Deletes an output. False if it does not exist. */
  delete(workspaceId: string, id: string): Promise<boolean>;
}

export interface SessionOutputsOptions {
  readonly store: Pick<Store, 'sessions'>;
  readonly openWorkspace: (sessionId: string) => Promise<string>;
  /** Replaced by tests that count listings. */
  readonly listFiles?: typeof listOutputs;
}

/**
 * Creates the service. It stores nothing besides the files: an id consists of the session and a digest of the path. It stays the same when an
 * agent writes the file again. The path of an id is cached, so that reading one output does not list all outputs.
 */
export function createSessionOutputs(options: SessionOutputsOptions): SessionOutputs {
  const { store, openWorkspace, listFiles = listOutputs } = options;
  const paths = new OutputPaths();
  const scans = new OutputScans<readonly FileMetadata[]>();
  return {
    list: async (workspaceId, sessionId) => {
      const workspace = await openIfMine(workspaceId, sessionId);
      if (workspace === undefined) return undefined;
      return await scan(workspaceId, sessionId, workspace);
    },

    find: async (workspaceId, id) => (await locate(workspaceId, id))?.file,

    open: async (workspaceId, id) => {
      const found = await locate(workspaceId, id);
      const handle = found && (await openOutput(found.workspace, found.path));
      // The stream may fail before it is read; without a listener such an error would end the process.
      return handle && { file: found.file, content: handle.createReadStream().on('error', () => {}) };
    },

    delete: async (workspaceId, id) => {
      const found = await locate(workspaceId, id);
      if (found === undefined) return false;
      await removeSessionFile(found.workspace, `${OUTPUTS_PATH}/${found.path}`);
      return true;
    },
  };

  async function locate(workspaceId: string, id: string) {
    const sessionId = sessionOfId(id);
    const workspace = sessionId && (await openIfMine(workspaceId, sessionId));
    if (!workspace) return undefined;
    const known = paths.get(id);
    if (known !== undefined) {
      const output = await findOutput(workspace, known);
      return output && { workspace, path: known, file: toMetadata(sessionId, output) };
    }
    const file = (await scan(workspaceId, sessionId, workspace)).find((listed) => listed.id === id);
    return file && { workspace, path: file.filename, file };
  }

  async function scan(workspaceId: string, sessionId: string, workspace: string): Promise<readonly FileMetadata[]> {
    return await scans.share(workspaceId, sessionId, async () => {
      const files: FileMetadata[] = [];
      for (const output of await listFiles(workspace)) {
        const file = toMetadata(sessionId, output);
        paths.add(file.id, output.path);
        files.push(file);
        await yieldToEventLoop();
      }
      return files;
    });
  }

  async function openIfMine(workspaceId: string, sessionId: string): Promise<string | undefined> {
    const session = await store.sessions.get(workspaceId, sessionId);
    return session && (await openWorkspace(sessionId));
  }
}

const PREFIX = 'file_out_';

/** Whether an id is the id of an output file. */
export function isOutputId(id: string): boolean {
  return id.startsWith(PREFIX);
}

function toId(sessionId: string, path: string): string {
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 24);
  return `${PREFIX}${sessionId.slice('sesn_'.length)}_${digest}`;
}

/** The session of an output file. */
export function sessionOfId(id: string): string | undefined {
  const found = /^file_out_(\w+)_[0-9a-f]{24}$/.exec(id);
  return found === null ? undefined : `sesn_${found[1]}`;
}

function toMetadata(sessionId: string, { path, bytes, changedAt }: OutputFile): FileMetadata {
  return {
    type: 'file',
    id: toId(sessionId, path),
    filename: path,
    mime_type: mimeTypes[extname(path).toLowerCase()] ?? 'application/octet-stream',
    size_bytes: bytes,
    downloadable: true,
    created_at: toTimestamp(changedAt),
    expires_at: null,
    scope: { type: 'session', id: sessionId },
  };
}

/** A time as text. An agent can set any modification time, so it is limited to the years that RFC 3339 can represent. */
function toTimestamp(ms: number): string {
  return new Date(Math.min(Math.max(ms, FIRST_YEAR_MS), LAST_YEAR_MS)).toISOString();
}

const FIRST_YEAR_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_YEAR_MS = Date.parse('9999-12-31T23:59:59.999Z');

const mimeTypes: Readonly<Record<string, string | undefined>> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.webp': 'image/webp',
  '.xml': 'application/xml',
  '.zip': 'application/zip',
};
