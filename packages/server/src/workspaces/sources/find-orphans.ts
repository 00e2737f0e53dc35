import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { workspaceLimits } from '../limits.ts';
import { isBelow } from './allowed-directories.ts';
import { readBelow } from './read-below.ts';
import { threadsOf } from '../workspaces.ts';
import { createSourceRecords, RECORDS, type SourceRecord } from './source-records.ts';

/** A worktree whose session is gone, or that is incomplete. */
export interface OrphanedWorktree {
  /** The working tree of the user's repository. Null for the worktree of a thread, which has no entry in a repository of the user. */
  readonly repository: string | null;
  /** The path of the worktree's files, even if they are gone. */
  readonly workspace: string;
  readonly problem: string;
}

/** Finds worktrees that a server with this data directory has left in repositories. Changes nothing. */
export async function findOrphanedWorktrees(dataDirectory: string): Promise<readonly OrphanedWorktree[]> {
  const data = await realpath(dataDirectory).catch(() => undefined);
  if (data === undefined) return [];
  const store = createSourceRecords(join(data, RECORDS));
  const ids = await store.list();
  const records = (await Promise.all(ids.map((id) => store.read(id)))).filter((each) => each !== undefined);
  const worktrees = records.filter(({ source }) => source.mode === 'worktree' && source.repository !== null);
  const found = await Promise.all([
    ...worktrees.map((record) => checkRecord(record)),
    ...toRepositories(worktrees).map((repository) => findUnknown(repository, data, new Set(ids))),
    findThreads(join(data, 'workspaces'), new Set(ids)),
  ]);
  return found.flat();
}

interface KnownRepository {
  readonly top: string;
  readonly commonDirectory: string;
}

async function checkRecord({ state, source }: SourceRecord): Promise<readonly OrphanedWorktree[]> {
  const { workspace, repository } = source;
  const about = { repository: repository!.top, workspace };
  if (state === 'creating') return [{ ...about, problem: HALF_MADE }];
  if (!(await exists(workspace))) return [{ ...about, problem: 'its files are gone' }];
  const isKnown = await exists(join(repository!.commonDirectory, 'worktrees', basename(workspace)));
  return isKnown ? [] : [{ ...about, problem: 'the repository does not know it any more' }];
}

function toRepositories(records: readonly SourceRecord[]): readonly KnownRepository[] {
  return [...new Map(records.map(({ source: { repository } }) => [repository!.commonDirectory, repository!])).values()];
}

/** Worktrees below the data directory that the repository lists and the server does not know. */
async function findUnknown(
  { top, commonDirectory }: KnownRepository,
  data: string,
  known: ReadonlySet<string>,
): Promise<readonly OrphanedWorktree[]> {
  const names = await readdir(join(commonDirectory, 'worktrees')).catch(() => []);
  const all = await Promise.all(
    names.map(async (name): Promise<readonly OrphanedWorktree[]> => {
      if (known.has(name)) return [];
      const pointer = await readBelow(commonDirectory, `worktrees/${name}/gitdir`, workspaceLimits.gitFileBytesMax);
      const workspace = dirname(pointer?.toString().trim() ?? '');
      if (pointer === undefined || !isBelow(workspace, data)) return [];
      return [{ repository: top, workspace, problem: 'no session has it' }];
    }),
  );
  return all.flat();
}

/** Worktrees of threads whose session is gone, or whose creation was interrupted. */
async function findThreads(directory: string, known: ReadonlySet<string>): Promise<readonly OrphanedWorktree[]> {
  const sessions = (await readdir(directory).catch(() => [])).flatMap(
    (name) => /^(sesn_\w+)\.threads$/.exec(name)?.[1] ?? [],
  );
  const all = await Promise.all(
    sessions.map(async (sessionId) => {
      const parent = threadsOf(join(directory, sessionId));
      const hasSession = known.has(sessionId) || (await exists(join(directory, sessionId)));
      const names: readonly string[] = await readdir(parent).catch(() => []);
      return names.flatMap((name): readonly OrphanedWorktree[] => {
        const about = { repository: null, workspace: join(parent, name) };
        if (!/^sthr_\w+$/.test(name)) return [];
        if (!hasSession) return [{ ...about, problem: 'no session has it' }];
        return names.includes(`${name}.json`) ? [] : [{ ...about, problem: HALF_MADE }];
      });
    }),
  );
  return all.flat();
}

const HALF_MADE = 'it is half made, by a server that was killed';

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}
