import type { ServerApi } from '../connection/server-api.ts';
import type { Io } from '../io.ts';
import type { WatchAction } from './handle-key.ts';
import type { WatchModel } from './watch-model.ts';

/** Sends what somebody decided. What the server says against it is shown, and the view goes on. */
export function carryOut(
  io: Io,
  api: ServerApi,
  model: WatchModel,
  action: Exclude<WatchAction, { type: 'quit' | 'suspend' }>,
  onChange: () => void,
): void {
  const { events, done } = toEvents(action);
  if (action.type === 'answer') model.answered(action.approval.toolUseId);
  api
    .post(`/v1/sessions/${model.sessionId}/events`, { events })
    .then(() => model.say(done, io.timers.now()))
    .catch((error: unknown) => {
      if (action.type === 'answer') model.unanswered(action.approval.toolUseId);
      model.say(error instanceof Error ? error.message : String(error), io.timers.now());
    })
    .finally(onChange);
}

function toEvents(action: Exclude<WatchAction, { type: 'quit' | 'suspend' }>): { events: object[]; done: string } {
  switch (action.type) {
    case 'answer': {
      const { approval, result, message } = action;
      const confirmation = { type: 'user.tool_confirmation', tool_use_id: approval.toolUseId, result };
      const events = [message === undefined ? confirmation : { ...confirmation, deny_message: message }];
      return { events, done: `${result === 'allow' ? 'Approved' : 'Denied'}: ${approval.tool} of ${approval.agent}` };
    }
    case 'send':
      return { events: [{ type: 'user.message', content: [{ type: 'text', text: action.text }] }], done: 'Said.' };
    case 'stop': {
      const { threadId, agent } = action.row;
      const thread = threadId === null ? {} : { session_thread_id: threadId };
      return { events: [{ type: 'user.interrupt', ...thread }], done: `${agent} is told to stop.` };
    }
  }
}
