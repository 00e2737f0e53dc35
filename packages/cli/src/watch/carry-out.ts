import { toAnswerText } from '@fleetloom/protocol/fleet';
import { resolve } from 'node:path';
import type { ServerApi } from '../connection/server-api.ts';
import { saveExport } from '../export/save-export.ts';
import type { Io } from '../io.ts';
import { formatPlural } from '../terminal/format.ts';
import type { WatchAction } from './action.ts';
import { readFacts } from './session-facts.ts';
import type { WatchModel } from './watch-model.ts';

/** What is carried out on the server. */
export type ServerAction = Exclude<WatchAction, { type: 'quit' | 'suspend' | 'replay' }>;

/** Sends what somebody decided. What the server says against it is shown, and the view goes on. */
export function carryOut(io: Io, api: ServerApi, model: WatchModel, action: ServerAction, onChange: () => void): void {
  const asked = action.type === 'answer' ? action.asks : action.type === 'result' ? [action.ask] : [];
  for (const { toolUseId } of asked) model.answered(toolUseId);
  send(api, model, action)
    .then((done) => model.say(done, io.timers.now()))
    .catch((error: unknown) => {
      for (const { toolUseId } of asked) model.unanswered(toolUseId);
      model.say(error instanceof Error ? error.message : String(error), io.timers.now());
    })
    .finally(onChange);
}

/** Gives what to say when it is done. */
async function send(api: ServerApi, model: WatchModel, action: ServerAction): Promise<string> {
  const path = `/v1/sessions/${encodeURIComponent(model.sessionId)}`;
  if (action.type === 'export') {
    const file = resolve(action.file);
    return `${formatPlural(await saveExport(api, model.sessionId, file), 'line')} written to ${file}`;
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
      const { asks, result, message } = action;
      const events = asks.map(({ toolUseId, rule }) => ({
        type: 'user.tool_confirmation',
        tool_use_id: toolUseId,
        result,
        ...(message === undefined ? {} : { deny_message: message }),
        ...(rule === undefined ? {} : { rule }),
      }));
      const what = asks.map(({ tool, agent }) => `${tool} of ${agent}`).join(', ');
      return { events, done: `${result === 'allow' ? 'Approved' : 'Denied'}: ${what}` };
    }
    case 'result': {
      const { ask, text } = action;
      const { questions } = ask;
      // One text answers all of its questions.
      const said =
        questions.length === 0
          ? text
          : toAnswerText(
              questions,
              questions.map(() => text),
            );
      const content = said === '' ? [] : [{ type: 'text', text: said }];
      const event = { type: 'user.custom_tool_result', custom_tool_use_id: ask.toolUseId, content };
      return { events: [event], done: `Answered: ${ask.tool} of ${ask.agent}` };
    }
    case 'send':
      return { events: [{ type: 'user.message', content: [{ type: 'text', text: action.text }] }], done: 'Said.' };
    case 'stop': {
      const { threadIds, whom } = action;
      const events = threadIds.map((id) => ({
        type: 'user.interrupt',
        ...(id === null ? {} : { session_thread_id: id }),
      }));
      return { events, done: `${whom} is told to stop.` };
    }
  }
}
