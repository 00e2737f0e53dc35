import { lstat } from 'node:fs/promises';
import { findTranscripts } from './find-transcripts.ts';

/** How many bytes the transcripts of a conversation have, by agent. */
export async function measureTranscripts(projects: string, conversation: string): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  for (const { agentId, path } of await findTranscripts(projects, conversation)) {
    sizes.set(agentId, (await lstat(path).catch(() => undefined))?.size ?? 0);
  }
  return sizes;
}
