import { readdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { limits } from '../../base/limits.ts';
import { UsageError } from '../../base/usage-error.ts';
import { FileTail } from '../file-tail.ts';
import type { FindSessionsOptions } from '../find-sessions.ts';
import type { AgentTranscript, SessionFile } from '../session-files.ts';
import { MAIN } from '../step.ts';
import { toObject, toText } from '../transcript-record.ts';

/** The file of one thread of Codex. */
export interface Rollout extends SessionFile {
  /** The id of the thread that started this thread; null for a thread started by a person. */
  readonly parentId: string | null;
  readonly directory: string | null;
  readonly agentName: string | null;
  readonly nickname: string | null;
}

/** The rollout files of Codex: `sessions/<year>/<month>/<day>/rollout-<time>-<thread>.jsonl`, one for each thread. */
export class Rollouts {
  readonly #root: string;
  readonly #directory: string;
  readonly #byId = new Map<string, Rollout>();
  readonly #paths = new Set<string>();

  private constructor(root: string, directory: string) {
    this.#root = root;
    this.#directory = directory;
  }

  /** Reads the first line of every file. */
  static async open({ env, config, directory }: FindSessionsOptions): Promise<Rollouts> {
    const home = config ?? (env['CODEX_HOME'] || join(env['HOME'] || homedir(), '.codex'));
    const rollouts = new Rollouts(join(home, 'sessions'), directory);
    await rollouts.refresh();
    return rollouts;
  }

  /** The sessions named by files, ids or working directories, newest first. */
  async find(named: readonly string[]): Promise<SessionFile[]> {
    const found = new Map<string, SessionFile>();
    for (const name of named) for (const each of await this.#findNamed(name)) found.set(each.id, each);
    return newestFirst([...found.values()]);
  }

  async findAll(): Promise<SessionFile[]> {
    const all = this.#sessions();
    if (all.length === 0) throw nothing(`There are no sessions of Codex in "${this.#root}".`);
    return newestFirst(all);
  }

  /** Looks for new files. */
  async refresh(): Promise<void> {
    await this.#addFolder(this.#root, limits.importFoldersMax);
  }

  /** The files of a session: the file of its main thread, then the files of all threads below it. */
  listFiles({ id, path }: SessionFile): AgentTranscript[] {
    const files: AgentTranscript[] = [{ key: MAIN, open: () => new FileTail(path), readMeta: async () => null }];
    const seen = new Set([id]);
    // Threads are added to the set while it is iterated, which also visits them, so that agents of agents follow their parents.
    for (const parent of seen) {
      for (const child of this.#byId.values()) {
        if (child.parentId !== parent || seen.has(child.id)) continue;
        seen.add(child.id);
        const parentId = parent === id ? MAIN : parent;
        const meta = { agentType: child.agentName, description: child.nickname, callId: null, parentId };
        files.push({ key: child.id, open: () => new FileTail(child.path), readMeta: async () => meta });
      }
    }
    return files;
  }

  async #findNamed(name: string): Promise<Rollout[]> {
    const path = isAbsolute(name) ? name : resolve(this.#directory, name);
    if (name.endsWith('.jsonl')) return [this.#rootOf(await this.#addFile(path, name))];
    if (ID.test(name)) {
      const found = this.#byId.get(name);
      if (found === undefined) throw nothing(`Codex has no session "${name}" in "${this.#root}".`);
      return [this.#rootOf(found)];
    }
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) throw nothing(`"${name}" is neither a session file, nor the id of one, nor a directory.`);
    const sessions = this.#sessions().filter(({ directory }) => directory === real);
    if (sessions.length === 0) throw nothing(`Codex has no sessions of "${name}".`);
    return sessions;
  }

  /** Adds a file from another directory, and the files beside it. */
  async #addFile(path: string, name: string): Promise<Rollout> {
    const rollout = await readRollout(path);
    if (rollout === undefined) throw nothing(`"${name}" is not a session file of Codex.`);
    if (!this.#byId.has(rollout.id)) await this.#addFolder(dirname(path), 0);
    this.#byId.set(rollout.id, rollout);
    return rollout;
  }

  async #addFolder(folder: string, depth: number): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth > 0) await this.#addFolder(path, depth - 1);
      if (this.#paths.has(path)) continue;
      const rollout = entry.isFile() && FILE.test(entry.name) ? await readRollout(path) : undefined;
      if (rollout === undefined) continue;
      this.#paths.add(path);
      this.#byId.set(rollout.id, rollout);
    }
  }

  #sessions(): Rollout[] {
    return [...this.#byId.values()].filter((rollout) => this.#rootOf(rollout) === rollout);
  }

  /** A thread whose parent has no file is the main thread of a session. */
  #rootOf(rollout: Rollout): Rollout {
    const seen = new Set<Rollout>();
    let root = rollout;
    for (let next: Rollout | undefined = root; next !== undefined && !seen.has(next); ) {
      root = next;
      seen.add(root);
      next = this.#byId.get(root.parentId ?? '');
    }
    return root;
  }
}

const FILE = /^rollout-.*\.jsonl$/;
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Undefined for a file without the first line that Codex writes. */
async function readRollout(path: string): Promise<Rollout | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) return undefined;
  for await (const record of new FileTail(path).read()) {
    const meta = toObject(record?.type === 'session_meta' ? record.fields['payload'] : undefined);
    const id = toText(meta['id'])?.slice(0, limits.importNameCharsMax);
    if (id === undefined) return undefined;
    const agentPath = toText(meta['agent_path']);
    const nickname = toText(meta['agent_nickname']) ?? null;
    return {
      id,
      path,
      changedAt: found.mtimeMs,
      parentId: toText(meta['parent_thread_id']) ?? null,
      directory: toText(meta['cwd']) ?? null,
      agentName: toText(meta['agent_role']) ?? (agentPath === undefined ? nickname : basename(agentPath)),
      nickname,
    };
  }
  return undefined;
}

function newestFirst(sessions: SessionFile[]): SessionFile[] {
  return sessions.sort((a, b) => b.changedAt - a.changedAt);
}

function nothing(problem: string): UsageError {
  return new UsageError(problem, 'Pass a session file, a session id or a working directory, or --all.');
}
