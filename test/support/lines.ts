import {
  type AgentEvent,
  type StreamJsonMessage,
  Translator,
  type TranslatorOptions,
  type WireBlock,
} from '@fleetloom/protocol/stream-json';

/** Lines as Claude Code writes them, with only what a test is about. */

export const text = (content: string): WireBlock => ({ type: 'text', text: content });
export const thinking = (content: string): WireBlock => ({ type: 'thinking', thinking: content });
export const call = (id: string, name = 'Bash', input: unknown = {}): WireBlock => ({
  type: 'tool_use',
  id,
  name,
  input,
});

/** An assistant line of message `id`; an empty id is a message without one. */
export function assistant(id: string, content: unknown, fields: object = {}): StreamJsonMessage {
  return { type: 'assistant', message: { ...(id && { id }), content }, ...fields } as StreamJsonMessage;
}

export function user(content: unknown, fields: object = {}): StreamJsonMessage {
  return { type: 'user', message: { role: 'user', content }, ...fields } as StreamJsonMessage;
}

export function toolResult(toolUseId: string, content: unknown, fields: object = {}): StreamJsonMessage {
  return user([{ type: 'tool_result', tool_use_id: toolUseId, content }], fields);
}

export function system(subtype: string, fields: object = {}): StreamJsonMessage {
  return { type: 'system', subtype, ...fields };
}

export function init(fields: object = {}): StreamJsonMessage {
  return system('init', { model: 'claude-opus-4-8', session_id: 's1', ...fields });
}

export function result(fields: object = {}): StreamJsonMessage {
  return { type: 'result', subtype: 'success', is_error: false, result: 'done', ...fields };
}

/** An agent starts: its task id, the call that spawned it. */
export function taskStarted(taskId: string, toolUseId: string, fields: object = {}): StreamJsonMessage {
  return system('task_started', { task_id: taskId, tool_use_id: toolUseId, task_type: 'local_agent', ...fields });
}

export function taskEnded(taskId: string, fields: object = {}): StreamJsonMessage {
  return system('task_notification', { task_id: taskId, status: 'completed', ...fields });
}

export function streamEvent(event: object, fields: object = {}): StreamJsonMessage {
  return { type: 'stream_event', event, parent_tool_use_id: null, ...fields };
}

/** The stream events of one block: its start, its deltas, and its end unless `stop` is false. */
export function streamed(index: number, start: WireBlock, deltas: object[], { stop = true } = {}): StreamJsonMessage[] {
  const lines = [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    ...(stop ? [{ type: 'content_block_stop', index }] : []),
  ];
  return lines.map((event) => streamEvent(event));
}

export const messageStart = (id: string): StreamJsonMessage => streamEvent({ type: 'message_start', message: { id } });
export const messageStop = (fields: object = {}): StreamJsonMessage => streamEvent({ type: 'message_stop' }, fields);
export const textDelta = (content: string): object => ({ type: 'text_delta', text: content });
export const thinkingDelta = (content: string): object => ({ type: 'thinking_delta', thinking: content });
export const inputDelta = (content: string): object => ({ type: 'input_json_delta', partial_json: content });

export function translate(lines: StreamJsonMessage[], options: TranslatorOptions = {}): AgentEvent[] {
  const translator = new Translator(options);
  return lines.flatMap((line) => translator.translate(line));
}

/** A short form of an event: `main text_delta m1.0 Hello`. */
export function brief(event: AgentEvent): string {
  const place = 'block' in event && event.block !== undefined ? `${event.message_id ?? ''}.${event.block}` : undefined;
  return [event.thread, event.type, place, saying(event)].filter((part) => part !== undefined).join(' ');
}

export function briefs(lines: StreamJsonMessage[], options: TranslatorOptions = {}): string[] {
  return translate(lines, options).map(brief);
}

function saying(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'text_delta':
    case 'thinking_delta':
    case 'tool_input_delta':
    case 'replace':
      return event.content;
    case 'prompt':
      return `${event.role}: ${event.content}`;
    case 'tool_use':
    case 'tool_use_start':
      return event.toolUseId;
    case 'tool_result':
      return `${event.toolUseId}: ${event.output}`;
    case 'thread_start':
    case 'thread_update':
      return event.parent === undefined ? undefined : `parent ${event.parent}`;
    case 'run_start':
      return `${event.run}${event.late ? ' late' : ''}`;
    case 'thread_status':
      return `${event.status} by ${event.source}${event.late ? ' late' : ''}`;
    case 'raw':
      return event.kind;
    default:
      return undefined;
  }
}
