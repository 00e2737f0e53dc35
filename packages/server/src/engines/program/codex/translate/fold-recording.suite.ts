import type { Usage } from '../../../model/engine.ts';
import type { ProgramCall, ProgramEvent } from '../../program.ts';
import { record, records, text } from '../../lines/values.ts';
import type { PlayedRecording } from './play-recording.suite.ts';
import { unwrapShell } from './unwrap-shell.ts';

/** The compared fields of a `*.expected.json`. */
export interface ExpectedRecording {
  readonly threads: readonly ExpectedThread[];
  readonly approvals: readonly { readonly thread: string; readonly method: string; readonly item: string | null }[];
  readonly retriesAndErrors: readonly { readonly thread: string; readonly willRetry: boolean }[];
}

interface ExpectedThread {
  readonly key: string;
  readonly id: string;
  readonly parent: string | null;
  readonly openedBy?: string;
  readonly name?: string | null;
  readonly prompt?: string | null;
  readonly blocks: readonly ({ kind: string; text: string; deltas: number } | { kind: string; void: string })[];
  readonly calls: readonly ({ readonly id: string; readonly kind: string } & Readonly<Record<string, unknown>>)[];
  readonly subAgentActivity: readonly { readonly kind: string }[];
  readonly turns: readonly { readonly status: string; readonly error?: string | null }[];
  readonly usageTotal: { readonly inputTokens: number; readonly outputTokens: number } | null;
}

/** The compared facts of one thread. */
interface ComparedThread {
  readonly key: string;
  readonly opened: object | null;
  readonly blocks: readonly object[];
  readonly calls: readonly object[];
  readonly compactions: number;
  readonly turns: readonly string[];
  readonly usage: { readonly input: number; readonly output: number };
  readonly asks: readonly (string | null)[];
  readonly retries: number;
}

/** The comparable part of an expectation. */
export function toComparable(expected: ExpectedRecording): readonly ComparedThread[] {
  const asked = expected.approvals.filter(({ method }) => method !== 'item/tool/call');
  return expected.threads.map((thread) => ({
    key: thread.key,
    opened:
      thread.parent === null
        ? null
        : { parent: thread.parent, by: thread.openedBy, name: lastPart(thread.name), prompt: thread.prompt ?? null },
    blocks: thread.blocks.map((block) =>
      'void' in block ? { ...block } : { kind: block.kind, text: beginningOf(block.text), deltas: block.deltas },
    ),
    calls: sortById(thread.calls.filter(({ kind }) => kind !== 'contextCompaction').map(toExpectedCall)),
    compactions: thread.calls.filter(({ kind }) => kind === 'contextCompaction').length,
    turns: thread.turns.map(({ status }) => (status === 'never ended on the wire' ? 'open' : status)),
    usage: { input: thread.usageTotal?.inputTokens ?? 0, output: thread.usageTotal?.outputTokens ?? 0 },
    asks: asked.filter((ask) => ask.thread === thread.key).map(({ item }) => item),
    retries: expected.retriesAndErrors.filter((error) => error.thread === thread.key && error.willRetry).length,
  }));
}

/** The comparable facts of the events of a recording. */
export function foldRecording(
  { processes, unseen }: PlayedRecording,
  expected: ExpectedRecording,
): readonly ComparedThread[] {
  return expected.threads.map((thread) => {
    const isRoot = thread.parent === null;
    const root = isRoot ? thread.id : rootOf(thread, expected).id;
    const events = processes.filter(({ threadId }) => threadId === root).flatMap((process) => process.events);
    const own = events.filter(({ key }) => key === (isRoot ? 'main' : thread.id));
    return {
      key: thread.key,
      opened: isRoot ? null : toOpened(own, thread, expected, root),
      blocks: toBlocks(own),
      calls: sortById(toCalls(own, thread)),
      compactions: own.filter(({ type }) => type === 'compacted').length,
      turns: toTurns(own),
      usage: addUsage(sumUsage(own), unseen.get(thread.id)),
      asks: toAsks(own),
      retries: own.filter(({ type }) => type === 'retry').length,
    };
  });
}

/** The item ids of asks; null for asks of MCP calls, which have none. */
function toAsks(own: readonly ProgramEvent[]): (string | null)[] {
  const isMcp = (callId: string) =>
    own.some((event) => event.type === 'call' && event.callId === callId && event.tool.kind === 'mcp');
  return own.flatMap((event) => {
    if (event.type !== 'ask') return [];
    return [isMcp(event.callId) ? null : event.callId.replace(/#\d+$/, '')];
  });
}

function rootOf(thread: ExpectedThread, expected: ExpectedRecording): ExpectedThread {
  const parent = expected.threads.find(({ key }) => key === thread.parent);
  return parent === undefined ? thread : rootOf(parent, expected);
}

function toOpened(own: readonly ProgramEvent[], thread: ExpectedThread, expected: ExpectedRecording, root: string) {
  const [opened] = own;
  if (opened?.type !== 'thread_opened') return { problem: `the first event is ${opened?.type}` };
  const parentId = opened.parentKey === 'main' ? root : opened.parentKey;
  return {
    parent: expected.threads.find(({ id }) => id === parentId)?.key,
    by: opened.callId?.replace(/#\d+$/, ''),
    // In version 1 the name of a sub-agent is known only on request.
    name: thread.name === null || thread.name === undefined ? null : opened.agentName,
    prompt: opened.prompt,
  };
}

function toBlocks(own: readonly ProgramEvent[]): object[] {
  const blocks = new Map<string, { kind: string; grown: string; deltas: number; whole?: string }>();
  for (const event of own) {
    if (event.type === 'block_started') blocks.set(event.block, { kind: event.kind, grown: '', deltas: 0 });
    const block = 'block' in event ? blocks.get(event.block) : undefined;
    if (event.type === 'block_delta' && block !== undefined) {
      block.grown += event.text;
      block.deltas++;
    }
    if (event.type === 'block_ended') {
      const { content } = event;
      const whole = content.type === 'text' ? content.text : 'thinking' in content ? content.thinking : '';
      blocks.set(event.block, { kind: content.type, grown: '', deltas: 0, ...block, whole });
    }
  }
  return [...blocks.values()].map(({ kind, grown, deltas, whole }) =>
    whole === undefined ? { kind, void: grown } : { kind, text: beginningOf(whole), deltas },
  );
}

interface ComparedCall {
  readonly id: string;
  readonly call: object;
  readonly end: string;
}

const NAMES: Readonly<Record<string, string>> = {
  spawnAgent: 'spawn_agent',
  wait: 'wait_agent',
  sendInput: 'send_input',
  resumeAgent: 'resume_agent',
  closeAgent: 'close_agent',
};

function toExpectedCall(call: ExpectedThread['calls'][number]): ComparedCall {
  return { id: call.id, call: toExpectedFacts(call), end: toExpectedEnd(call) };
}

function toExpectedFacts(call: ExpectedThread['calls'][number]): object {
  switch (call.kind) {
    case 'commandExecution':
      return { command: unwrapShell(String(call['command'])), output: beginningOf(text(call['output']) ?? '') };
    case 'fileChange':
      return { changes: call['changes'] };
    case 'mcpToolCall':
      return { server: call['server'], tool: call['tool'], input: call['input'], result: toText(call['result']) };
    case 'dynamicToolCall':
      return { tool: call['tool'], input: call['input'], result: toText(call['result']) };
    case 'collabAgentToolCall':
      return { name: NAMES[String(call['tool'])] };
    default:
      return { query: call['query'] };
  }
}

function toExpectedEnd({ kind, status }: ExpectedThread['calls'][number]): string {
  if (kind === 'webSearch') return 'completed';
  if (status === 'never completed') return 'never';
  return status === 'completed' ? 'completed' : 'error';
}

function toCalls(own: readonly ProgramEvent[], thread: ExpectedThread): ComparedCall[] {
  const calls = own.filter((event): event is ProgramCall & { key: string } => event.type === 'call');
  // Version 2 has no item for these calls, and asks for permissions have none either.
  const isShown = ({ name, callId }: ProgramCall) =>
    name !== 'request_permissions' && (name !== 'spawn_agent' || thread.calls.some(({ id }) => id === callId));
  return calls.filter(isShown).map((call) => {
    const result = own.find((event) => event.type === 'result' && event.callId === call.callId);
    const id = call.callId.replace(/#\d+$/, '');
    const known = thread.calls.find((each) => each.id === id);
    if (result?.type !== 'result') return { id, call: toFacts(call, ''), end: 'never' };
    const said = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
    // The program never reported the end of the call: the result is made up.
    if (known?.['status'] === 'never completed') return { id, call: toFacts(call, ''), end: 'never' };
    const isOurs = known?.['status'] === 'declined' || said === 'The call was stopped.';
    return { id, call: toFacts(call, isOurs ? '' : said), end: result.isError ? 'error' : 'completed' };
  });
}

function toFacts({ name, input, tool }: ProgramCall, said: string): object {
  const fields = record(input) ?? {};
  if (name === 'exec_command') return { command: fields['command'], output: beginningOf(said.replace(EXIT_CODE, '')) };
  if (name === 'apply_patch') {
    return { changes: records(fields['changes']).map(({ path, kind }) => ({ path, kind })) };
  }
  if (tool.kind === 'mcp') return { server: tool.serverName, tool: tool.toolName, input, result: said };
  if (tool.kind === 'custom') return { tool: tool.toolName, input, result: said };
  return name === 'web_search' ? { query: fields['query'] } : { name };
}

const EXIT_CODE = /\n?Exit code -?\d+$/;

/** A result in an expectation: blocks, or the failure of an MCP call. */
function toText(result: unknown): string {
  const failure = text(record(result)?.['message']);
  // The message of the denial with which the recording is played.
  if (failure === 'user rejected MCP tool call') return 'No.';
  return (
    failure ??
    records(result)
      .map((block) => text(block['text']) ?? '')
      .join('')
  );
}

function toTurns(own: readonly ProgramEvent[]): string[] {
  const turns: string[] = [];
  for (const event of own) {
    if (event.type === 'turn_started' || event.type === 'thread_started' || event.type === 'thread_opened') {
      turns.push('open');
    }
    if (event.type === 'turn_ended') turns[turns.length - 1] = OUTCOMES[event.outcome.type];
    if (event.type === 'thread_ended') turns[turns.length - 1] = STATUSES[event.status];
  }
  return turns;
}

const OUTCOMES = {
  done: 'completed',
  stopped: 'interrupted',
  failed: 'failed',
  limit: 'failed',
  refused: 'failed',
} as const;
const STATUSES = { completed: 'completed', stopped: 'interrupted', failed: 'failed' } as const;

function sumUsage(own: readonly ProgramEvent[]): { input: number; output: number } {
  const usages = own.flatMap((event) => (event.type === 'request_ended' ? [event.usage] : []));
  const sum = (of: (usage: Usage) => number) => usages.reduce((total, usage) => total + of(usage), 0);
  return {
    input: sum((usage) => usage.inputTokens + usage.cacheReadTokens + usage.cacheWrite5mTokens),
    output: sum(({ outputTokens }) => outputTokens),
  };
}

type Tokens = { readonly input: number; readonly output: number };

function addUsage({ input, output }: Tokens, more: Tokens = { input: 0, output: 0 }): Tokens {
  return { input: input + more.input, output: output + more.output };
}

/** The compared beginning of a text. Long texts are cut in expectations, with a mark after the cut. */
function beginningOf(whole: string): string {
  return whole.replace(/… \(\d+ char\w*\)$/s, '').slice(0, COMPARED_CHARS);
}

const COMPARED_CHARS = 280;

function lastPart(name: string | null | undefined): string | null {
  return name?.split('/').at(-1) ?? null;
}

function sortById<Call extends { readonly id: string }>(calls: readonly Call[]): Call[] {
  return calls.toSorted((one, other) => one.id.localeCompare(other.id));
}
