import { cutText } from '@fleetloom/protocol/fleet';
import { baseLimits } from '../../base/limits.ts';
import type { FramePayloads, FrameType, SessionFrame } from '../../frames/frames.ts';
import type { SessionError } from '../../frames/payload-parts.ts';
import { addRequest, type FleetRun } from './fleet-run.ts';
import { toFileEvents } from './to-file-events.ts';
import { endAnswer, type FleetStream, type StreamCall, toVisible } from './fleet-stream.ts';
import { createOpenText, growBlock, settleBlock } from './open-text.ts';
import type { EventBody } from './event-body.ts';

export interface StreamContext {
  readonly stream: FleetStream;
  readonly run: FleetRun;
  /** The time of the frame. */
  readonly time: number;
  readonly includeThinking: boolean;
}

/** The fleet events of a frame about the turn that it belongs to. */
export function toTurnEvents(frame: SessionFrame, context: StreamContext): readonly EventBody[] {
  // One converter per type, so the payload is that of its type.
  const convert = converters[frame.type] as ToEvents<FrameType> | undefined;
  return convert === undefined ? [] : convert(frame.payload, context);
}

type ToEvents<Type extends FrameType> = (payload: FramePayloads[Type], context: StreamContext) => readonly EventBody[];

const converters: { readonly [Type in FrameType]?: ToEvents<Type> } = {
  'span.model_request_start': ({ model, iteration }) => [{ type: 'agent_start', model, iteration }],
  'delta.queued': ({ reason, ahead, until }) => [
    { type: 'request_queued', reason, ahead, ...(until === null ? {} : { until }) },
  ],
  'delta.admitted': () => [{ type: 'request_admitted' }],
  'agent.thread_context_compacted': () => [{ type: 'context_compacted' }],
  'program.settings': (loaded) => [{ type: 'settings_loaded', ...loaded }],
  'delta.text': ({ id, text }, { stream }) => {
    growBlock(stream.said, id, text.length);
    return toVisible(stream, stream.gate.text(text));
  },
  'agent.message': ({ id, content }, { stream, run }) => {
    const rest = settleBlock(stream.said, id, content.map(({ text }) => text).join(''));
    const from = stream.textChars;
    if (rest === '') return [];
    const events = toVisible(stream, stream.gate.text(rest));
    // A reader that reconnects may have received deltas that are now removed: the text starts again for every reader.
    return run.isPruned ? [{ type: 'text_retract', from }, ...events] : events;
  },
  'delta.started': ({ block }, { includeThinking }) =>
    block === 'thinking' && includeThinking ? [{ type: 'thinking', delta: '' }] : [],
  'delta.thinking': ({ id, text }, { stream, includeThinking }) => {
    growBlock(stream.thought, id, text.length);
    stream.thinkingChars += text.length;
    return includeThinking ? [{ type: 'thinking', delta: text }] : [];
  },
  'agent.thinking': ({ id, block }, { stream, includeThinking }) => {
    const delta = settleBlock(stream.thought, id, block.type === 'thinking' ? block.thinking : '');
    stream.thinkingChars += delta.length;
    return includeThinking && delta !== '' ? [{ type: 'thinking', delta }] : [];
  },

  'delta.output': ({ id: tool_use_id, text: delta }, { stream }) => {
    const call = stream.calls.get(tool_use_id);
    return call === undefined ? [] : [{ type: 'tool_output', tool: call.name, tool_use_id, delta }];
  },
  'agent.plan': ({ items }) => [{ type: 'plan', items }],

  'agent.tool_use': (use, context) => {
    const { stream } = context;
    // A command is found in the text, where the gate finds it too.
    const isTool = use.kind === 'session' && use.is_command !== true && use.name !== 'list_agents';
    const events = isTool ? toVisible(stream, stream.gate.delegate(delegationOf(use))) : [];
    return [...events, ...startCall(isTool ? use : withCommand(use), use.evaluated_permission, context)];
  },
  'agent.mcp_tool_use': (use, context) =>
    startCall({ ...use, name: `${use.mcp_server_name}: ${use.name}` }, use.evaluated_permission, context),
  'approval.requested': ({ tool_use_id, kind, reason, input: shown }, { stream }) => {
    const call = stream.calls.get(tool_use_id);
    if (call === undefined || kind === 'question') return [];
    const { name: tool, input } = { ...call, ...(shown === undefined ? {} : { input: shown }) };
    stream.calls.set(tool_use_id, { ...call, input });
    const more = { ...(kind === 'plan' ? { kind } : {}), ...(reason === null ? {} : { reason }) };
    return [{ type: 'approval_required', tool, tool_use_id, input, ...more }];
  },
  'agent.custom_tool_use': ({ id, name, input }, context) =>
    startCall({ id, name, input }, 'allow', context).map((event) => ({ ...event, awaits_result: true })),
  'user.tool_confirmation': (decided, { stream }) => {
    const { tool_use_id, result, by = 'client', rule, rule_id, input_sha256, updated_input, not_applied } = decided;
    const call = stream.calls.get(tool_use_id);
    // The approval was already emitted as withdrawn; a decision that came too late does not resolve it again.
    if (call === undefined || not_applied !== undefined) return [];
    const { name: tool, input } = call;
    const run = updated_input ?? input;
    stream.calls.set(tool_use_id, { ...call, input: run });
    const resolved: EventBody = {
      type: 'approval_resolved',
      tool_use_id,
      tool,
      input,
      result,
      by,
      ...(typeof rule === 'string' ? { rule } : {}),
      ...(rule_id === undefined ? {} : { rule_id }),
      ...(input_sha256 === undefined ? {} : { input_sha256 }),
      ...(updated_input === undefined ? {} : { updated_input }),
    };
    return result === 'deny' ? [resolved] : [resolved, { type: 'tool_start', tool, tool_use_id, input: run }];
  },
  'user.custom_tool_result': ({ custom_tool_use_id: id, not_applied, ...result }, context) =>
    not_applied === undefined ? endCall({ ...result, id }, context) : [],
  'user.tool_result': ({ tool_use_id: id, not_applied, ...result }, context) =>
    not_applied === undefined ? endCall({ ...result, id }, context) : [],
  'agent.tool_result': ({ tool_use_id: id, ...result }, context) => endCall({ ...result, id }, context),
  'agent.mcp_tool_result': ({ mcp_tool_use_id: id, ...result }, context) => endCall({ ...result, id }, context),

  'span.model_request_end': (request, { stream, run, includeThinking }) => {
    const { is_error: isError, not_run: notRun = [] } = request;
    if (!isError) stream.failures = 0;
    const used = addRequest(run, request);
    if (stream.depth === 0 && !isError) run.notRun = notRun;
    // The coordinator's text may be released only now, and nothing of this request follows it.
    const usage = stream.depth === 0 ? [used] : [];
    if (stream.depth > 0) stream.usage = used;
    if (stream.isProgram) return [...usage, ...endAnswer(stream, includeThinking)];
    stream.said = createOpenText();
    // Whether the text stays depends on the next frame.
    stream.isFailed = isError;
    if (isError) return usage;
    stream.thought = createOpenText();
    return [...usage, ...toVisible(stream, stream.gate.end('ok', notRun))];
  },
  'session.error': ({ error, retry, retry_at: at, program_retry: again }, { stream, run }) => {
    const attempt = again ?? (at === null ? null : { at, attempts_max: baseLimits.requestRetriesMax + 1 });
    // Without a further attempt, the error is about a tool that could not be offered: the request is made without that tool.
    if (retry === 'retrying') return attempt === null ? [] : [toRetrying(stream, error, attempt)];
    stream.isErrorEmitted = true;
    if (stream.depth === 0) run.errorCode = error.type;
    return [{ type: 'error', message: error.message, code: error.type }];
  },
  'turn.ended': ({ ok, stop_reason, error }, { stream, includeThinking }) => {
    // A block may arrive after the end of its request.
    const late = stream.isProgram ? endAnswer(stream, includeThinking) : [];
    const body: EventBody[] = stream.depth > 0 ? [{ type: 'sub_agent_response', content: stream.text }] : [];
    const usage = stream.usage === null ? [] : [stream.usage];
    const isErrorDue = !ok && !stream.isErrorEmitted;
    const fault: EventBody[] = isErrorDue ? [{ type: 'error', message: error ?? stop_reason, code: stop_reason }] : [];
    const end = { type: 'stream_end', ok, stop_reason, ...(error === null ? {} : { error }) } as const;
    return [...late, ...body, ...usage, ...fault, end];
  },
};

/** A restart of the server is not a failure of the endpoint, so it does not count as an attempt. */
function toRetrying(
  stream: FleetStream,
  { type: code, reason, message }: SessionError,
  { at: retryAt, attempts_max: attemptsMax }: NonNullable<FramePayloads['session.error']['program_retry']>,
): EventBody {
  if (reason !== 'restarted') stream.failures++;
  return {
    type: 'request_retrying',
    code,
    ...(reason === undefined ? {} : { reason }),
    message,
    attempt: stream.failures + 1,
    ...(attemptsMax === null ? {} : { attempts_max: attemptsMax }),
    retry_at: retryAt,
  };
}

interface Use {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly approval?: 'on_request';
}

/** A command keeps the name that the model wrote. */
function withCommand(use: FramePayloads['agent.tool_use']): Use {
  const { command } = (use.input ?? {}) as { readonly command?: unknown };
  return use.is_command === true && typeof command === 'string' ? { ...use, name: command } : use;
}

function startCall(
  { id: tool_use_id, name: tool, input, approval }: Use,
  permission: 'allow' | 'ask' | 'deny',
  { stream, time: since }: StreamContext,
): EventBody[] {
  stream.calls.set(tool_use_id, { name: tool, input, since });
  if (permission === 'deny') return [];
  if (permission === 'ask' && approval === 'on_request') return [];
  return [{ type: permission === 'ask' ? 'approval_required' : 'tool_start', tool, tool_use_id, input }];
}

/** The name of the agent, or the number of agents that start together. */
function delegationOf({ name, input }: Use) {
  const { agent, tasks, subagent_type: kind } = (input ?? {}) as Record<string, unknown>;
  // The field of the claude program.
  if (typeof kind === 'string') return { agent: kind };
  if (name === 'send_to_agent' && typeof agent === 'string') return { agent };
  if (!Array.isArray(tasks)) return { agent: name };
  const [first] = tasks as readonly { readonly agent?: unknown }[];
  return tasks.length === 1 && typeof first?.agent === 'string' ? { agent: first.agent } : { children: tasks.length };
}

interface Ended {
  readonly id: string;
  readonly is_error: boolean;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  /** Absent for results of custom tools. */
  readonly is_interrupted?: boolean;
  readonly duration_ms?: number;
  readonly closes_ask?: string | null;
  readonly closed_by?: string;
  readonly file?: { readonly path: string; readonly content: string };
}

function endCall(ended: Ended, { stream, run, time }: StreamContext): EventBody[] {
  const { id: tool_use_id, is_error: isError, is_interrupted: isInterrupted = false } = ended;
  const call = stream.calls.get(tool_use_id);
  if (call === undefined) return [];
  stream.calls.delete(tool_use_id);
  const { duration_ms = time - call.since } = ended;
  const text = ended.content.flatMap((block) => block.text ?? []).join('\n');
  const error = isInterrupted ? 'interrupted' : cutText(text, baseLimits.excerptCharsMax);
  const events: EventBody = {
    type: 'tool_call',
    tool: call.name,
    tool_use_id,
    ok: !isError,
    duration_ms,
    ...(isError ? { error } : {}),
  };
  return isError ? [...withdrawn(ended, call), events] : [events, ...toFileEvents(run, call, ended.file)];
}

/** The approval is withdrawn. A pending custom tool result has another id than the call and was never emitted as an approval. */
function withdrawn(
  { id: tool_use_id, closes_ask: ask, closed_by: by }: Ended,
  { name: tool, input }: StreamCall,
): EventBody[] {
  if (ask !== tool_use_id || by === 'not_requested') return [];
  return [
    { type: 'approval_resolved', tool_use_id, tool, input, result: 'withdrawn', ...(by === undefined ? {} : { by }) },
  ];
}
