import type { EncodedFrame, Entry, FrameMark, RunMark } from './frame.ts';
import type { RunPlace } from './store.ts';

/** Updates the runs of a log with further frames, beginning at `firstSeq`. */
export function foldRuns(
  sessionId: string,
  known: readonly RunPlace[],
  frames: readonly EncodedFrame[],
  firstSeq: number,
): readonly RunPlace[] {
  if (!frames.some(({ mark }) => isRunMark(mark))) return known;
  const runs = [...known];
  for (const [index, { mark }] of frames.entries())
    if (isRunMark(mark)) foldRun(sessionId, runs, mark, firstSeq + index);
  return runs;
}

/** Adds the runs that begin and end in these entries. */
export function foldStoredRuns(sessionId: string, runs: RunPlace[], entries: readonly Entry[]): void {
  for (const entry of entries) {
    const mark = entry.kind === 'frame' ? entry.mark : undefined;
    if (isRunMark(mark)) foldRun(sessionId, runs, mark, entry.seq);
  }
}

/** Whether the frame starts or ends a run. */
export function isRunMark(mark: FrameMark | undefined): mark is RunMark {
  return mark !== undefined && mark !== 'delta';
}

function foldRun(sessionId: string, runs: RunPlace[], { run: id, time, isEnd }: RunMark, seq: number): void {
  if (!isEnd) return void runs.push({ sessionId, id, firstSeq: seq, lastSeq: null, startedAt: time, endedAt: null });
  const at = runs.findLastIndex((run) => run.id === id && run.lastSeq === null);
  if (at !== -1) runs[at] = { ...runs[at]!, lastSeq: seq, endedAt: time };
}

/** The position of a run in lists. A run id is not enough: a fork has the runs of its origin. */
export function positionOfRun({ sessionId, firstSeq, startedAt }: RunPlace) {
  return { time: startedAt, id: toRunListId(sessionId, firstSeq) };
}

/** An id that sorts the runs of a list by session and position. */
export function toRunListId(sessionId: string, firstSeq: number): string {
  return `${sessionId} ${String(firstSeq).padStart(SEQ_DIGITS, '0')}`;
}

const SEQ_DIGITS = String(Number.MAX_SAFE_INTEGER).length;

/** The name of the list in its cursors. */
export function runListOf(request: { readonly isOpen: true } | { readonly startedFrom: number }): string {
  return 'isOpen' in request ? 'open runs' : 'runs';
}
