import type { Answered } from '../command.ts';
import type { AssistantBlock, ToolUseBlock } from '../../../base/content.ts';
import type { ToolOffer } from '../../../tools/toolbox.ts';
import { agentOf } from '../state/agent-of.ts';
import { isDelegation } from '../delegation/delegation-tools.ts';
import { applyTextCommands } from '../delegation/apply-text-commands.ts';
import type { Draft } from '../draft.ts';
import type { StopDetails } from '../../../frames/payload-parts.ts';
import type { ThreadState } from '../state/state.ts';
import { toTotals } from '../state/usage.ts';

/** Logs a complete model response in one write. */
export function applyModelResponse(draft: Draft, thread: ThreadState, answered: Answered): void {
  const { event } = answered;
  const isRefusal = event.stop.reason === 'refusal';
  for (const [index, block] of event.content.entries()) {
    // A refusal voids the calls before it.
    if (block.type === 'tool_use' && isRefusal) continue;
    addBlock(draft, thread, block, answered, answered.eventIds.get(index));
  }
  const notRun = isRefusal ? [] : applyTextCommands(draft, thread, event);
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

function addBlock(
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
    addCall(draft, thread, block, offer);
  } else {
    draft.add(thread, 'agent.block', { block });
  }
}

/** Logs a call with the place where it runs and its permission. */
function addCall(draft: Draft, thread: ThreadState, { id, name, input }: ToolUseBlock, { tools }: ToolOffer): void {
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
