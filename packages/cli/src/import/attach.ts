import { homedir } from 'node:os';
import { join } from 'node:path';
import { cleanLine } from '@fleetloom/protocol/text';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import { HookServer } from './control/hook-server.ts';
import { HookSettings } from './control/hook-settings.ts';
import { SessionControl } from './control/session-control.ts';
import { findRunning } from './find-running.ts';
import type { FindSessionsOptions } from './find-sessions.ts';
import { SuccessorFinder } from './successor-finder.ts';
import { Follower } from './follower.ts';
import type { SessionFile } from './session-files.ts';
import { openSessionSource, type SessionSource } from './session-source.ts';
import { confirm } from '../terminal/confirm.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { waitForSignal } from '../base/until-signal.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';

/** Flags of `fleetloom attach`. */
export interface AttachOptions extends ConnectionOptions {
  all?: boolean;
  config?: string;
  control?: boolean;
  from?: string;
  opencode?: string;
  yes?: boolean;
}

/**
 * `fleetloom attach`: follows running sessions of Claude Code, Codex or opencode until Ctrl-C. Their events appear live in sessions of the
 * server. With `--control` the permission prompts of Claude Code are approvals, too.
 */
export async function attach(io: Io, named: string | undefined, options: AttachOptions): Promise<number> {
  const { from = 'claude-code' } = options;
  if (options.control === true && from !== 'claude-code')
    throw new UsageError('--control works with Claude Code only.', 'Leave out --control or --from.');
  if (options.all === true && from !== 'claude-code')
    throw new UsageError('--all works with Claude Code only.', 'Name one session, or leave out --from.');
  const api = createServerApi(toConnection(io.env, options));
  const where = { env: io.env, config: options.config, program: options.opencode, directory: process.cwd() };
  const source = await openSessionSource(from, where, io.timers);
  const find =
    options.all === true
      ? createRunningFinder(io, source, named)
      : await createChainFinder(io, source, from, named ?? '.');
  if (options.control !== true) return await followAll(io, api, source, find, null);
  return await withHook(io, where, options.yes === true, (hooks) => followAll(io, api, source, find, hooks));
}

async function followAll(
  io: Io,
  api: ServerApi,
  { format }: SessionSource,
  find: Find,
  hooks: HookServer | null,
): Promise<number> {
  const followers = new Map<string, Follower>();
  const stopped = waitForSignal(io);
  let foundAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    if (io.timers.now() - foundAt >= limits.attachFindMs) {
      foundAt = io.timers.now();
      await update(followers, await find([...followers.values()].map(({ file }) => file)), (file) => {
        const control = hooks === null ? null : new SessionControl(hooks, file.id);
        return new Follower(io, api, file, { format, control });
      });
    }
    for (const follower of followers.values()) await follower.look();
    const signal = await Promise.race([stopped, pause(io)]);
    if (signal === undefined) continue;
    for (const follower of followers.values()) await follower.end();
    return signal === 'SIGINT' ? exitCode.ok : exitCode[signal];
  }
}

/** Adds a hook to the settings of Claude Code, after showing it to the user, and removes it afterwards. */
async function withHook(
  io: Io,
  { env, config }: FindSessionsOptions,
  isConfirmed: boolean,
  run: (hooks: HookServer) => Promise<number>,
): Promise<number> {
  const home = config ?? (env['CLAUDE_CONFIG_DIR'] || join(env['HOME'] || homedir(), '.claude'));
  const path = join(home, 'settings.json');
  const hooks = await HookServer.open(() => io.timers.now());
  const settings = new HookSettings(path, hooks.command);
  const undo = io.onExit(() => settings.remove());
  try {
    const entry = JSON.stringify({ hooks: { PermissionRequest: [settings.entry] } }, null, 2);
    await writeText(io.stderr, `To "${cleanLine(path)}" this is added, and removed when attach ends:\n${entry}\n`);
    if (!isConfirmed && !(await confirm(io, 'Add it?'))) return exitCode.ok;
    const removed = settings.add();
    if (removed > 0) await writeText(io.stderr, `${removed} such entries of processes that were killed are removed.\n`);
    return await run(hooks);
  } finally {
    settings.remove();
    undo();
    await hooks.close();
  }
}

/** Returns the session files to follow, given the files that are followed now. */
type Find = (followed: readonly SessionFile[]) => Promise<readonly SessionFile[]>;

/** Finds one session and, for Claude Code, its successors in the same terminal after `/clear` or a fork. */
async function createChainFinder(io: Io, source: SessionSource, from: string, named: string): Promise<Find> {
  const [first] = await source.find([named]);
  // Not reached: `find` throws if it finds no session.
  if (first === undefined) return async () => [];
  const chain = [first];
  if (from !== 'claude-code') return async () => chain;
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

/** Finds all running sessions of this machine or of the named directory. */
function createRunningFinder(io: Io, source: SessionSource, named: string | undefined): Find {
  let isReported = false;
  return async () => {
    const running = await findRunning(source, named, io.timers.now());
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
