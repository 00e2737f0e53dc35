import { join } from 'node:path';
import type { PreparationProblem, SessionCreated } from '../../frames/payload-parts.ts';
import type { PrepareWorkspace } from '../../sessions/index.ts';
import type { Store } from '../../store/store.ts';
import { findProgram } from '../../tools/find-program.ts';
import { createPackagePrefixes } from '../../tools/packages/package-prefixes.ts';
import { openBubblewrap } from '../../tools/sandbox/bubblewrap.ts';
import type { InstalledPackages } from '../../tools/sandbox/installed-packages.ts';
import type { SessionVariables } from '../../vaults/session-variables.ts';
import { readFirst, readForward } from '../../views/read-frames.ts';
import type { InTurn } from '../../workspaces/clone/in-turn.ts';
import type { Repositories } from '../../workspaces/clone/repositories.ts';
import type { ServerOptions } from '../server-options.ts';
import type { OpenedEgress } from './open-egress.ts';

/** The steps before the first run of a session. */
export interface OpenedPreparation {
  /** Clones repositories, installs packages, and reports the parts that are missing. Never rejects. */
  readonly prepare: PrepareWorkspace;
  /** The installed packages of a session. */
  readonly findPackages: (sessionId: string) => Promise<InstalledPackages | undefined>;
  readonly close: () => Promise<void>;
}

export interface OpenPreparationOptions {
  readonly options: Pick<ServerOptions, 'dataDirectory'>;
  readonly store: Pick<Store, 'read'>;
  readonly egress: Pick<OpenedEgress, 'openInstaller' | 'policyOf'>;
  readonly repositories: Pick<Repositories, 'prepare'>;
  readonly inTurn: InTurn;
  readonly variablesOf: (sessionId: string) => Promise<SessionVariables | undefined>;
  readonly onProblem: (problem: unknown) => void;
}

/** Opens the preparation of sessions. */
export async function openPreparation(parts: OpenPreparationOptions): Promise<OpenedPreparation> {
  const { options, store, egress, repositories, inTurn, variablesOf, onProblem } = parts;
  const prefixes = await createPackagePrefixes({
    directory: join(options.dataDirectory, 'packages'),
    openSandbox: () => openBubblewrap({ findProgram }),
  });
  return {
    prepare: async (sessionId, openWorkspace, signal, onSetup) => {
      const found = findProblems(sessionId, signal).catch((error: unknown) => {
        if (!signal.aborted) onProblem(error);
        return [];
      });
      const prepared = await repositories.prepare(sessionId, openWorkspace, signal, onSetup);
      return { ...prepared, problems: [...(await found), ...prepared.problems] };
    },
    findPackages: async (sessionId) => {
      const { environment } = (await findCreated(sessionId)) ?? {};
      return environment?.packages === undefined ? undefined : await prefixes.find(environment.packages);
    },
    close: () => prefixes.close(),
  };

  async function findCreated(sessionId: string): Promise<SessionCreated | undefined> {
    const first = await readFirst(store, sessionId);
    return first.type === 'session.created' ? first.payload : undefined;
  }

  /** Problems that are not in the log of the session yet: each is reported once. */
  async function findProblems(sessionId: string, signal: AbortSignal): Promise<readonly PreparationProblem[]> {
    const created = await findCreated(sessionId);
    if (created === undefined || created.environment.type !== 'cloud') return [];
    const [packages, hosts] = await Promise.all([
      installPackages(sessionId, created, signal),
      findUnreachable(sessionId, created),
    ]);
    return [...packages, ...hosts];
  }

  async function installPackages(
    sessionId: string,
    { environment: { packages } }: SessionCreated,
    signal: AbortSignal,
  ): Promise<readonly PreparationProblem[]> {
    if (packages === undefined || (await prefixes.find(packages)) !== undefined) return [];
    // The next session tries again; this one continues without the packages.
    if ((await listReported(sessionId)).hasPackages) return [];
    const network = egress.openInstaller(sessionId);
    const closed = 'packages are not installed: the operator has closed the network of commands (--bash-network none)';
    if (network === undefined) return [{ type: 'unknown_error', message: `${PACKAGES}${closed}` }];
    const installing = inTurn(sessionId, signal, () => prefixes.install(packages, network));
    const problem = (await untilStopped(installing, signal))?.result;
    return problem === undefined || signal.aborted ? [] : [{ type: 'unknown_error', message: `${PACKAGES}${problem}` }];
  }

  /** Hosts of credentials that the environment does not allow. */
  async function findUnreachable(sessionId: string, created: SessionCreated): Promise<readonly PreparationProblem[]> {
    if (created.vault_ids === undefined || created.environment.networking?.type !== 'limited') return [];
    const [variables, policy] = await Promise.all([variablesOf(sessionId), egress.policyOf(sessionId)]);
    const all = (await variables?.list()) ?? [];
    const unreachable = all.flatMap(({ id, vaultId, auth }) => {
      const hosts = auth.networking.type === 'limited' ? auth.networking.allowed_hosts : [];
      const missing = hosts.filter((host) => policy?.covers(host) !== true);
      return missing.length === 0 ? [] : [{ id, vaultId, name: auth.secret_name, missing }];
    });
    if (unreachable.length === 0) return [];
    const { credentials } = await listReported(sessionId);
    return unreachable
      .filter(({ id }) => !credentials.has(id))
      .map(({ id, vaultId, name, missing }) => ({
        type: 'credential_host_unreachable_error',
        message: `the environment of this session does not allow hosts of the credential ${name}: ${missing.join(', ')}`,
        credential_id: id,
        vault_id: vaultId,
      }));
  }

  /** Reads the reported problems from the log, so that a restart or another node does not report them twice. */
  async function listReported(sessionId: string) {
    const credentials = new Set<string>();
    let hasPackages = false;
    for await (const { type, payload } of readForward(store, sessionId, 0, Number.POSITIVE_INFINITY, {
      skipsDeltas: true,
    })) {
      if (type !== 'session.error') continue;
      const { error } = payload;
      if (error.credential_id !== undefined) credentials.add(error.credential_id);
      if (error.type === 'unknown_error' && error.message.startsWith(PACKAGES)) hasPackages = true;
    }
    return { credentials, hasPackages };
  }
}

/** The prefix of messages about packages. */
const PACKAGES = 'packages of the environment: ';

/** Resolves early when the signal is aborted. The installation continues: other sessions use it too. */
async function untilStopped<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  const stopped = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  return await Promise.race([work, stopped]);
}
