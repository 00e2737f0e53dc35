import { readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Timers } from '../../base/io.ts';
import { limits } from '../../base/limits.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { FindSessionsOptions } from '../find-sessions.ts';
import type { AgentTranscript, LineSource, SessionFile } from '../session-files.ts';
import { MAIN } from '../step.ts';
import { toObject, toText, type TranscriptRecord } from '../transcript-record.ts';
import { listChildren, toLines } from './conversation-lines.ts';
import { type OpencodePlace, runOpencode } from './run-opencode.ts';

/** Conversations that opencode exports, or that were exported to files `<id>.json`. */
export class OpencodeSessions {
  readonly #where: FindSessionsOptions;
  readonly #place: OpencodePlace;
  readonly #now: () => number;
  readonly #database: string;
  readonly #tails = new Map<string, ConversationTail>();
  /** Sub-agents by conversation id: the conversation that started each, and its agent type. */
  readonly #children = new Map<string, { readonly parent: string; readonly agent: string | undefined }>();

  constructor(where: FindSessionsOptions, { now }: Pick<Timers, 'now'>) {
    const { env, config, program = 'opencode' } = where;
    this.#where = where;
    this.#now = now;
    const data = config ?? (env['XDG_DATA_HOME'] || join(env['HOME'] || homedir(), '.local', 'share'));
    this.#database = join(data, 'opencode', 'opencode.db');
    this.#place = { program, env: config === undefined ? env : { ...env, XDG_DATA_HOME: config } };
  }

  /** The sessions named by files, ids or working directories, newest first. */
  async find(named: readonly string[]): Promise<SessionFile[]> {
    const found = new Map<string, SessionFile>();
    for (const name of named) for (const each of await this.#findNamed(name)) found.set(each.id, each);
    return newestFirst([...found.values()]);
  }

  /** The sessions of the repository of the current directory; outside of a repository, the sessions of all directories without a repository. */
  async findAll(): Promise<SessionFile[]> {
    const all = await this.#list(this.#where.directory);
    if (all.length === 0) throw nothing(`opencode lists no sessions in "${this.#where.directory}".`);
    return newestFirst(all);
  }

  /** The conversation of a session, then the conversations of its sub-agents so far. */
  async listFiles({ id, path }: SessionFile): Promise<AgentTranscript[]> {
    const files: AgentTranscript[] = [];
    const seen = new Set([id]);
    // Sub-agents are added to the set while it is iterated, so that they follow the agents that started them.
    for (const each of seen) {
      const tail = await this.#tailOf(each, path);
      if (tail === undefined) continue;
      for (const child of listChildren(tail.exported)) {
        if (child.id === id || this.#children.has(child.id)) continue;
        this.#children.set(child.id, { parent: each, agent: child.agent });
      }
      for (const [child, { parent }] of this.#children) if (parent === each) seen.add(child);
      files.push({ key: each === id ? MAIN : each, open: () => tail, readMeta: async () => this.#metaOf(each, id) });
    }
    return files;
  }

  #metaOf(conversation: string, root: string) {
    const known = this.#children.get(conversation);
    if (known === undefined) return null;
    const { agent: exported, title } = toObject(toObject(this.#tails.get(conversation)?.exported)['info']);
    const agentType = known.agent ?? toText(exported) ?? null;
    const parentId = known.parent === root ? MAIN : known.parent;
    return { agentType, description: toText(title) ?? null, callId: null, parentId };
  }

  async #findNamed(name: string): Promise<SessionFile[]> {
    const path = isAbsolute(name) ? name : resolve(this.#where.directory, name);
    if (name.endsWith('.json')) return [await this.#findFile(path, name)];
    if (ID.test(name)) return [await this.#findById(name)];
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined)
      throw nothing(`"${name}" is neither an exported session, nor the id of one, nor a directory.`);
    const sessions = await this.#list(real, real);
    if (sessions.length === 0) throw nothing(`opencode has no sessions of "${name}".`);
    return sessions;
  }

  async #findFile(path: string, name: string): Promise<SessionFile> {
    const exported = await readExport(path);
    const id = idOf(exported);
    const found = await stat(path).catch(() => undefined);
    if (id === undefined || found === undefined)
      throw nothing(`"${name}" is not a session that opencode has exported.`);
    return { id, path, changedAt: found.mtimeMs };
  }

  /** Finds a session by its id, or by the id of one of its sub-agents. */
  async #findById(id: string): Promise<SessionFile> {
    let info = toObject(toObject(await this.#export(id))['info']);
    for (let depth = 0; depth < PARENTS_MAX && toText(info['parentID']) !== undefined; depth++)
      info = toObject(toObject(await this.#export(String(info['parentID'])))['info']);
    const found = toText(info['id']);
    if (found === undefined) throw nothing(`opencode has no session "${id}".`);
    return { id: found, path: found, changedAt: Number(toObject(info['time'])['updated']) || 0 };
  }

  async #list(directory: string, only?: string): Promise<SessionFile[]> {
    const listed = await runOpencode(this.#place, directory, ['session', 'list', '--format', 'json']);
    return (Array.isArray(listed) ? listed.map(toObject) : []).flatMap((session) => {
      const id = toText(session['id']);
      if (id === undefined || !ID.test(id) || (only !== undefined && session['directory'] !== only)) return [];
      return [{ id, path: id, changedAt: Number(session['updated']) || 0 }];
    });
  }

  /** `path` is the path of the session. If it is a file, the conversations of the sub-agents are beside it. */
  async #tailOf(id: string, path: string): Promise<ConversationTail | undefined> {
    const known = this.#tails.get(id);
    if (known !== undefined) {
      if (await this.#hasChanged(known, path)) known.take(await this.#read(id, path));
      return known;
    }
    const [changedAt, exportedAt] = [await this.#changedAt(), this.#now()];
    const exported = await this.#read(id, path);
    if (exported === undefined) return undefined;
    const tail = new ConversationTail(exported, changedAt, exportedAt);
    this.#tails.set(id, tail);
    return tail;
  }

  /** An export takes seconds, so it is repeated only after the database has changed. */
  async #hasChanged(tail: ConversationTail, path: string): Promise<boolean> {
    const now = this.#now();
    if (path.endsWith('.json') || now - tail.exportedAt < limits.attachExportMs) return false;
    const changedAt = await this.#changedAt();
    if (changedAt === tail.changedAt) return false;
    tail.changedAt = changedAt;
    tail.exportedAt = now;
    return true;
  }

  async #changedAt(): Promise<number> {
    const times = [this.#database, `${this.#database}-wal`].map(async (path) => (await stat(path)).mtimeMs);
    const found = await Promise.allSettled(times);
    return Math.max(0, ...found.flatMap((time) => (time.status === 'fulfilled' ? [time.value] : [])));
  }

  async #read(id: string, path: string): Promise<unknown> {
    if (!path.endsWith('.json')) return await this.#export(id);
    const root = await readExport(path);
    if (idOf(root) === id) return root;
    const beside = await readExport(join(dirname(path), `${id}.json`));
    return idOf(beside) === id ? beside : undefined;
  }

  async #export(id: string): Promise<unknown> {
    return ID.test(id) ? await runOpencode(this.#place, this.#where.directory, ['export', id]) : undefined;
  }
}

/** The lines of one conversation. Each export adds lines to those of the previous export. */
class ConversationTail implements LineSource {
  exported: unknown;
  changedAt: number;
  exportedAt: number;
  readonly isReplaced = false;
  #lines: readonly TranscriptRecord[];
  #read = 0;

  constructor(exported: unknown, changedAt: number, exportedAt: number) {
    this.exported = exported;
    this.changedAt = changedAt;
    this.exportedAt = exportedAt;
    this.#lines = toLines(exported);
  }

  take(exported: unknown): void {
    // This export failed; the lines of the previous export stay.
    if (exported === undefined) return;
    this.exported = exported;
    this.#lines = toLines(exported);
  }

  async *read(): AsyncGenerator<TranscriptRecord, void, undefined> {
    for (; this.#read < this.#lines.length; this.#read++) yield this.#lines[this.#read]!;
  }
}

const ID = /^ses_\w{1,100}$/;

/** Parents to follow from a sub-agent to the session of a person. */
const PARENTS_MAX = 10;

function idOf(exported: unknown): string | undefined {
  const id = toText(toObject(toObject(exported)['info'])['id']);
  return id !== undefined && ID.test(id) ? id : undefined;
}

/** Undefined for a file that is missing, too large or not JSON. */
async function readExport(path: string): Promise<unknown> {
  try {
    if ((await stat(path)).size > limits.exportBytesMax) return undefined;
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function newestFirst(sessions: SessionFile[]): SessionFile[] {
  return sessions.sort((a, b) => b.changedAt - a.changedAt);
}

function nothing(problem: string): UsageError {
  return new UsageError(problem, 'Pass an exported session, a session id or a working directory, or --all.');
}
