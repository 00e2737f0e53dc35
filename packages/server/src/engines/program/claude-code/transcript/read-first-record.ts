import { text } from '../../lines/values.ts';
import { promptOf } from './silent-agent.ts';
import { TranscriptFile } from './transcript-file.ts';

/** The first record of a transcript: the prompt of a sub-agent. */
export interface FirstRecord {
  readonly prompt: string | undefined;
  readonly agentId: string | undefined;
  readonly conversation: string | undefined;
  /** When the record was written, in ms since 1970; `NaN` without a valid timestamp. */
  readonly at: number;
}

/** Reads the first record. Undefined if the file has no complete record that can be parsed. */
export async function readFirstRecord(root: string, path: string): Promise<FirstRecord | undefined> {
  let first: FirstRecord | undefined;
  await new TranscriptFile({ root, path, offset: 0 }).read((transcribed) => {
    const { type, agentId, sessionId, timestamp } = transcribed;
    const prompt = type === 'user' ? promptOf(transcribed) : undefined;
    first = { prompt, agentId: text(agentId), conversation: text(sessionId), at: Date.parse(text(timestamp) ?? '') };
    return 'stop';
  });
  return first;
}
