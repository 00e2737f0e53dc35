import type { ProgramEngine } from '../../engines/program.ts';
import type { Draft } from '../draft.ts';
import { sessionError } from '../session-errors.ts';

export interface ForkConversationParts {
  readonly programs: Pick<ProgramEngine, 'copyConversation'>;
  readonly openWorkspace: (sessionId: string) => Promise<string>;
}

/**
 * What the program of the forked session has to go on with: the conversation of the other session, up to the end of the last turn in the
 * log. A turn that was open there is not part of it.
 */
export async function forkConversation(
  draft: Draft,
  sourceId: string,
  parts: ForkConversationParts | undefined,
): Promise<void> {
  if (parts === undefined)
    throw sessionError('not_forkable', `${sourceId} is run by a program, and there are none here`);
  const { programs, openWorkspace } = parts;
  const { id, conversation, conversationAt } = draft.state;
  if (conversation === null) return;
  // No turn has ended: the program has nothing to remember.
  if (conversationAt === null) return draft.add(null, 'program.forked', { conversation: null, message: null });
  const [from, to] = await Promise.all(
    [sourceId, id].map(async (sessionId) => ({ sessionId, directory: await openWorkspace(sessionId) })),
  );
  if (!(await programs.copyConversation({ conversation, message: conversationAt, from: from!, to: to! }))) {
    throw sessionError('not_forkable', `the program's transcript of ${sourceId} is not on this machine`);
  }
  draft.add(null, 'program.forked', { conversation, message: conversationAt });
}
