import { lstat } from 'node:fs/promises';
import { findTranscripts } from './find-transcripts.ts';

/** The sizes in bytes of the transcripts of a conversation, by agent. */
export async function measureTranscripts(projects: string, conversation: string): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  for (const { agentId, path } of await findTranscripts(projects, conversation)) {
    sizes.set(agentId, (await lstat(path).catch(() => undefined))?.size ?? 0);
  }
  return sizes;
}
