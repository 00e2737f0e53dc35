import type { AssistantBlock, ToolUseBlock } from '../base/content.ts';
import type { EngineEvent, Usage } from '../engines/engine.ts';
import type { ToolOffer } from '../tools/toolbox.ts';
import { agentOf } from './agent-of.ts';
import { isDelegation } from './delegation-tools.ts';
import { takeCommands } from './take-commands.ts';
import type { Draft } from './draft.ts';
import type { StopDetails, UsageTotals } from '../frames/frames.ts';
import type { ThreadState } from './state.ts';

export interface Answered {
  readonly startId: string;
  readonly event: Extract<EngineEvent, { type: 'finished' }>;
  readonly costNanoUsd: number | null;
  /** What the model was offered when it was asked. */
  readonly offer: ToolOffer;
  /** Ids that blocks were given while they grew, by their index. */
  readonly eventIds: ReadonlyMap<number, string>;
}

/** Writes down what the model said, all of it at once: half an answer is none. */
export function takeAnswer(draft: Draft, thread: ThreadState, answered: Answered): void {
  const { event } = answered;
  const isRefusal = event.stop.reason === 'refusal';
  for (const [index, block] of event.content.entries()) {
    // A refusal voids what was called for before it.
    if (block.type === 'tool_use' && isRefusal) continue;
    takeBlock(draft, thread, block, answered, answered.eventIds.get(index));
  }
  const notRun = isRefusal ? [] : takeCommands(draft, thread, event);
  draft.event(thread, 'span.model_request_end', {
    model_request_start_id: answered.startId,
    is_error: false,
    model: event.model,
    model_usage: toTotals(event.usage, answered.costNanoUsd),
    stop_reason: event.stop.reason,
    stop_details: isRefusal ? toDetails(event.stop) : null,
    context_window: draft.windowTokens(agentOf(draft.state, thread).model.id),
    ...(notRun.length === 0 ? {} : { not_run: notRun }),
  });
}

export function toTotals(usage: Usage | null, costNanoUsd: number | null): UsageTotals {
  return {
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    cache_read_input_tokens: usage?.cacheReadTokens ?? 0,
    cache_creation_5m_input_tokens: usage?.cacheWrite5mTokens ?? 0,
    cache_creation_1h_input_tokens: usage?.cacheWrite1hTokens ?? 0,
    cost_nano_usd: usage === null ? 0 : costNanoUsd,
  };
}

function takeBlock(
  draft: Draft,
  thread: ThreadState,
  block: AssistantBlock,
  { offer }: Answered,
  id: string | undefined,
): void {
  if (block.type === 'text') {
    if (block.text === '') return;
    const content = [block];
    if (id === undefined) draft.event(thread, 'agent.message', { content });
    else draft.add(thread, 'agent.message', { id, content });
  } else if (block.type === 'thinking' || block.type === 'redacted_thinking') {
    if (id === undefined) draft.event(thread, 'agent.thinking', { block });
    else draft.add(thread, 'agent.thinking', { id, block });
  } else if (block.type === 'tool_use') {
    takeCall(draft, thread, block, offer);
  } else {
    draft.add(thread, 'agent.block', { block });
  }
}

/** Who runs the call, and whether it may be run. */
function takeCall(draft: Draft, thread: ThreadState, { id, name, input }: ToolUseBlock, { tools }: ToolOffer): void {
  const { state } = draft;
  const call = { call_id: id, name, input };
  if (isDelegation(state, thread, name, tools.has(name))) {
    draft.event(thread, 'agent.tool_use', {
      ...call,
      kind: 'session',
      runs_at: 'server',
      evaluated_permission: 'allow',
    });
    return;
  }
  const tool = tools.get(name);
  if (tool?.kind === 'custom' && tool.isEnabled) {
    draft.event(thread, 'agent.custom_tool_use', call);
    return;
  }
  const permission = tool === undefined || tool.kind === 'custom' || !tool.isEnabled ? 'deny' : tool.permission;
  if (tool?.kind === 'mcp') {
    draft.event(thread, 'agent.mcp_tool_use', {
      ...call,
      name: tool.name,
      called_as: name,
      mcp_server_name: tool.serverName,
      evaluated_permission: permission,
    });
    return;
  }
  const isForWorker = state.created.environment.type === 'self_hosted' && tool?.kind === 'builtin' && tool.isSandboxed;
  draft.event(thread, 'agent.tool_use', {
    ...call,
    kind: 'builtin',
    runs_at: isForWorker ? 'worker' : 'server',
    evaluated_permission: permission,
  });
}

function toDetails({ category, explanation }: { category: string | null; explanation: string | null }): StopDetails {
  return { type: 'refusal', category, explanation };
}
