import type { MessageBlock, RedactedBlock, ResultBlock, SessionEvent } from '@fleetloom/protocol/managed-agents';
import { imagesOf, describeContent } from './images.ts';

/** A unit of a transcript: a request, a text, a call with its result, a message. */
export type Block = { readonly id: string; readonly at: number; readonly events: readonly SessionEvent[] } & (
  | {
      readonly type: 'request';
      /** The number of the request among all attempts, from 0, as in the stream. */
      readonly number: number;
      readonly ms: number | null;
      readonly tokens: RequestTokens | null;
      readonly isError: boolean;
      /** The displayed number, from 1: all attempts of a request have the same number. */
      readonly shownNumber: number;
      readonly attempt: number;
    }
  | { readonly type: 'said'; readonly by: string; readonly text: string; readonly images: readonly string[] }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly request: number }
  | CallBlock
  | {
      readonly type: 'thread';
      readonly threadId: string;
      readonly agent: string;
      readonly text: string;
      readonly direction: 'to' | 'from';
    }
  | { readonly type: 'note'; readonly tone: 'quiet' | 'problem' | 'needs'; readonly text: string }
);

/** A tool call with its decision and result. */
export interface CallBlock {
  readonly type: 'call';
  readonly tool: string;
  readonly input: unknown;
  readonly asked: boolean;
  readonly verdict: { readonly result: 'allow' | 'deny'; readonly message: string } | null;
  readonly result: CallResult | null;
}

/** The result of a call. `images` are `data:` URLs. */
export interface CallResult {
  readonly text: string;
  readonly isError: boolean;
  readonly ms: number;
  readonly images: readonly string[];
}

/** Token usage of one model request. */
export interface RequestTokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheCreate: number;
}

/** Exit code of a shell command. The result contains it only for a failed command; success means 0. */
export function exitCodeOf({ tool, result }: Pick<CallBlock, 'tool' | 'result'>): number | undefined {
  if (result === null || tool.toLowerCase() !== 'bash') return undefined;
  if (!result.isError) return 0;
  const code = /(?:^|\n)Exit code (\d+)[^\n]*$/.exec(result.text)?.[1];
  return code === undefined ? undefined : Number(code);
}

/** Builds the blocks of a thread, in order, each call with its result. Events that a coordinator relays for other threads are omitted. */
export function toBlocks(events: readonly SessionEvent[]): readonly Block[] {
  const blocks: Block[] = [];
  /** Index of the block of a call or request. */
  const indexes = new Map<string, number>();
  let requests = -1;
  let shown = 0;
  /** Failed attempts of the current model request, until one succeeds. */
  let failed = 0;
  for (const event of events) {
    if ('session_thread_id' in event && event.type !== 'session.thread_created') continue;
    const base = { id: event.id, at: Date.parse(event.processed_at ?? ''), events: [event] };
    const change = <Type extends Block['type']>(
      id: string,
      type: Type,
      next: (block: Extract<Block, { type: Type }>) => Block,
    ) => {
      const index = indexes.get(id);
      const block = index === undefined ? undefined : blocks[index];
      // The comparison makes the cast safe.
      if (index !== undefined && block?.type === type) blocks[index] = next(block as Extract<Block, { type: Type }>);
    };
    switch (event.type) {
      case 'span.model_request_start':
        requests += 1;
        if (failed === 0) shown += 1;
        indexes.set(event.id, blocks.length);
        blocks.push({
          ...base,
          type: 'request',
          number: requests,
          shownNumber: shown,
          ms: null,
          tokens: null,
          isError: false,
          attempt: failed + 1,
        });
        break;
      case 'span.model_request_end':
        failed = event.is_error ? failed + 1 : 0;
        change(event.model_request_start_id, 'request', (block) => ({
          ...block,
          events: [...block.events, event],
          ms: base.at - block.at,
          isError: event.is_error,
          tokens: {
            input: event.model_usage.input_tokens,
            output: event.model_usage.output_tokens,
            cacheRead: event.model_usage.cache_read_input_tokens,
            cacheCreate: event.model_usage.cache_creation_input_tokens,
          },
        }));
        break;
      case 'user.message':
        blocks.push({ ...base, type: 'said', by: 'you', ...contentOf(event.content) });
        break;
      case 'system.message':
        blocks.push({ ...base, type: 'said', by: 'system', ...contentOf(event.content) });
        break;
      case 'agent.message':
        blocks.push({ ...base, type: 'text', text: textOf(event.content) });
        break;
      case 'agent.thinking':
        blocks.push({ ...base, type: 'thinking', request: requests });
        break;
      case 'agent.tool_use':
      case 'agent.mcp_tool_use':
      case 'agent.custom_tool_use': {
        const tool = event.type === 'agent.mcp_tool_use' ? `${event.mcp_server_name}: ${event.name}` : event.name;
        const asked = event.type !== 'agent.custom_tool_use' && event.evaluated_permission === 'ask';
        indexes.set(event.id, blocks.length);
        blocks.push({ ...base, type: 'call', tool, input: event.input, asked, verdict: null, result: null });
        break;
      }
      case 'user.tool_confirmation':
        change(event.tool_use_id, 'call', (block) => ({
          ...block,
          events: [...block.events, event],
          // A decision after the result came too late and was not applied.
          verdict: block.result === null ? { result: event.result, message: event.deny_message ?? '' } : block.verdict,
        }));
        break;
      case 'agent.tool_result':
      case 'agent.mcp_tool_result':
      case 'user.tool_result':
      case 'user.custom_tool_result': {
        const isError = event.is_error === true;
        change(callOf(event), 'call', (block) => ({
          ...block,
          events: [...block.events, event],
          result: block.result ?? { ...contentOf(event.content ?? []), isError, ms: base.at - block.at },
        }));
        break;
      }
      case 'agent.thread_message_sent':
        blocks.push({
          ...base,
          type: 'thread',
          direction: 'to',
          threadId: event.to_session_thread_id,
          agent: event.to_agent_name ?? 'coordinator',
          text: textOf(event.content),
        });
        break;
      case 'agent.thread_message_received':
        blocks.push({
          ...base,
          type: 'thread',
          direction: 'from',
          threadId: event.from_session_thread_id,
          agent: event.from_agent_name ?? 'coordinator',
          text: textOf(event.content),
        });
        break;
      default: {
        const note = toNote(event);
        if (note !== undefined) blocks.push({ ...base, type: 'note', ...note });
      }
    }
  }
  // A thread with a later block no longer waits for the user.
  return blocks.flatMap((block, index) => {
    const next = blocks[index + 1];
    if (block.type !== 'note' || block.tone !== 'needs' || next === undefined) return [block];
    if (next.type === 'note' && next.tone === 'needs') return [];
    return [{ ...block, tone: 'quiet', text: 'waited for you' }];
  });
}

function callOf(
  event: Extract<
    SessionEvent,
    { type: 'agent.tool_result' | 'agent.mcp_tool_result' | 'user.tool_result' | 'user.custom_tool_result' }
  >,
): string {
  if (event.type === 'agent.mcp_tool_result') return event.mcp_tool_use_id;
  return event.type === 'user.custom_tool_result' ? event.custom_tool_use_id : event.tool_use_id;
}

/** Notes for errors, stops and other status changes; undefined for events without a note. */
function toNote(
  event: SessionEvent,
): { readonly tone: 'quiet' | 'problem' | 'needs'; readonly text: string } | undefined {
  switch (event.type) {
    case 'session.error':
      return { tone: 'problem', text: `${event.error.message} (${event.error.retry_status.type})` };
    case 'session.thread_status_idle':
    case 'session.status_idle': {
      const { type } = event.stop_reason;
      if (type === 'end_turn') return undefined;
      return type === 'requires_action'
        ? { tone: 'needs', text: 'waiting for you' }
        : { tone: 'problem', text: type.replaceAll('_', ' ') };
    }
    case 'user.interrupt':
      return { tone: 'problem', text: 'interrupted' };
    case 'agent.thread_context_compacted':
      return { tone: 'quiet', text: 'context compacted' };
    case 'session.status_terminated':
      return { tone: 'quiet', text: 'the session ended' };
    default:
      return undefined;
  }
}

function contentOf(content: Content): { readonly text: string; readonly images: readonly string[] } {
  return { text: textOf(content), images: imagesOf(content) };
}

function textOf(content: Content): string {
  return content.map(describeContent).join('\n');
}

type Content = readonly (MessageBlock | ResultBlock | RedactedBlock)[];
