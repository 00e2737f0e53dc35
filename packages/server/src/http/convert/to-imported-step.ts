import type { AssistantBlock } from '../../base/content.ts';
import type { ProgramCall } from '../../engines/program/program.ts';
import type { Control, ImportedAnswer, ImportedStep } from '../../sessions/index.ts';
import type { ImportBody } from '../schemas/import.ts';

type WireStep = ImportBody['steps'][number];

/** Converts an imported step from its wire format. */
export function toImportedStep({ key, line, time, event }: WireStep): ImportedStep {
  return { key, line, time: Date.parse(time), event: toEvent(event) };
}

/** Converts the report of a controlling client from its wire format. */
export function toControl(control: ImportBody['control']): Control | undefined {
  if (control === null || control === undefined) return undefined;
  const toName = ({ key, call_id: callId }: { key: string; call_id: string }) => ({ key, callId });
  return { asks: control.asks.map(toName), delivered: control.delivered.map(toName) };
}

/** The wire format of a decision. */
export function toWireAnswer(answer: ImportedAnswer) {
  const { key, callId: call_id, result } = answer;
  const isAllowed = result === 'allow';
  return {
    key,
    call_id,
    result,
    deny_message: isAllowed ? null : answer.message,
    updated_input: isAllowed ? (answer.updatedInput ?? null) : null,
    interrupt: !isAllowed && answer.isInterrupting,
  };
}

function toEvent(event: WireStep['event']): ImportedStep['event'] {
  switch (event.type) {
    case 'turn_ended': {
      const { outcome } = event;
      const isFailed = outcome.type === 'failed';
      return {
        type: 'turn_ended',
        outcome: isFailed ? { ...outcome, reason: 'request_failed' } : outcome,
        isMoreToCome: false,
      };
    }
    case 'thread_opened': {
      const { parent_key: parentKey, agent_name: agentName, description, prompt, call_id: callId } = event;
      return { type: 'thread_opened', parentKey, agentName, description, prompt, callId };
    }
    case 'request_ended':
      return toRequestEnd(event);
    case 'block':
      return { type: 'block', content: toBlock(event.content) };
    case 'call':
      return {
        type: 'call',
        callId: event.call_id,
        name: event.name,
        input: event.input,
        tool: toTool(event.name),
      };
    case 'result':
      return { type: 'result', callId: event.call_id, content: event.content, isError: event.is_error };
    default:
      return event;
  }
}

function toRequestEnd(event: Extract<WireStep['event'], { type: 'request_ended' }>): ImportedStep['event'] {
  const { model, usage, stop_reason: stopReason, is_error: isError } = event;
  return {
    type: 'request_ended',
    model,
    stopReason,
    isError,
    usage: {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      cacheReadTokens: usage.cache_read_input_tokens,
      cacheWrite5mTokens: usage.cache_creation_5m_input_tokens,
      cacheWrite1hTokens: usage.cache_creation_1h_input_tokens,
    },
  };
}

/** Signatures of thinking are removed: they are valid only for the model that made them, and imports are read-only. */
function toBlock(content: Extract<WireStep['event'], { type: 'block' }>['content']): AssistantBlock {
  if (content.type === 'thinking') return { ...content, signature: '' };
  return content.type === 'other' ? { type: 'opaque', raw: content.raw } : content;
}

/** Approvals were decided where the session ran, so every imported call counts as allowed. */
function toTool(name: string): ProgramCall['tool'] {
  if (name === 'Agent' || name === 'Task') return { kind: 'agent' };
  const [, serverName, toolName] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  if (serverName === undefined || toolName === undefined) return { kind: 'builtin', permission: 'allow' };
  return { kind: 'mcp', permission: 'allow', serverName, toolName };
}
