import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { agent, toolset } from '../../suite/conversation.suite.ts';
import { record, text } from '../../lines/values.ts';
import type { Decision, ProgramEvent } from '../../program.ts';
import { type RecordedRow, readRows } from '../../suite/mutate-recording.suite.ts';
import type { ClientResult } from '../../mcp/mcp-tools.ts';
import { type Fields, type RequestId, toRpcLine } from '../../lines/json-rpc-line.ts';
import { CodexTranslator } from './codex-translator.ts';

/** The events of one conversation in one process. */
export interface PlayedProcess {
  /** The thread id of the main agent. */
  readonly threadId: string;
  readonly events: ProgramEvent[];
}

/** A recorded answer, and the answer that the translator wrote. */
export interface PlayedAnswer {
  readonly method: string;
  readonly recorded: unknown;
  readonly written: unknown;
  /** The answer came after the ask was over. */
  readonly isLate: boolean;
}

/** A recording of `codex app-server`, played into translators: one for each conversation in each process. */
export interface PlayedRecording {
  readonly processes: readonly PlayedProcess[];
  readonly answers: readonly PlayedAnswer[];
  /**
   * Usage by thread that no line of a turn has: a process was ended before it reported the usage of its last request, and
   * only the replay of the next process has it. A replay is never counted.
   */
  readonly unseen: ReadonlyMap<string, Tokens>;
}

type Row = Pick<RecordedRow, 'dir' | 'line'>;

export function playRecording(path: string): PlayedRecording {
  return playRows(readRows(path));
}

/** Plays the rows of a recording. */
export function playRows(rows: readonly Row[]): PlayedRecording {
  const definition = toAskingAgent(rows);
  const processes: PlayedProcess[] = [];
  const answers: PlayedAnswer[] = [];
  let player = new ProcessPlayer(definition, []);
  for (const row of rows) {
    if (row.line !== null) player.take(row.dir, row.line);
    else {
      player.end();
      processes.push(...player.processes);
      answers.push(...player.answers);
      player = new ProcessPlayer(definition, processes);
    }
  }
  processes.push(...player.processes);
  answers.push(...player.answers);
  return { processes, answers, unseen: findUnseen(rows) };
}

/** Plays the lines of one process in both directions. */
class ProcessPlayer {
  readonly processes: (PlayedProcess & { readonly translator: CodexTranslator })[] = [];
  readonly answers: PlayedAnswer[] = [];
  readonly #definition: AgentSnapshot;
  readonly #known: readonly { readonly key: string; readonly callId: string }[];
  readonly #requests = new Map<RequestId, { readonly method: string; readonly said: readonly Said[] }>();
  readonly #asks = new Map<RequestId, OpenRequest>();
  readonly #written = new Map<RequestId, unknown>();
  #version: string | null = null;
  readonly #early: Fields[] = [];

  constructor(definition: AgentSnapshot, before: readonly PlayedProcess[]) {
    this.#definition = definition;
    this.#known = before.flatMap(({ events }) =>
      events.flatMap((event) =>
        event.type === 'thread_opened' ? [{ key: event.key, callId: event.callId ?? '' }] : [],
      ),
    );
  }

  take(dir: 'in' | 'out', line: string): void {
    const message = parse(line);
    if (message === undefined) return;
    if (dir === 'in') this.#takeOurs(message);
    else this.#takeTheirs(message);
  }

  end(): void {
    const exit = { key: 'main', type: 'exited', message: 'it ended', isWanted: false } as const;
    for (const { events } of this.processes) events.push(exit);
  }

  #takeOurs(message: Fields): void {
    const id = message['id'] as RequestId;
    const method = text(message['method']);
    if (method === undefined) return this.#answer(id, message['result']);
    const threadId = text(record(message['params'])?.['threadId']);
    const conversation = this.processes.find((process) => process.threadId === threadId);
    const said = method === 'turn/start' && conversation !== undefined ? [conversation.translator.say()] : [];
    this.#requests.set(id, { method, said });
  }

  #takeTheirs(message: Fields): void {
    const line = toRpcLine(message);
    if (line === null) return;
    if (line.type === 'response') return this.#takeResponse(line.id, line.result, line.error);
    if (this.processes.length === 0) this.#early.push(message);
    for (const { translator, events } of this.processes) {
      const emitted = translator.take(line);
      events.push(...emitted);
      if (line.type !== 'request') continue;
      const asked = emitted.find((event) => event.type === 'ask') ?? emitted.find((event) => event.type === 'call');
      const callId = asked?.callId ?? text(line.params['callId']);
      const isOwn = this.processes.length === 1 || emitted.length > 0;
      if (callId !== undefined && isOwn) this.#asks.set(line.id, { ...line, callId, translator, events });
    }
  }

  #takeResponse(id: RequestId, result: Fields, error: string | null): void {
    const request = this.#requests.get(id);
    const thread = text(record(result['thread'])?.['id']);
    this.#version ??= /^[^/]+\/(\S+)/.exec(text(result['userAgent']) ?? '')?.[1] ?? null;
    if (/^thread\/(start|resume|fork)$/.test(request?.method ?? '') && thread !== undefined) {
      this.#open(thread, text(result['model']) ?? '');
    }
    const turnId = text(record(result['turn'])?.['id']);
    for (const { joined, refused } of request?.said ?? []) {
      if (turnId !== undefined) joined(turnId);
      else refused(error ?? '');
    }
  }

  #open(threadId: string, model: string): void {
    const translator = new CodexTranslator({
      agent: this.#definition,
      members: [],
      known: this.#known,
      answer: (id, result) => void this.#written.set(id, result),
      reject: (id, reason) => void this.#written.set(id, { reason }),
      steer: () => {},
    });
    const events = [...translator.open({ threadId, model, version: this.#version })];
    for (const line of this.#early.splice(0).map(toRpcLine)) if (line !== null) events.push(...translator.take(line));
    this.processes.push({ threadId, translator, events });
  }

  #answer(id: RequestId, recorded: unknown): void {
    const open = this.#asks.get(id);
    if (open === undefined) return;
    const isLate = open.events.some((event) => event.type === 'ask_withdrawn' && event.callId === open.callId);
    open.events.push(...open.translator.give(open.callId, toAnswer(record(recorded) ?? {})));
    this.answers.push({ method: open.method, recorded, written: this.#written.get(id), isLate });
  }
}

type Said = ReturnType<CodexTranslator['say']>;

interface OpenRequest {
  readonly method: string;
  readonly callId: string;
  readonly translator: CodexTranslator;
  readonly events: ProgramEvent[];
}

function findUnseen(rows: readonly Row[]): PlayedRecording['unseen'] {
  const unseen = new Map<string, Tokens>();
  const totals = new Map<string, Tokens>();
  const begun = new Set<string>();
  for (const { dir, line } of rows) {
    if (line === null) begun.clear();
    const message = dir === 'out' ? parse(line ?? '') : undefined;
    const params = record(message?.['params']);
    const threadId = text(params?.['threadId']) ?? '';
    if (message?.['method'] === 'turn/started') begun.add(threadId);
    if (message?.['method'] !== 'thread/tokenUsage/updated') continue;
    const usage = record(params?.['tokenUsage']);
    const total = toTokens(usage?.['total']);
    const before = totals.get(threadId);
    totals.set(threadId, total);
    if (before !== undefined && begun.has(threadId)) continue;
    // A forked thread begins its first turn with the total of the original thread.
    const seen = begun.has(threadId) ? toTokens(usage?.['last']) : (before ?? NO_TOKENS);
    const known = unseen.get(threadId) ?? NO_TOKENS;
    const [input, output] = [total.input - seen.input, total.output - seen.output];
    unseen.set(threadId, { input: known.input + input, output: known.output + output });
  }
  return unseen;
}

interface Tokens {
  readonly input: number;
  readonly output: number;
}

const NO_TOKENS: Tokens = { input: 0, output: 0 };

function toTokens(counts: unknown): Tokens {
  return { input: Number(record(counts)?.['inputTokens']), output: Number(record(counts)?.['outputTokens']) };
}

/** The decision that a recorded answer stands for. */
function toAnswer(result: Fields): Decision | ClientResult {
  const items = result['contentItems'];
  if (Array.isArray(items)) {
    const content = items.map((item) => ({ type: 'text' as const, text: text(record(item)?.['text']) ?? '' }));
    return { content, isError: result['success'] !== true };
  }
  const word = text(result['decision']) ?? text(result['action']);
  if (word === 'decline' || word === 'cancel') {
    return { type: 'deny', message: 'No.', isInterrupting: word === 'cancel' };
  }
  return { type: 'allow' };
}

/** An agent whose calls all need an approval, with the MCP servers of the recording. */
function toAskingAgent(rows: readonly Row[]): AgentSnapshot {
  const items = rows.flatMap(({ line }) => {
    const item = record(record(parse(line ?? '')?.['params'])?.['item']);
    return item?.['type'] === 'mcpToolCall' ? [text(item['server']) ?? ''] : [];
  });
  const servers = [...new Set(items)];
  const config = { enabled: true, permission_policy: { type: 'always_ask' } } as const;
  return agent({
    tools: [
      toolset('always_ask'),
      ...servers.map((name) => ({
        type: 'mcp_toolset' as const,
        mcp_server_name: name,
        default_config: config,
        configs: [],
      })),
    ],
    mcp_servers: servers.map((name) => ({ type: 'url' as const, name, url: 'https://example.com' })),
  });
}

function parse(line: string): Fields | undefined {
  try {
    return record(JSON.parse(line));
  } catch {
    return undefined;
  }
}
