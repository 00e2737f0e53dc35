import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type ErrorData, fromError, toError } from '../../base/error-data.ts';
import { FleetloomError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json/json.ts';
import { requestError } from '../../base/request-error.ts';
import { answerBlob } from '../../files/node-outputs.ts';
import type { Store } from '../../store/store.ts';
import type { Changes, SessionAt } from './changes.ts';
import type { FileContent } from './read-changes.ts';

/** The dependencies of {@link createNodeChanges}. */
export interface NodeChangesOptions {
  /** The changes of workspaces on this disk. */
  readonly local: Changes;
  /** The node that has the workspace of a session; undefined if it is this node or none. */
  readonly findOther: (sessionId: string) => Promise<string | undefined>;
  readonly ask: (
    nodeId: string,
    question: JsonObject,
  ) => Promise<{ readonly answer: JsonObject; done(): Promise<void> } | undefined>;
  readonly blobs: Pick<Store['blobs'], 'read' | 'delete'>;
}

/** Creates the service for sessions on several nodes: each request is forwarded to the node that has the workspace. */
export function createNodeChanges({ local, findOther, ask, blobs }: NodeChangesOptions): Changes {
  return {
    list: (session, request) => forward('list', session, request),
    steps: (session, request) => forward('steps', session, request),
    diff: (session, request) => forward('diff', session, request),
    diffs: (session, request) => forward('diffs', session, request),
    tree: (session, request) => forward('tree', session, request),
    content: async (session, request) => {
      const found = await forward<FileContent | StoredContent>('content', session, request);
      return 'blob' in found ? await readStored(found) : found;
    },
    apply: (session, request) => forward('apply', session, request),
    discard: (session, request) => forward('discard', session, request),
    restore: (session, request) => forward('restore', session, request),
    merge: (session, request) => forward('merge', session, request),
  };

  async function forward<Result>(operation: keyof Changes, session: SessionAt, request: object): Promise<Result> {
    const other = await findOther(session.sessionId);
    // The cast: the callers above pass the request type of the operation.
    if (other === undefined) return (await local[operation](session, request as never)) as Result;
    const { signal: _, ...at } = session;
    const given = await ask(other, { type: CHANGES, operation, session: at, request: { ...request } });
    await given?.done();
    if (given === undefined || given.answer['failed'] === true) {
      const problem = `the node ${other}, which has the workspace of ${session.sessionId}, does not answer`;
      throw requestError('shutting_down', problem, { advice: 'repeat the request when it is back' });
    }
    // The cast is safe because the other node runs the same program.
    const { error, result } = given.answer as unknown as Answered;
    if (error !== undefined) throw toError(error);
    return result as Result;
  }

  async function readStored({ blob, ...rest }: StoredContent): Promise<FileContent> {
    try {
      return { ...rest, content: await buffer(Readable.from(blobs.read(blob))) };
    } finally {
      await blobs.delete(blob);
    }
  }
}

/** Handles the requests of `createNodeChanges` on other nodes. Other requests are passed to `others`. */
export function answerChanges(
  local: Changes,
  blobs: Pick<Store['blobs'], 'write'>,
  others: (question: JsonObject, id: string) => Promise<JsonObject>,
): typeof others {
  return async (question, id) => {
    if (question['type'] !== CHANGES) return await others(question, id);
    // Only `createNodeChanges` sends these requests.
    const { operation, session, request } = question as unknown as Asked;
    try {
      const result = await local[operation](session, request as never);
      return { result: ('content' in result ? await store(result, id) : result) as unknown as JsonObject };
    } catch (error) {
      if (!(error instanceof FleetloomError)) throw error;
      return { error: fromError(error) as unknown as JsonObject };
    }
  };

  async function store({ content, ...rest }: FileContent, id: string): Promise<StoredContent> {
    const blob = answerBlob(id);
    await blobs.write(blob, Readable.from([content]));
    return { ...rest, blob };
  }
}

const CHANGES = 'changes';

interface Asked {
  readonly operation: keyof Changes;
  readonly session: SessionAt;
  readonly request: object;
}

interface Answered {
  readonly result?: object;
  readonly error?: ErrorData;
}

/** File content that is sent to another node as a blob. */
type StoredContent = Omit<FileContent, 'content'> & { readonly blob: string };
