import type { SourceResource } from '@fleetloom/protocol/managed-agents';
import { type ErrorData, fromError, toError } from '../../base/error-data.ts';
import { FleetloomError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json/json.ts';
import { requestError } from '../../base/request-error.ts';
import type { NewSession, SessionSources } from './session-sources.ts';

/** What a fork takes over from the disk of its origin: the sources of the workspace, and the recorded files. */
export interface ForkedWorkspaces {
  readonly addAgain: (
    session: NewSession,
    from: string,
    sources: readonly SourceResource[],
  ) => Promise<readonly SourceResource[]>;
  readonly copyFiles: CopyFiles;
}

type CopyFiles = (fromSessionId: string, toSessionId: string, tree: string) => Promise<void>;

/** What a fork takes over from this disk. It is bound to this node, because its workspace gets these files. */
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

/** What forks of sessions on several nodes need. */
export interface NodeForksOptions {
  /** Of sessions whose workspace is on this disk. */
  readonly local: ForkedWorkspaces;
  /** The node that has the workspace of a session; undefined if it is this one or none. */
  readonly findOther: (sessionId: string) => Promise<string | undefined>;
  readonly ask: (
    nodeId: string,
    question: JsonObject,
  ) => Promise<{ readonly answer: JsonObject; done(): Promise<void> } | undefined>;
}

/** Forks on several nodes: a fork is made on the node that has the workspace of its origin, and stays there. */
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
    // The other side is the same program.
    const { error, result } = given.answer as unknown as { readonly error?: ErrorData; readonly result?: unknown };
    if (error !== undefined) throw toError(error);
    return result;
  }
}

/** The other side. What is asked for besides is answered by `others`. */
export function answerForks(
  local: ForkedWorkspaces,
  others: (question: JsonObject, id: string) => Promise<JsonObject>,
): typeof others {
  return async (question, id) => {
    if (question['type'] !== FORK) return await others(question, id);
    // Only `createNodeForks` asks.
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
