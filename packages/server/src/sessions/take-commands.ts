import { type Command, parseCommands } from '@fleetloom/protocol/fleet';
import type { Json, JsonObject } from '../base/json.ts';
import type { EngineEvent } from '../engines/engine.ts';
import type { Draft } from './draft.ts';
import type { ThreadState } from './state.ts';

/**
 * Commands in what a model wrote, for models without tools. Each is a call of `delegate`; one that cannot be run is a
 * call too, so that the model is told why.
 */
export function takeCommands(draft: Draft, thread: ThreadState, { content, stop }: FinishedEvent): void {
  const { text_commands: isOn = false, members } = draft.state.created;
  if (!isOn || members.length === 0) return;
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const { commands, refused } = parseCommands(text);
  const isCut = stop.reason === 'max_tokens' || stop.reason === 'context_window_exceeded';
  for (const command of commands) {
    // Nobody may run half a call.
    const isHalf = isCut && command.to === text.length;
    addCommand(draft, thread, command.type, isHalf ? { refused: cutOff } : { tasks: toTasks(command) });
  }
  for (const { problem, from } of refused) {
    addCommand(draft, thread, /^\s*\/agent/.test(text.slice(from)) ? 'agent' : 'parallel', { refused: problem });
  }
}

type FinishedEvent = Pick<Extract<EngineEvent, { type: 'finished' }>, 'content' | 'stop'>;

const cutOff = 'the answer was cut off in this command: write it again, and less before it';

function toTasks(command: Command): Json {
  const children = command.type === 'agent' ? [command] : command.children;
  return children.map(({ agent, message }) => ({ agent, message }));
}

/** The name of the command goes along, for those who show what was run. */
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
