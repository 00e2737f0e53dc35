import { toAnswerText } from '@fleetloom/protocol/fleet';
import { resolve } from 'node:path';
import { plural } from '@fleetloom/protocol/text';
import type { ServerApi } from '../../connection/server-api.ts';
import { saveExport } from '../../export/save-export.ts';
import type { Io } from '../../base/io.ts';
import type { WatchAction } from '../state/action.ts';
import { readFacts } from '../state/session-facts.ts';
import type { WatchModel } from '../state/watch-model.ts';

/** Actions that are sent to the server. */
export type ServerAction = Exclude<WatchAction, { type: 'quit' | 'back' | 'suspend' | 'replay' }>;

/** Sends an action to the server. A rejection is shown in the footer. */
export function runAction(io: Io, api: ServerApi, model: WatchModel, action: ServerAction, onChange: () => void): void {
  const asked = action.type === 'answer' ? action.pendingCalls : action.type === 'result' ? [action.pendingCall] : [];
  for (const { toolUseId } of asked) model.answered(toolUseId);
  send(api, model, action)
    .then((done) => model.say(done, io.timers.now()))
    .catch((error: unknown) => {
      for (const { toolUseId } of asked) model.unanswered(toolUseId);
      model.say(error instanceof Error ? error.message : String(error), io.timers.now());
    })
    .finally(onChange);
}

/** Returns the notice to show afterwards. */
async function send(api: ServerApi, model: WatchModel, action: ServerAction): Promise<string> {
  const path = `/v1/sessions/${encodeURIComponent(model.sessionId)}`;
  if (action.type === 'export') {
    const file = resolve(action.file);
    return `${plural(await saveExport(api, model.sessionId, file), 'line')} written to ${file}`;
  }
  if (action.type === 'update') {
    await api.post(path, action.body);
    model.facts = await readFacts(api, model.sessionId);
    return action.done;
  }
  const { events, done } = toEvents(action);
  await api.post(`${path}/events`, { events });
  return done;
}

function toEvents(action: Exclude<ServerAction, { type: 'export' | 'update' }>): { events: object[]; done: string } {
  switch (action.type) {
    case 'answer': {
      const { pendingCalls, result, message } = action;
      const events = pendingCalls.map(({ toolUseId, rule }) => ({
        type: 'user.tool_confirmation',
        tool_use_id: toolUseId,
        result,
        ...(message === undefined ? {} : { deny_message: message }),
        ...(rule === undefined ? {} : { rule }),
      }));
      const what = pendingCalls.map(({ tool, agent }) => `${tool} of ${agent}`).join(', ');
      return { events, done: `${result === 'allow' ? 'Approved' : 'Denied'}: ${what}` };
    }
    case 'result': {
      const { pendingCall, text } = action;
      const { questions } = pendingCall;
      // One text answers all questions.
      const said =
        questions.length === 0
          ? text
          : toAnswerText(
              questions,
              questions.map(() => text),
            );
      const content = said === '' ? [] : [{ type: 'text', text: said }];
      const event = { type: 'user.custom_tool_result', custom_tool_use_id: pendingCall.toolUseId, content };
      return { events: [event], done: `Answered: ${pendingCall.tool} of ${pendingCall.agent}` };
    }
    case 'send':
      return { events: [{ type: 'user.message', content: [{ type: 'text', text: action.text }] }], done: 'Said.' };
    case 'stop': {
      const { threadIds, target } = action;
      const events = threadIds.map((id) => ({
        type: 'user.interrupt',
        ...(id === null ? {} : { session_thread_id: id }),
      }));
      return { events, done: `Interrupting ${target}.` };
    }
  }
}
