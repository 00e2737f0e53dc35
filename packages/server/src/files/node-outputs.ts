import { Readable } from 'node:stream';
import type { FileMetadata } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../base/json/json.ts';
import type { Store } from '../store/store.ts';
import { requestError } from '../base/request-error.ts';
import { type SessionOutputs, sessionOfId } from './session-outputs.ts';

/** The access to outputs on this node and on other nodes. */
export interface NodeOutputsOptions {
  readonly store: Pick<Store, 'sessions' | 'blobs'>;
  /** The outputs of workspaces on this disk. */
  readonly local: SessionOutputs;
  /** The node that has the workspace of a session; undefined if it is this one or none. */
  readonly findOther: (sessionId: string) => Promise<string | undefined>;
  readonly ask: (
    nodeId: string,
    question: JsonObject,
  ) => Promise<{ readonly answer: JsonObject; done(): Promise<void> } | undefined>;
}

/** Output files of sessions on the disks of several nodes. Their content is passed through the store in pieces. */
export function createNodeOutputs({ store, local, findOther, ask }: NodeOutputsOptions): SessionOutputs {
  return {
    list: async (workspaceId, sessionId) => {
      const other = await findMine(workspaceId, sessionId);
      if (other === undefined) return local.list(workspaceId, sessionId);
      // The cast is safe because the other node runs the same program.
      const { files } = await question(other, { type: 'list', workspaceId, sessionId });
      return files as unknown as readonly FileMetadata[];
    },
    find: async (workspaceId, id) => {
      const other = await findMine(workspaceId, sessionOfId(id));
      if (other === undefined) return local.find(workspaceId, id);
      const { file } = await question(other, { type: 'find', workspaceId, id });
      return (file ?? undefined) as unknown as FileMetadata | undefined;
    },
    open: async (workspaceId, id) => {
      const other = await findMine(workspaceId, sessionOfId(id));
      if (other === undefined) return local.open(workspaceId, id);
      const { file, blob } = await question(other, { type: 'open', workspaceId, id });
      if (typeof blob !== 'string') return undefined;
      const content = Readable.from(readOnce(blob), { objectMode: false });
      return { file: file as unknown as FileMetadata, content };
    },
    delete: async (workspaceId, id) => {
      const other = await findMine(workspaceId, sessionOfId(id));
      if (other === undefined) return local.delete(workspaceId, id);
      return (await question(other, { type: 'delete', workspaceId, id }))['was_there'] === true;
    },
  };

  /** The node to ask, if it is another one. For a session of another workspace no node is asked: this node reports that it does not exist. */
  async function findMine(workspaceId: string, sessionId: string | undefined): Promise<string | undefined> {
    if (sessionId === undefined) return undefined;
    const session = await store.sessions.get(workspaceId, sessionId);
    return session === undefined ? undefined : findOther(sessionId);
  }

  async function question(nodeId: string, asked: JsonObject): Promise<JsonObject> {
    const given = await ask(nodeId, asked);
    await given?.done();
    if (given !== undefined && given.answer['failed'] !== true) return given.answer;
    const problem = 'the node that has the files of this session does not answer';
    throw requestError('shutting_down', problem, { advice: 'repeat the request when it is back' });
  }

  async function* readOnce(blob: string): AsyncGenerator<Uint8Array> {
    try {
      yield* store.blobs.read(blob);
    } finally {
      await store.blobs.delete(blob);
    }
  }
}

/** Answers requests of `createNodeOutputs` on other nodes from the disk of this node. */
export function answerOutputs(local: SessionOutputs, blobs: Store['blobs']) {
  return async (asked: JsonObject, questionId: string): Promise<JsonObject> => {
    // Only `createNodeOutputs` sends these requests.
    const { type, workspaceId, sessionId = '', id = '' } = asked as Record<string, string>;
    if (type === 'list')
      return { files: ((await local.list(workspaceId!, sessionId)) ?? []) as unknown as JsonObject[] };
    if (type === 'find') return { file: ((await local.find(workspaceId!, id)) ?? null) as unknown as JsonObject };
    if (type === 'delete') return { was_there: await local.delete(workspaceId!, id) };
    const opened = await local.open(workspaceId!, id);
    if (opened === undefined) return {};
    const blob = answerBlob(questionId);
    try {
      await blobs.write(blob, opened.content);
    } finally {
      opened.content.destroy();
    }
    return { file: opened.file as unknown as JsonObject, blob };
  };
}

/** The id of the blob with the content of a response, until it is read. */
export function answerBlob(questionId: string): string {
  return `node_answer_${questionId}`;
}
