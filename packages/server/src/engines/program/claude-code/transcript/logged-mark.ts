import type { LoggedContent } from '../../ended-conversation.ts';
import { MAIN } from '../../program.ts';
import { record, text } from '../../lines/values.ts';
import { blocksOf } from './silent-agent.ts';
import type { TranscriptFile } from './transcript-file.ts';
import { isOfAgent, type TranscriptItem, toTranscriptItem } from './transcript-items.ts';

interface LoggedAgent {
  readonly key: string;
  /** Null: the log does not know the agent. */
  readonly logged: LoggedContent | null;
}

/** How far the log has a transcript. */
export interface LoggedMark {
  /** Records up to the last one of which the log has anything. */
  readonly records: number;
  /** The message that this record is a part of, if the log has a call of that message. */
  readonly callingId: string | undefined;
}

/** Reads a transcript up to its end. Equal texts are distinguished by their number. */
export async function findMark(file: TranscriptFile, { key, logged }: LoggedAgent): Promise<LoggedMark> {
  let mark: LoggedMark = { records: 0, callingId: undefined };
  if (logged === null) return mark;
  const said = new Map(logged.said);
  let records = 0;
  await file.read((transcribed) => {
    records++;
    if (!isOfAgent(transcribed, key === MAIN)) return 'continue';
    const items = blocksOf(transcribed).map(toTranscriptItem);
    // Each of them counts, so none is left out.
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

/** Results of calls that are made at once come in any order, so that one may be missing before what was logged. */
export function isMissing(item: TranscriptItem, logged: LoggedContent | null, isBehindLog: boolean): boolean {
  if (logged === null) return true;
  if (item.type !== 'result') return isBehindLog && !(item.type === 'call' && logged.calls.has(item.callId));
  if (logged.results.has(item.callId)) return false;
  // A program whose server is gone takes its open requests for denied.
  if (item.isError && logged.waiting.has(item.callId)) return false;
  return isBehindLog || logged.calls.has(item.callId);
}

function isLogged(item: TranscriptItem, logged: LoggedContent, said: Map<string, number>): boolean {
  if (item.type !== 'said') return (item.type === 'call' ? logged.calls : logged.results).has(item.callId);
  const left = said.get(item.digest) ?? 0;
  said.set(item.digest, left - 1);
  return left > 0;
}
