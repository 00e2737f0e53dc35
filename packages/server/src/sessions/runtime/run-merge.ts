import { textResult, type ToolResult } from '../../tools/tool.ts';
import { describeConflicts } from '../../workspaces/changes/describe-conflicts.ts';
import type { Call } from '../core/state/state.ts';
import type { MergeReport, MergeRequest } from './merge-files.ts';
import type { SessionFiles } from './session-files.ts';

/** Runs a call of `merge_changes`, which was checked when it was started. It always has a result, and is not stopped. */
export async function runMerge(files: Pick<SessionFiles, 'merge'> | null, { id, input }: Call): Promise<ToolResult> {
  const { thread_id: threadId } = input as { readonly thread_id: string };
  const request: MergeRequest = { threadId, toolUseId: id, by: null };
  if (files === null) return textResult('ERR: the files of this session are not recorded', { isError: true });
  try {
    return toResult(await files.merge(request), request.threadId);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return textResult(`ERR: the changes of ${request.threadId} cannot be merged: ${reason}`, { isError: true });
  }
}

function toResult(report: MergeReport, threadId: string): ToolResult {
  switch (report.type) {
    case 'merged':
      return textResult(describeMerged(report, threadId));
    case 'nothing':
      return textResult(`${threadId} has no changes that were not merged before. Nothing was written.`);
    case 'failed':
      return textResult(`ERR: the files cannot be written (${report.reason}), and are as they were`, { isError: true });
    case 'conflicts':
      return textResult(
        `ERR: the changes of ${threadId} conflict with your workspace, and nothing was written. "ours" is your workspace, "theirs" the thread.\n${describeConflicts(report.files)}`,
        { isError: true },
      );
  }
}

function describeMerged({ files }: Extract<MergeReport, { type: 'merged' }>, threadId: string): string {
  if (files.length === 0) return `Your workspace has the changes of ${threadId} already. Nothing was written.`;
  const lines = files.slice(0, LISTED_MAX).map(({ path, status }) => `${status} ${path}`);
  const more = files.length > lines.length ? [`… and ${files.length - lines.length} more`] : [];
  const count = `${files.length} ${files.length === 1 ? 'file' : 'files'}`;
  return [`Merged the changes of ${threadId} into your workspace, ${count}:`, ...lines, ...more].join('\n');
}

const LISTED_MAX = 50;
