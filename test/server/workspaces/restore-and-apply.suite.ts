import { rmSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import type { RandomText } from '../../../bench/random-text.ts';
import type { UserRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';
import { type FileMap, readOracle } from '../../../packages/server/src/workspaces/snapshots/snapshots.suite.ts';
import { changesOf, type Refusal } from './changes.suite.ts';

/** A session on a server that can be killed while a request is under way. */
export interface KillableSession {
  readonly id: string;
  readonly key: string;
  readonly url: () => string;
  /** The directory that its agents work in. */
  readonly workspace: string;
  /** Kills the server and starts it again. */
  readonly restart: () => Promise<void>;
}

/** A restore gives the recorded files of its cursor, and after a kill those or the ones of before. */
export async function checkRestore(
  session: KillableSession,
  wanted: { readonly at: string; readonly files: FileMap },
  random: RandomText,
): Promise<void> {
  const before = readOracle(session.workspace);
  const restore = () => changesOf({ url: session.url(), key: session.key }, session.id).restore;
  if (await killDuring(session, () => restore()({ at: wanted.at, overwrite: true }), random))
    expect([before, wanted.files]).toContainEqual(readOracle(session.workspace));
  await restore()({ at: wanted.at, overwrite: true });
  expect(readOracle(session.workspace)).toEqual(wanted.files);
}

/** An application writes exactly the chosen files, or nothing if the user has other content at one of their paths. */
export async function checkApplication(
  session: KillableSession,
  { user, base, theirs }: { readonly user: UserRepository; readonly base: FileMap; readonly theirs: FileMap },
  random: RandomText,
): Promise<'applied' | 'conflict' | 'none'> {
  const changed = [...new Set([...Object.keys(base), ...Object.keys(theirs)])].filter(
    (path) => base[path] !== theirs[path],
  );
  if (changed.length === 0) return 'none';
  const start = readOracle(user.path);
  await editAsUser(user, changed, random);
  const some = changed.filter(() => random.below(2) === 0);
  const paths = random.below(3) === 0 || some.length === 0 ? undefined : some;
  const chosen = paths ?? changed;
  const before = readOracle(user.path);
  const git = gitFiles(user);
  const isConflict = chosen.some(
    (path) => (before[path] !== base[path] && before[path] !== theirs[path]) || isBlocked(path, before, theirs),
  );
  const expected = isConflict ? before : withFiles(before, chosen, theirs);
  const apply = () =>
    changesOf({ url: session.url(), key: session.key }, session.id).apply(paths === undefined ? {} : { paths });
  if (await killDuring(session, apply, random)) expect([before, expected]).toContainEqual(readOracle(user.path));
  const outcome = await apply().then(
    () => 'applied' as const,
    ({ code }: Refusal) => code,
  );
  expect([outcome, readOracle(user.path)]).toEqual([isConflict ? 'apply_conflict' : 'applied', expected]);
  // Neither the index nor a ref, the stash or the configuration.
  expect(gitFiles(user)).toEqual(git);
  await setBack(user, start);
  return isConflict ? 'conflict' : 'applied';
}

/** Sends a request and, every other time, kills the server while it may be at work. Resolves with whether it did. */
async function killDuring(
  session: KillableSession,
  request: () => Promise<unknown>,
  random: RandomText,
): Promise<boolean> {
  if (random.below(2) === 0) return false;
  const done = request().catch(() => {
    // A conflict, or the server is gone: the files say what happened.
  });
  await wait(random.below(400));
  await session.restart();
  await done;
  return true;
}

/** What the user does in the meantime: other content at some of the paths, removals, and files of their own. */
async function editAsUser(user: UserRepository, changed: readonly string[], random: RandomText): Promise<void> {
  await user.write('mine.txt', `mine ${random.below(1e9)}\n`);
  for (let count = random.below(3); count > 0; count--) {
    const path = random.pick(changed);
    // A link of an agent may be written through a file of the same name only once it is applied.
    if (random.below(3) === 0) rmSync(`${user.path}/${path}`, { force: true });
    else await user.write(path, `mine ${random.below(1e9)}\n`);
  }
  const deep = changed.find((path) => path.endsWith('/deep/er/d'));
  if (deep !== undefined && random.below(4) === 0) {
    const obstacle = deep.slice(0, -'/er/d'.length);
    rmSync(`${user.path}/${obstacle}`, { recursive: true, force: true });
    await user.write(obstacle, 'a file in the place of a directory\n');
  }
}

/** Whether the user has a file where the path needs a directory. */
function isBlocked(path: string, before: FileMap, theirs: FileMap): boolean {
  return theirs[path] !== undefined && Object.keys(before).some((other) => path.startsWith(`${other}/`));
}

function withFiles(before: FileMap, chosen: readonly string[], theirs: FileMap): FileMap {
  const files = { ...before };
  for (const path of chosen) {
    const file = theirs[path];
    if (file === undefined) delete files[path];
    else files[path] = file;
  }
  return files;
}

function gitFiles(user: UserRepository): Record<string, string> {
  const all = Object.entries(user.fingerprint(OWN_OF_SESSIONS));
  return Object.fromEntries(all.filter(([path]) => path.startsWith('.git/')));
}

/** So that a second application begins with the files of the first. */
async function setBack(user: UserRepository, start: FileMap): Promise<void> {
  for (const path of Object.keys(readOracle(user.path))) if (start[path] === undefined) rmSync(`${user.path}/${path}`);
  user.git('checkout', '--quiet', '--force', '--', '.');
  user.git('clean', '--quiet', '-d', '--force');
  expect(readOracle(user.path)).toEqual(start);
}

/** What sessions add to the repository of a user: their worktrees and their branches. */
export const OWN_OF_SESSIONS: readonly string[] = [
  '.git/worktrees',
  '.git/refs/heads/fleetloom',
  '.git/logs/refs/heads/fleetloom',
];
