import type { SourceResource } from '@fleetloom/protocol/managed-agents';
import { type ErrorData, fromError, toError } from '../../base/error-data.ts';
import { FleetloomError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json/json.ts';
import { requestError } from '../../base/request-error.ts';
import type { NewSession, SessionSources } from './session-sources.ts';

/** Copies data of a forked session on the disk of its origin: the sources of the workspace, and the recorded files. */
export interface ForkedWorkspaces {
  readonly addAgain: (
    session: NewSession,
    from: string,
    sources: readonly SourceResource[],
  ) => Promise<readonly SourceResource[]>;
  readonly copyFiles: CopyFiles;
}

type CopyFiles = (fromSessionId: string, toSessionId: string, tree: string) => Promise<void>;

/** Creates the service for origins on this disk. The fork is bound to this node, because its workspace uses the copied files. */
export function createLocalForks(
  sources: Pick<SessionSources, 'addAgain'>,
  copyFiles: CopyFiles,
  settle: (sessionId: string) => Promise<void>,
): ForkedWorkspaces {
  return {
    addAgain: (session, from, again) => sources.addAgain(session, from, again),
    copyFiles: async (from, to, tree) => {
      await settle(to);
      await copyFiles(from, to, tree);
    },
  };
}

/** The dependencies of {@link createNodeForks}. */
export interface NodeForksOptions {
  /** The service for sessions whose workspace is on this disk. */
  readonly local: ForkedWorkspaces;
  /** The node that has the workspace of a session; undefined if it is this node or none. */
  readonly findOther: (sessionId: string) => Promise<string | undefined>;
  readonly ask: (
    nodeId: string,
    question: JsonObject,
  ) => Promise<{ readonly answer: JsonObject; done(): Promise<void> } | undefined>;
}

/** Creates the service for several nodes: a fork is created on the node that has the workspace of its origin, and stays there. */
export function createNodeForks({ local, findOther, ask }: NodeForksOptions): ForkedWorkspaces {
  return {
    addAgain: async (session, from, sources) => {
      const other = sources.length === 0 ? undefined : await findOther(from);
      if (other === undefined) return await local.addAgain(session, from, sources);
      return (await forward(other, from, { session: { ...session }, sources: [...sources] as never })) as never;
    },
    copyFiles: async (from, to, tree) => {
      const other = await findOther(from);
      if (other === undefined) return await local.copyFiles(from, to, tree);
      await forward(other, from, { to, tree });
    },
  };

  async function forward(node: string, from: string, more: JsonObject): Promise<unknown> {
    const given = await ask(node, { type: FORK, from, ...more });
    await given?.done();
    if (given === undefined || given.answer['failed'] === true) {
      const problem = `the node ${node}, which has the workspace of ${from}, does not answer`;
      throw requestError('shutting_down', problem, { advice: 'repeat the request when it is back' });
    }
    // The cast is safe because the other node runs the same program.
    const { error, result } = given.answer as unknown as { readonly error?: ErrorData; readonly result?: unknown };
    if (error !== undefined) throw toError(error);
    return result;
  }
}

/** Handles the requests of `createNodeForks` on other nodes. Other requests are passed to `others`. */
export function answerForks(
  local: ForkedWorkspaces,
  others: (question: JsonObject, id: string) => Promise<JsonObject>,
): typeof others {
  return async (question, id) => {
    if (question['type'] !== FORK) return await others(question, id);
    // Only `createNodeForks` sends these requests.
    const { from, session, sources, to, tree } = question as unknown as Asked;
    try {
      if (to !== undefined) await local.copyFiles(from, to, tree);
      return { result: to === undefined ? ((await local.addAgain(session, from, sources)) as never) : null };
    } catch (error) {
      if (!(error instanceof FleetloomError)) throw error;
      return { error: fromError(error) as unknown as JsonObject };
    }
  };
}

const FORK = 'fork';

interface Asked {
  readonly from: string;
  readonly session: NewSession;
  readonly sources: readonly SourceResource[];
  readonly to?: string;
  readonly tree: string;
}
