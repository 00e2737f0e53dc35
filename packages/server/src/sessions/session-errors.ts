import { FleetloomError } from '../base/errors.ts';

/** An error about a session. All of them are the caller's to mend. */
export function sessionError(code: SessionErrorCode, problem: string): FleetloomError {
  return new FleetloomError({ code, kind: 'caller', problem, advice: codes[code] });
}

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
  wrong_answer: 'answer a confirmation with user.tool_confirmation, a custom tool with user.custom_tool_result',
  wrong_thread: 'leave session_thread_id out: the id of the tool use says where it belongs',
  input_not_changeable: 'allow the call as it is, or deny it and say in deny_message what to do instead',
  not_self_hosted: 'leave the result to the server, or use a self-hosted environment',
  event_too_large: 'put large content into a file and name it',
  not_forkable: 'fork an earlier event of a session of this server, or create a new session',
  budget_reached: 'raise the budget of the session first',
  budget_create_only: 'create a new session with a budget',
  budget_not_raised: 'set a budget that is above what was used',
} as const;
