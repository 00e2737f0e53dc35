import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import { findRunning } from './find-running.ts';
import { findSessions, type FindSessionsOptions } from './find-sessions.ts';
import { SuccessorFinder } from './successor-finder.ts';
import { Follower } from './follower.ts';
import type { SessionFile } from './session-files.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { waitForSignal } from '../base/until-signal.ts';
import { writeText } from '../base/write-text.ts';

/** Flags of `fleetloom attach`. */
export interface AttachOptions extends ConnectionOptions {
  all?: boolean;
  config?: string;
}

/**
 * `fleetloom attach`: follows running Claude Code sessions, read-only, until Ctrl-C. Their events appear live in sessions of
 * the server.
 */
export async function attach(io: Io, named: string | undefined, options: AttachOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const where = { env: io.env, config: options.config, directory: process.cwd() };
  const find = options.all === true ? createRunningFinder(io, named, where) : await createChainFinder(io, named, where);
  const followers = new Map<string, Follower>();
  const stopped = waitForSignal(io);
  let foundAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    if (io.timers.now() - foundAt >= limits.attachFindMs) {
      foundAt = io.timers.now();
      await update(followers, await find([...followers.values()].map(({ file }) => file)), (file) => {
        return new Follower(io, api, file);
      });
    }
    for (const follower of followers.values()) await follower.look();
    const signal = await Promise.race([stopped, pause(io)]);
    if (signal === undefined) continue;
    for (const follower of followers.values()) await follower.end();
    return signal === 'SIGINT' ? exitCode.ok : exitCode[signal];
  }
}

/** Returns the session files to follow, given those that are followed. */
type Find = (followed: readonly SessionFile[]) => Promise<readonly SessionFile[]>;

/** One session, and its successors in the same terminal after `/clear` or a fork. */
async function createChainFinder(io: Io, named: string | undefined, where: FindSessionsOptions): Promise<Find> {
  const [first] = await findSessions([named ?? '.'], where);
  // findSessions throws if there is none.
  if (first === undefined) return async () => [];
  const chain = [first];
  const successors = new SuccessorFinder(first);
  return async () => {
    for (const next of await successors.find()) {
      if (chain.length >= limits.attachSessionsMax) await forgetOldest(io, chain);
      chain.push(next);
    }
    return chain;
  };
}

async function forgetOldest(io: Io, chain: SessionFile[]): Promise<void> {
  const [gone] = chain.splice(0, 1);
  await writeText(io.stderr, `${limits.attachSessionsMax} sessions are followed; ${gone?.id} is no longer followed.\n`);
}

/** All running sessions of this machine or of the directory. */
function createRunningFinder(io: Io, named: string | undefined, where: FindSessionsOptions): Find {
  let isReported = false;
  return async () => {
    const running = await findRunning(named, where, io.timers.now());
    const followed = running.slice(0, limits.attachSessionsMax);
    if (running.length > followed.length && !isReported) {
      isReported = true;
      const count = `${running.length} sessions are running`;
      await writeText(io.stderr, `${count}; only the ${limits.attachSessionsMax} that changed last are followed.\n`);
    }
    return followed;
  };
}

async function update(
  followers: Map<string, Follower>,
  files: readonly SessionFile[],
  create: (file: SessionFile) => Follower,
): Promise<void> {
  const wanted = new Set(files.map(({ path }) => path));
  for (const [path, follower] of followers) {
    if (wanted.has(path)) continue;
    followers.delete(path);
    await follower.end();
  }
  for (const file of files) if (!followers.has(file.path)) followers.set(file.path, create(file));
}

function pause({ timers }: Io): Promise<undefined> {
  return new Promise((resolve) => void timers.after(limits.attachLookMs, () => resolve(undefined)));
}
