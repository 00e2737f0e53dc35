import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MAIN } from './step.ts';
import { toObject, toText } from './transcript-record.ts';
import type { AgentMeta } from './transcript-translator.ts';

/** One session of Claude Code on disk: `<id>.jsonl`, and below `<id>/subagents` a file for each sub-agent. */
export interface SessionFile {
  readonly id: string;
  readonly path: string;
  readonly changedAt: number;
}

export async function toSessionFile(path: string): Promise<SessionFile | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) return undefined;
  return { id: basename(path, '.jsonl'), path, changedAt: found.mtimeMs };
}

/** A file of one agent. */
export interface AgentTranscript {
  readonly key: string;
  readonly path: string;
  readonly meta: AgentMeta | null;
}

/** The main agent's file, and those of the sub-agents that are there now. */
export async function listAgentFiles({ id, path }: SessionFile): Promise<AgentTranscript[]> {
  const folder = join(dirname(path), id, 'subagents');
  const names = await readdir(folder).catch(() => []);
  const agents = names.flatMap((name) => {
    const key = /^agent-(.+)\.jsonl$/.exec(name)?.[1];
    return key === undefined ? [] : [{ key, path: join(folder, name) }];
  });
  const children = await Promise.all(agents.map(async (agent) => ({ ...agent, meta: await readMeta(agent.path) })));
  return [{ key: MAIN, path, meta: null }, ...children];
}

/** Who it is stands in a file beside its own. Old releases have none. */
async function readMeta(path: string): Promise<AgentMeta | null> {
  try {
    const meta = toObject(JSON.parse(await readFile(path.replace(/\.jsonl$/, '.meta.json'), 'utf8')));
    return {
      agentType: toText(meta['agentType']) ?? null,
      description: toText(meta['description']) ?? null,
      callId: toText(meta['toolUseId']) ?? null,
      parentId: toText(meta['parentAgentId']) ?? null,
    };
  } catch {
    // Not there, or just being written: then the agent is only known by its number.
    return null;
  }
}
