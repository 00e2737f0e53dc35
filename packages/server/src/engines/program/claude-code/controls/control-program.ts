import type { ControlAnswer, ControlRequest, ProgramRewind } from '../../program-controls.ts';
import type { ControlRequests } from './control-requests.ts';
import { toMessageUuid } from './to-message-uuid.ts';
import { toProgramDiff } from './to-program-diff.ts';
import { toProgramUsage } from './to-program-usage.ts';
import { number, text } from '../../lines/values.ts';

/** Sends a control request to the program in its own protocol, and translates the response. */
export async function controlProgram(
  requests: Pick<ControlRequests, 'ask'>,
  sessionId: string,
  request: ControlRequest,
): Promise<ControlAnswer> {
  switch (request.type) {
    case 'usage': {
      // Skips the scan of all transcripts of the last days that newer versions make.
      const reply = await requests.ask('get_usage', { skip_behaviors: true });
      return reply.type === 'success' ? toProgramUsage(reply.response) : reply;
    }
    case 'diff': {
      const reply = await requests.ask('get_workspace_diff', {});
      return reply.type === 'success' ? toProgramDiff(reply.response) : reply;
    }
    case 'rewind':
      return await rewind(requests, toMessageUuid(sessionId, request.messageId), request.isDryRun);
  }
}

/** Always sends a dry run first: only its response lists the files. */
async function rewind(requests: Pick<ControlRequests, 'ask'>, uuid: string, isDryRun: boolean): Promise<ControlAnswer> {
  const fields = { user_message_id: uuid };
  const tried = await requests.ask('rewind_files', { ...fields, dry_run: true });
  if (tried.type !== 'success') return tried;
  const { canRewind, error, filesChanged, insertions, deletions } = tried.response;
  if (canRewind !== true) return { type: 'failed', message: text(error) ?? 'it cannot rewind to this message' };
  const answer: ProgramRewind = {
    type: 'rewind',
    isDryRun,
    files: Array.isArray(filesChanged) ? filesChanged.flatMap((path) => text(path) ?? []) : [],
    added: number(insertions) ?? 0,
    removed: number(deletions) ?? 0,
  };
  if (isDryRun) return answer;
  const done = await requests.ask('rewind_files', fields);
  return done.type === 'success' ? answer : done;
}
