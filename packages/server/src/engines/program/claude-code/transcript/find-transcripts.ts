import { type Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { programLimits } from '../../limits.ts';
import { yieldToEventLoop } from '../../../../base/yield-to-event-loop.ts';

/** The transcript of one sub-agent. */
export interface FoundTranscript {
  readonly agentId: string;
  readonly path: string;
}

/**
 * The transcripts of all sub-agents of a conversation: `<projects>/<project>/<conversation>/subagents/agent-<id>.jsonl`,
 * and in folders below it for the agents of workflows. Links are not followed. Agents can write to these directories:
 * at most `entriesMax` names in all of them are read.
 */
export async function findTranscripts(
  projects: string,
  conversation: string,
  entriesMax: number = programLimits.transcriptEntriesMax,
): Promise<readonly FoundTranscript[]> {
  if (!CONVERSATION.test(conversation)) return [];
  const search: Search = { found: [], entriesLeft: entriesMax };
  for await (const project of list(projects, search)) {
    if (project.isDirectory()) await collect(join(projects, project.name, conversation, 'subagents'), 0, search);
  }
  return search.found;
}

interface Search {
  readonly found: FoundTranscript[];
  entriesLeft: number;
}

const CONVERSATION = /^[\w-]{1,128}$/;
const TRANSCRIPT = /^agent-([\w-]{1,128})\.jsonl$/;

async function collect(folder: string, depth: number, search: Search): Promise<void> {
  for await (const entry of list(folder, search)) {
    if (search.found.length >= programLimits.transcriptFilesMax) return;
    const agentId = TRANSCRIPT.exec(entry.name)?.[1];
    if (entry.isFile() && agentId !== undefined) search.found.push({ agentId, path: join(folder, entry.name) });
    else if (entry.isDirectory() && depth < FOLDERS_MAX) await collect(join(folder, entry.name), depth + 1, search);
  }
}

/** `subagents/workflows/<run>` is the deepest folder that the program makes. */
const FOLDERS_MAX = 3;

/** The entries of a folder, up to the limit of the search. */
async function* list(folder: string, search: Search): AsyncGenerator<Dirent> {
  const directory = await opendir(folder).catch(() => undefined);
  if (directory === undefined) return;
  // The iterator closes the directory, even if the loop ends early.
  for await (const entry of directory) {
    if (search.entriesLeft <= 0) return;
    search.entriesLeft--;
    yield entry;
    const pause = yieldToEventLoop();
    if (pause !== undefined) await pause;
  }
}
