import { FleetloomError } from '../../base/errors.ts';

/** Creates an error about a session. The caller can fix each of them, as the advice of its code says. */
export function sessionError(code: SessionErrorCode, problem: string): FleetloomError {
  return new FleetloomError({ code, kind: 'caller', problem, advice: codes[code] });
}

/** The codes of session errors. */
export type SessionErrorCode = keyof typeof codes;

/** Every code with what to do about it. */
export const codes = {
  session_not_found: 'check the id, and that it was not deleted',
  thread_not_found: 'check the id: the threads of the session are listed under it',
  session_archived: 'create a new session',
  session_terminated: 'create a new session',
  session_read_only: 'go on with it where it was imported from, or create a new session',
  session_running: 'wait until it is idle, or send user.interrupt first',
  session_elsewhere: 'repeat it in a moment: another process has the session, or had it until just now',
  thread_running: 'wait until it is idle, or interrupt it first',
  thread_ended: 'send the message to the session: its coordinator can begin another thread',
  thread_not_steerable: 'send the message to the session, which passes it on',
  thread_is_primary: 'archive the session instead',
  unknown_tool_use: 'answer an id that a tool use event of this session has',
  already_answered: 'answer each call once',
  approval_withdrawn: 'send a message: the agent goes on, and asks again if it still wants to make the call',
  wrong_answer: 'answer a confirmation with user.tool_confirmation, a custom tool with user.custom_tool_result',
  wrong_thread: 'leave session_thread_id out: the id of the tool use says where it belongs',
  input_not_changeable: 'allow the call as it is, or deny it and say in deny_message what to do instead',
  not_self_hosted: 'leave the result to the server, or use a self-hosted environment',
  event_too_deep: 'send it as text, or put it into a file and send its file_id',
  event_too_large:
    'upload images and documents with POST /v1/files and send their file_id, or mount them for the session',
  session_too_large: 'create a new session, and mount large content as files instead of sending it',
  not_forkable: 'fork an earlier event of a session of this server, or create a new session',
  not_a_program: 'use a session whose model is claude-code/…',
  program_not_running: 'send a message, which starts the program, and repeat the request',
  program_unsupported:
    'install a newer version: `controls` of GET /v1/programs/claude-code lists what the installed one has',
  program_failed: 'repeat it, or send a message to the session instead',
  not_restored: 'move away what is in the way, and repeat the request',
  not_mergeable: 'GET /v1/sessions/{session_id}/changes?thread= shows what a thread has changed',
  merge_conflict: 'have the agent of the thread resolve it, or change the files of the session, and repeat the request',
  not_rewindable: 'give the id of a user.message event of this session; of several in one request, the first',
  budget_reached: 'raise the budget of the session first',
  budget_create_only: 'create a new session with a budget',
  budget_not_raised: 'set a budget that is above what was used',
} as const;
