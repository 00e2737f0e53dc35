import { mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readPlainFile } from '../../launch/read-plain-file.ts';
import { programLimits } from '../../limits.ts';
import { findRollouts } from './find-rollouts.ts';

/** A conversation and the homes of Codex that it is copied between. */
export interface CopiedConversation {
  readonly conversation: string;
  /** The turn that the other program continues from. It must be in the copy. */
  readonly turnId: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Copies the file of a conversation to another home of Codex. False if no file can be copied. Agents can write to these
 * directories: no link in them is followed.
 */
export async function copyConversation({ conversation, turnId, from, to }: CopiedConversation): Promise<boolean> {
  const source = await realpath(from).catch(() => from);
  const [path] = await findRollouts(source, conversation);
  if (path === undefined) return false;
  const content = await readPlainFile(join(source, path), programLimits.programTranscriptBytesMax);
  if (content === undefined || !content.includes(`"${turnId}"`)) return false;
  const target = join(to, path);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await rm(target, { force: true });
  // Whole lines only: the program may be writing the next one.
  await writeFile(target, content.subarray(0, content.lastIndexOf(0x0a) + 1), { mode: 0o600, flag: 'wx' });
  return true;
}
