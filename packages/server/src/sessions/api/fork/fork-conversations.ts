import type { ProgramEngine } from '../../../engines/program/program.ts';
import type { Draft } from '../../core/draft.ts';
import { sessionError } from '../../core/session-errors.ts';
import { agentOf } from '../../core/state/agent-of.ts';
import { listProgramRoots, logThreadOf } from '../../core/state/program-threads.ts';
import type { ThreadState } from '../../core/state/state.ts';

/** What forking the conversations of programs needs. */
export interface ForkConversationParts {
  readonly programOf: (model: string) => Pick<ProgramEngine, 'copyConversation'>;
  readonly openWorkspace: (sessionId: string) => Promise<string>;
}

/**
 * Copies the conversations of the source session for the programs of the fork, up to the end of the last turn in the log. A
 * turn that was open there is not part of it.
 */
export async function forkConversations(
  draft: Draft,
  sourceId: string,
  parts: ForkConversationParts | undefined,
): Promise<void> {
  for (const root of listProgramRoots(draft.state)) {
    if (parts === undefined)
      throw sessionError('not_forkable', `${sourceId} is run by a program, and there are none here`);
    if (root.program.conversation !== null) await forkConversation(draft, root, sourceId, parts);
  }
}

async function forkConversation(
  draft: Draft,
  root: ThreadState,
  sourceId: string,
  { programOf, openWorkspace }: ForkConversationParts,
): Promise<void> {
  const { conversation, conversationAt: message } = root.program;
  const thread = logThreadOf(root);
  // No turn has ended: there is no conversation to copy.
  if (conversation === null || message === null)
    return draft.add(thread, 'program.forked', { conversation: null, message: null });
  const [from, to] = await Promise.all(
    [sourceId, draft.state.id].map(async (sessionId) => ({
      sessionId,
      threadId: thread?.id,
      directory: await openWorkspace(sessionId),
    })),
  );
  const engine = programOf(agentOf(draft.state, root).model.id);
  if (!(await engine.copyConversation({ conversation, message, from: from!, to: to! }))) {
    throw sessionError('not_forkable', `the program's transcript of ${sourceId} is not on this machine`);
  }
  draft.add(thread, 'program.forked', { conversation, message });
}
