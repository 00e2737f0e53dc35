import type { LoggedContent } from '../../ended-conversation.ts';
import { MAIN } from '../../program.ts';
import { record, text } from '../../lines/values.ts';
import { blocksOf } from './silent-agent.ts';
import type { TranscriptFile } from './transcript-file.ts';
import { isOfAgent, type TranscriptItem, toTranscriptItem } from './transcript-items.ts';

interface LoggedAgent {
  readonly key: string;
  /** The content in the log; null if the log does not know the agent. */
  readonly logged: LoggedContent | null;
}

/** The position up to which the log contains a transcript. */
export interface LoggedMark {
  /** Number of records up to the last one that is in the log, completely or in part. */
  readonly records: number;
  /** The id of the message of that last record, if the log has a call of the message. */
  readonly callingId: string | undefined;
}

/** Reads a transcript to its end and finds the mark. Equal texts are distinguished by how often the log has them. */
export async function findMark(file: TranscriptFile, { key, logged }: LoggedAgent): Promise<LoggedMark> {
  let mark: LoggedMark = { records: 0, callingId: undefined };
  if (logged === null) return mark;
  const said = new Map(logged.said);
  let records = 0;
  await file.read((transcribed) => {
    records++;
    if (!isOfAgent(transcribed, key === MAIN)) return 'continue';
    const items = blocksOf(transcribed).map(toTranscriptItem);
    // No early exit: `isLogged` counts each item.
    const known = items.filter((item) => item !== undefined && isLogged(item, logged, said));
    if (known.length === 0) return 'continue';
    const messageId = text(record(transcribed.message)?.['id']);
    const isCalling = messageId === undefined || messageId === mark.callingId;
    const callingId = known.some((item) => item?.type === 'call') ? messageId : undefined;
    mark = { records, callingId: callingId ?? (isCalling ? mark.callingId : undefined) };
    return 'continue';
  });
  return mark;
}

/** Whether the log lacks an item. Results of concurrent calls come in any order, so a result may be missing before the mark. */
export function isMissing(item: TranscriptItem, logged: LoggedContent | null, isBehindLog: boolean): boolean {
  if (logged === null) return true;
  if (item.type !== 'result') return isBehindLog && !(item.type === 'call' && logged.calls.has(item.callId));
  if (logged.results.has(item.callId)) return false;
  // A program whose server has exited treats its open requests as denied.
  if (item.isError && logged.waiting.has(item.callId)) return false;
  return isBehindLog || logged.calls.has(item.callId);
}

function isLogged(item: TranscriptItem, logged: LoggedContent, said: Map<string, number>): boolean {
  if (item.type !== 'said') return (item.type === 'call' ? logged.calls : logged.results).has(item.callId);
  const left = said.get(item.digest) ?? 0;
  said.set(item.digest, left - 1);
  return left > 0;
}
