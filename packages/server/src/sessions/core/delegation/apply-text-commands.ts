import { type AgentCommand, type Command, parseCommands, type RefusedCommand } from '@fleetloom/protocol/fleet';
import type { Json, JsonObject } from '../../../base/json/json.ts';
import { sessionLimits } from '../limits.ts';
import type { EngineEvent } from '../../../engines/model/engine.ts';
import type { NotRun } from '../../../frames/payload-parts.ts';
import type { Draft } from '../draft.ts';
import { isSeen } from '../state/seen-commands.ts';
import type { ThreadState } from '../state/state.ts';

/**
 * Runs the commands in the text of a model response, for models without tools. Each is a call of `delegate`; one that cannot be run is a
 * call too, so that the model gets the reason. Returns the commands that were not run: they are shown as text.
 */
export function applyTextCommands(
  draft: Draft,
  thread: ThreadState,
  { content, stop }: FinishedEvent,
): readonly NotRun[] {
  const { text_commands: isOn = false, members } = draft.state.created;
  if (!isOn || members.length === 0) return [];
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const isCut = stop.reason === 'max_tokens' || stop.reason === 'context_window_exceeded';
  const { commands, refused } = parseCommands(text);
  const count = countAllowed(commands);
  const notRun: NotRun[] = [];
  for (const command of commands.slice(0, count)) {
    const { type, from, to } = command;
    // A command that was cut off must not run.
    const reason = isCut && to === text.length ? 'cut_off' : isQuoted(thread, command) ? 'quoted' : undefined;
    if (reason !== undefined) notRun.push({ from, to, reason });
    if (reason === undefined) addCommand(draft, thread, type, { tasks: toTasks(command) });
    else if (reason === 'cut_off') addCommand(draft, thread, type, { refused: cutOff });
    // A model that quotes in every response must not be requested again and again.
    else if (thread.turn!.quotes < sessionLimits.quotedReportsMax) addCommand(draft, thread, type, { refused: quoted });
  }
  notRun.push(...refuseRest(draft, thread, commands.slice(count)));
  reportRefused(draft, thread, refused, text);
  return notRun;
}

type FinishedEvent = Pick<Extract<EngineEvent, { type: 'finished' }>, 'content' | 'stop'>;

const cutOff = 'the answer was cut off in this command: write it again, and less before it';

const quoted =
  'this command was not run, because what you have read contains the same line and repeating it must not run it: ' +
  'to show it, indent it by four spaces or put it into a code fence; to run it, say it in your own words';

const tooMany = `an answer can give ${sessionLimits.textCommandTasksMax} tasks, so the commands behind them were not run: write them in your next answer`;

function isQuoted({ seen }: ThreadState, command: Command): boolean {
  return seen !== null && tasksOf(command).some((task) => isSeen(seen, task));
}

function toTasks(command: Command): Json {
  return tasksOf(command).map(({ agent, message }) => ({ agent, message }));
}

function tasksOf(command: Command): readonly AgentCommand[] {
  return command.type === 'agent' ? [command] : command.children;
}

/** How many of the commands fit into the task limit of one response. */
function countAllowed(commands: readonly Command[]): number {
  let tasks = 0;
  const over = commands.findIndex((command) => (tasks += tasksOf(command).length) > sessionLimits.textCommandTasksMax);
  return over === -1 ? commands.length : over;
}

/** Reports all commands over the limit once. */
function refuseRest(draft: Draft, thread: ThreadState, rest: readonly Command[]): NotRun[] {
  const [first] = rest;
  const last = rest.at(-1);
  if (first === undefined || last === undefined) return [];
  addCommand(draft, thread, first.type, { refused: tooMany });
  return [{ from: first.from, to: last.to, reason: 'too_many' }];
}

function reportRefused(draft: Draft, thread: ThreadState, refused: readonly RefusedCommand[], text: string): void {
  for (const { problem, from } of refused.slice(0, sessionLimits.textCommandTasksMax)) {
    addCommand(draft, thread, /^ {0,3}\/agent/.test(text.slice(from, from + 9)) ? 'agent' : 'parallel', {
      refused: problem,
    });
  }
}

/** The input has the name of the command, for views. */
function addCommand(draft: Draft, thread: ThreadState, command: Command['type'], input: JsonObject): void {
  draft.event(thread, 'agent.tool_use', {
    call_id: '',
    name: 'delegate',
    input: { command, ...input },
    kind: 'session',
    runs_at: 'server',
    evaluated_permission: 'allow',
    is_command: true,
  });
}
