import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modelsOf } from '../../../agents/models-of.ts';
import { requestError } from '../../../base/request-error.ts';
import { findProgramEntry, toEngineName } from '../../../engines/program/registry.ts';
import type { SessionResources } from '../../../files/session-resources.ts';
import type { Credential } from '../../../keys/credential.ts';
import { type KeyLimits, MODEL_ENGINE } from '../../../keys/scopes.ts';
import type { Store } from '../../../store/store.ts';
import { isBelow } from '../../../workspaces/sources/allowed-directories.ts';
import { findRepository } from '../../../workspaces/sources/find-repository.ts';
import { dataOf } from '../read-session.ts';

/** Checks the models of a session against the engines that the caller's key allows. Throws a 403 that names the limit. */
export function checkEngines(credential: Credential, models: readonly string[]): void {
  const { engines } = limitsOf(credential);
  if (engines === undefined) return;
  const refused = models.find((model) => !isEngineAllowed(engines, model));
  if (refused === undefined) return;
  throw limited(`the engine ${toEngine(refused)}`, `it may use ${listOr(engines)}`, { engines });
}

/** Whether one of the engines runs the model: `acp` stands for every ACP agent. */
export function isEngineAllowed(engines: readonly string[], model: string): boolean {
  return engines.includes(toEngine(model)) || engines.includes(findProgramEntry(model)?.name ?? '');
}

/** The engine of a model as keys name it: `codex`, `acp:opencode`, `scripted`, and `model` for models of an endpoint. */
export function toEngine(model: string): string {
  const name = toEngineName(model);
  return name !== undefined && (name === SCRIPTED || findProgramEntry(model) !== undefined) ? name : MODEL_ENGINE;
}

const SCRIPTED = 'scripted';

/** A resource as a request or a session has it. */
interface Resource {
  readonly type: string;
  readonly path?: string | undefined;
  readonly url?: string | undefined;
  readonly mode?: string | null | undefined;
}

/**
 * As {@link checkEngines}, for directories and repositories on this machine. Symbolic links are resolved now. A worktree has all
 * files of its repository, and is applied to all of them, so the whole repository counts.
 */
export async function checkDirectories(credential: Credential, resources: readonly Resource[]): Promise<void> {
  const { directories } = limitsOf(credential);
  if (directories === undefined) return;
  for (const resource of resources) {
    const path = toPath(resource);
    if (path === undefined) continue;
    const [real, ...roots] = await Promise.all([path, ...directories].map(toReal));
    const isAllowed = (used: string) => roots.some((root) => isBelow(used, root));
    const refuse = (what: string) => limited(what, `it may use ${listOr(directories)}`, { directories });
    if (!isAllowed(real!)) throw refuse(`the directory ${path}`);
    if (resource.mode !== 'worktree') continue;
    const repository = await findRepository(real!, EVERYWHERE);
    const used = repository === undefined ? [] : [repository.top, repository.commonDirectory];
    const outside = used.find((each) => !isAllowed(each));
    if (outside !== undefined) throw refuse(`a worktree of ${path}, whose repository is ${outside}`);
  }
}

/** No limit here: whether the server may read a repository was checked before. */
const EVERYWHERE = { has: async () => true };

/** Checks a session that a request is about to change or to continue. */
export type CheckSessionLimits = (credential: Credential, sessionId: string) => Promise<void>;

/** Creates the check; keys without limits cost no look-up. */
export function createSessionLimits(
  store: Pick<Store, 'sessions'>,
  resources: Pick<SessionResources, 'list'>,
): CheckSessionLimits {
  return async (credential, sessionId) => {
    const { directories, engines } = limitsOf(credential);
    if (directories === undefined && engines === undefined) return;
    const record = await store.sessions.get(credential.workspaceId, sessionId);
    // The handler reports the session as unknown.
    if (record === undefined) return;
    checkEngines(credential, modelsOf(dataOf(record).agent));
    if (directories !== undefined) await checkDirectories(credential, await resources.list(sessionId));
  };
}

/** Throws for a key with limits: the requested change would also apply to sessions that the key may not use. */
export function checkUnlimited(credential: Credential, what: string, instead: string): void {
  const { directories, engines } = limitsOf(credential);
  if (directories !== undefined || engines !== undefined) throw limited(what, instead, { directories, engines });
}

function limitsOf(credential: Credential): KeyLimits {
  return credential.kind === 'api' ? (credential.limits ?? {}) : {};
}

function toPath({ type, path, url }: Resource): string | undefined {
  if (type === 'directory') return path ?? '';
  if (url?.startsWith('file:') !== true) return undefined;
  try {
    return fileURLToPath(url);
  } catch {
    // Not the URL of a directory: no key allows it, and the server rejects it as well.
    return url;
  }
}

/** The real path; a path that does not exist is returned unchanged: the server rejects it later. */
async function toReal(path: string): Promise<string> {
  return await realpath(path).catch(() => resolve('/', path));
}

function listOr(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}

function limited(what: string, instead: string, details: Readonly<Record<string, unknown>>): Error {
  return requestError('key_limited', `this key may not use ${what} (${instead})`, { details });
}
