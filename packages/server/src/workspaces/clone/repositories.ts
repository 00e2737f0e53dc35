import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MountedResource } from '@fleetloom/protocol/managed-agents';
import { FleetloomError } from '../../base/errors.ts';
import type { RepositoryProblem } from '../../frames/payload-parts.ts';
import { putSessionDirectory } from '../../tools/workspace/session-files.ts';
import { toInside } from '../../tools/workspace/session-paths.ts';
import { ToolFailure } from '../../tools/tool-failure.ts';
import type { SandboxGitRelay } from '../../tools/sandbox/git-relay.ts';
import type { SessionRelays } from '../relay/session-relays.ts';
import { CloneFailure } from './clone-failure.ts';
import { createCloneNote } from './clone-note.ts';
import { cloneRepository } from './clone-repository.ts';
import type { InTurn } from './in-turn.ts';
import type { CloneParts, CloneSource } from './clone-source.ts';
import type { RepositoryResource } from '../repository-sources.ts';
import type { RunSetup } from '../sources/run-setup.ts';
import type { SetupResult } from '../workspace-source.ts';
import type { RepositoryCredentials } from './repository-credentials.ts';
import type { RepositoryTokens } from './repository-tokens.ts';
import { runSetups } from './run-setups.ts';

/** The repositories of sessions: clones them into workspaces, and connects sandboxes to their hosts. */
export interface Repositories {
  /** Clones the repositories that are not in the workspace yet. The next call retries failed clones. Never rejects. */
  prepare(
    sessionId: string,
    openWorkspace: () => Promise<string>,
    signal: AbortSignal,
    onSetup: (setup: SetupResult) => Promise<void>,
  ): Promise<PreparedRepositories>;
  /** Opens the relay through which git in the sandbox of a session reaches its repositories; undefined if the session has none. */
  openRelay(sessionId: string): Promise<SandboxGitRelay | undefined>;
  closeRelay(sessionId: string): Promise<void>;
  /** Removes the tokens, notes and relay of a deleted session. */
  remove(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

/** The result of preparing the repositories of a session. */
export interface PreparedRepositories {
  /** The repositories that could not be cloned. */
  readonly problems: readonly RepositoryProblem[];
  /** Whether a repository was newly cloned, or a setup command has run. */
  readonly hasNewFiles: boolean;
  /** The setup command that failed, now or earlier: agents cannot work in this workspace. */
  readonly failedSetup: SetupResult | null;
}

/** The dependencies of {@link createRepositories}. */
export interface RepositoriesOptions {
  readonly clone: CloneParts;
  readonly relays: SessionRelays;
  readonly tokens: RepositoryTokens;
  readonly credentials: Pick<RepositoryCredentials, 'read'>;
  readonly listResources: (sessionId: string) => Promise<readonly MountedResource[]>;
  /** The directory for clones in progress, on the same file system as the workspaces. */
  readonly directory: string;
  readonly runSetup: RunSetup;
  readonly inTurn: InTurn;
  readonly onProblem: (problem: unknown) => void;
}

/** Creates the repositories of all sessions. */
export function createRepositories(options: RepositoriesOptions): Repositories {
  const { relays, tokens, directory } = options;
  const preparing = new Map<string, Promise<PreparedRepositories>>();
  return {
    prepare: async (sessionId, openWorkspace, signal, onSetup) => {
      // A run that begins while the clones of an interrupted run are in progress waits for them.
      const opening = preparing.get(sessionId) ?? prepareAll(options, { sessionId, openWorkspace, onSetup }, signal);
      preparing.set(sessionId, opening);
      try {
        return await opening;
      } catch (error) {
        // This node has released the session in the meantime; its next owner clones the repositories.
        if (signal.aborted) return NOTHING;
        options.onProblem(error);
        const message = 'the repositories of this session could not be cloned: the server failed, and its log says why';
        return { ...NOTHING, problems: [{ type: 'repository_clone_error', message, repository_url: null }] };
      } finally {
        if (preparing.get(sessionId) === opening) preparing.delete(sessionId);
      }
    },
    openRelay: async (sessionId) => {
      const all = (await listRepositories(options, sessionId)).filter(({ url }) => !url.startsWith('file:'));
      return all.length === 0
        ? undefined
        : await relays.open(
            sessionId,
            all.map((each) => toSource(options, sessionId, each)),
          );
    },
    closeRelay: (sessionId) => relays.close(sessionId),
    remove: async (sessionId) => {
      await relays.close(sessionId);
      await tokens.remove(sessionId);
      await rm(join(directory, sessionId), { recursive: true, force: true });
    },
    close: () => relays.closeAll(),
  };
}

const NOTHING: PreparedRepositories = { problems: [], hasNewFiles: false, failedSetup: null };

async function listRepositories(
  options: RepositoriesOptions,
  sessionId: string,
): Promise<readonly RepositoryResource[]> {
  const all = await options.listResources(sessionId);
  return all.filter((resource) => resource.type === 'github_repository' || resource.type === 'git_repository');
}

function toSource(
  { tokens, credentials }: RepositoriesOptions,
  sessionId: string,
  resource: RepositoryResource,
): CloneSource {
  const { id, type, url, checkout = null } = resource;
  // `.git` is appended to the URL of the repository's page, which all such hosts support.
  const serviceUrl = type === 'github_repository' ? `${url}.git` : url;
  const credentialId = type === 'git_repository' ? resource.credential_id : null;
  const readToken = async () =>
    credentialId === null ? await tokens.read(sessionId, id) : await credentials.read(sessionId, credentialId, url);
  return { id, url, serviceUrl, checkout, readToken };
}

interface Preparing {
  readonly sessionId: string;
  readonly openWorkspace: () => Promise<string>;
  readonly onSetup: (setup: SetupResult) => Promise<void>;
}

async function prepareAll(
  options: RepositoriesOptions,
  { sessionId, openWorkspace, onSetup }: Preparing,
  signal: AbortSignal,
): Promise<PreparedRepositories> {
  const problems: RepositoryProblem[] = [];
  const cloned: RepositoryResource[] = [];
  let hasCloned = false;
  const repositories = await listRepositories(options, sessionId);
  const workspace = repositories.length === 0 ? '' : await openWorkspace();
  for (const resource of repositories) {
    try {
      const isNew = await prepareOne(options, { sessionId, workspace, resource }, signal);
      hasCloned ||= isNew;
      cloned.push(resource);
    } catch (error) {
      if (!(error instanceof CloneFailure)) options.onProblem(error);
      const { type, message } = error instanceof CloneFailure ? error : unexpected(resource.url);
      problems.push({ type, message, repository_url: resource.url });
    }
    if (signal.aborted) break;
  }
  if (signal.aborted) return { problems, hasNewFiles: hasCloned, failedSetup: null };
  const notes = join(options.directory, sessionId);
  try {
    const runSetup: RunSetup = async (request) =>
      (await options.inTurn(sessionId, signal, () => options.runSetup(request)))?.result ?? notBegun(request.command);
    const { failed, hasRun } = await runSetups({ runSetup, workspace, notes, cloned, onSetup, signal });
    return { problems, hasNewFiles: hasCloned || hasRun, failedSetup: failed };
  } catch (error) {
    if (!(error instanceof FleetloomError)) throw error;
    // The setup command could not run, for example without a sandbox. The session continues, and the next run tries again.
    const problem = { type: 'repository_clone_error', message: error.message, repository_url: null } as const;
    return { problems: [...problems, problem], hasNewFiles: hasCloned, failedSetup: null };
  }
}

/** The result of a setup command that did not run because this node has released the session. It is not stored. */
function notBegun(command: string): SetupResult {
  return { command, code: null, output: '', isCut: false, durationMs: 0 };
}

interface Wanted {
  readonly sessionId: string;
  readonly workspace: string;
  readonly resource: RepositoryResource;
}

/** Clones outside of the workspace and moves the clone to its path as a whole. A note records the progress in case of a crash. */
async function prepareOne(options: RepositoriesOptions, wanted: Wanted, signal: AbortSignal): Promise<boolean> {
  const { sessionId, workspace, resource } = wanted;
  const parent = join(options.directory, sessionId);
  const note = createCloneNote(join(parent, `${resource.id}.note`), join(workspace, toInside(resource.mount_path)!));
  if (await note.isDone()) return false;
  const draft = join(parent, resource.id);
  // Removes a draft that a crash has left.
  await rm(draft, { recursive: true, force: true });
  try {
    await mkdir(draft, { recursive: true, mode: 0o700 });
    const source = toSource(options, sessionId, resource);
    const cloned = await options.inTurn(sessionId, signal, () => cloneRepository(options.clone, source, draft, signal));
    // This node released the session before its turn came.
    if (cloned === undefined) return false;
    const clone = cloned.result;
    await note.begin(clone);
    await putSessionDirectory(workspace, resource.mount_path, clone).catch((cause: unknown) => {
      if (!(cause instanceof ToolFailure)) throw cause;
      throw new CloneFailure(
        'repository_clone_error',
        `${resource.url} could not be put in its place: ${cause.message}`,
        { cause },
      );
    });
    await note.end();
    return true;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function unexpected(url: string): Pick<CloneFailure, 'type' | 'message'> {
  return {
    type: 'repository_clone_error',
    message: `${url} could not be cloned: the server failed, and its log says why`,
  };
}
