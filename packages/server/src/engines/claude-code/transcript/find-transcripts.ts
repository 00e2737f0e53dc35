import { type Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../../../base/limits.ts';

/** The transcript of one sub-agent. */
export interface FoundTranscript {
  readonly agentId: string;
  readonly path: string;
}

/**
 * The transcripts of all sub-agents of a conversation: `<projects>/<project>/<conversation>/subagents/agent-<id>.jsonl`,
 * and in folders below it for the agents of workflows. Links are not followed.
 */
export async function findTranscripts(projects: string, conversation: string): Promise<readonly FoundTranscript[]> {
  if (!CONVERSATION.test(conversation)) return [];
  const found: FoundTranscript[] = [];
  for (const project of await list(projects)) {
    if (project.isDirectory()) await collect(join(projects, project.name, conversation, 'subagents'), 0, found);
  }
  return found;
}

const CONVERSATION = /^[\w-]{1,128}$/;
const TRANSCRIPT = /^agent-([\w-]{1,128})\.jsonl$/;

async function collect(folder: string, depth: number, found: FoundTranscript[]): Promise<void> {
  for (const entry of await list(folder)) {
    if (found.length >= limits.transcriptFilesMax) return;
    const agentId = TRANSCRIPT.exec(entry.name)?.[1];
    if (entry.isFile() && agentId !== undefined) found.push({ agentId, path: join(folder, entry.name) });
    else if (entry.isDirectory() && depth < FOLDERS_MAX) await collect(join(folder, entry.name), depth + 1, found);
  }
}

/** `subagents/workflows/<run>` is the deepest folder that the program makes. */
const FOLDERS_MAX = 3;

async function list(folder: string): Promise<readonly Dirent[]> {
  return await readdir(folder, { withFileTypes: true }).catch(() => []);
}
