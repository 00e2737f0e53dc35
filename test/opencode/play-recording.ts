import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AskReply, Asks } from '../../packages/server/src/engines/program/opencode/approvals/asks.ts';
import { OpencodeTranslator } from '../../packages/server/src/engines/program/opencode/translate/opencode-translator.ts';
import { toServerFailures } from '../../packages/server/src/engines/program/opencode/translate/to-server-failures.ts';
import type { AskRequest } from '../../packages/server/src/engines/program/opencode/wire/events.ts';
import { readAsk, readEvent } from '../../packages/server/src/engines/program/opencode/wire/read-event.ts';
import type { Decision, ProgramEvent } from '../../packages/server/src/engines/program/program.ts';
import { type RecordedRow, readRows } from '../../packages/server/src/engines/program/suite/mutate-recording.suite.ts';
import { agent, toolset } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { repositoryRoot } from '../support/root.ts';

/** What passed between a client and opencode, and what a consumer has to show of it. */
export interface OpencodeRecording {
  readonly name: string;
  readonly rows: readonly RecordedRow[];
  readonly expected: Expected;
}

export interface Expected {
  readonly threads: readonly ExpectedThread[];
  readonly asks: readonly {
    readonly kind: string;
    readonly id: string;
    readonly session: string;
    readonly callID: string;
  }[];
  readonly retriesAndErrors: readonly {
    readonly thread: string;
    readonly retry?: number;
    readonly error?: string;
    readonly message: string;
  }[];
}

export interface ExpectedThread {
  readonly key: string;
  readonly id: string;
  readonly parent: string | null;
  readonly openedBy?: string;
  readonly title: string;
  readonly said: readonly string[];
  readonly blocks: readonly {
    readonly kind: 'text' | 'thinking';
    readonly text?: string;
    readonly deltas?: number;
    readonly void?: true;
  }[];
  readonly calls: readonly {
    readonly id: string;
    readonly tool: string;
    readonly states: readonly string[];
    readonly input: unknown;
    readonly output: string | null;
  }[];
  readonly requests: readonly {
    readonly model: string;
    readonly finish: string | null;
    readonly error?: string;
    readonly tokens: { readonly input: number; readonly output: number };
  }[];
}

/** What the translator made of a recording. */
export interface Played {
  readonly events: readonly ProgramEvent[];
  /** The requests that were answered, and how. */
  readonly replies: readonly { readonly requestId: string; readonly reply: AskReply }[];
  /** The replies that the recorded client sent. */
  readonly sent: readonly { readonly requestId: string; readonly body: Record<string, unknown> }[];
}

const directory = join(repositoryRoot, 'fixtures', 'engines', 'opencode');

export function opencodeRecordings(): OpencodeRecording[] {
  const names = readdirSync(directory).filter((name) => name.endsWith('.ndjson'));
  return names.sort().map((file) => {
    const name = file.slice(0, -'.ndjson'.length);
    const rows = readRows(join(directory, file));
    // The cast: these files were recorded for these tests.
    const expected = JSON.parse(readFileSync(join(directory, `${name}.expected.json`), 'utf8')) as Expected;
    return { name, rows, expected };
  });
}

/** Feeds a recording to the translator of one conversation. Its approvals are decided as the recorded client decided. */
export function play({ rows }: Pick<OpencodeRecording, 'rows'>, conversation: string): Played {
  const events: ProgramEvent[] = [];
  const replies: { requestId: string; reply: AskReply }[] = [];
  const sent: { requestId: string; body: Record<string, unknown> }[] = [];
  const callIds = new Map<string, string>();
  const asks = new Asks({
    schedule: () => () => {},
    reply: ({ id }, reply) => replies.push({ requestId: id, reply }),
    onAnswered: () => {},
    onDropped: () => {},
  });
  const open = (known: readonly string[]) =>
    new OpencodeTranslator({
      conversation,
      agent: agent({ mcp_servers: servers, ...mcpTools }),
      members: [],
      known,
      now: () => 0,
      retriesMax: 10,
      statusOf: () => null,
      onGiveUp: () => {},
      onAsk: (request: AskRequest, callId, tool) => {
        callIds.set(request.id, callId);
        return asks.take(request, callId, tool);
      },
      onCallEnd: (callId) => asks.end(callId),
    });
  let translator = open([]);
  const stream = chooseStream(rows, conversation);
  const paths = new Map<number, string>();
  for (const { dir, via, line } of rows) {
    if (line === null) translator = open(translator.conversations.filter((id) => id !== conversation));
    else if (via === stream) {
      const value = JSON.parse(line) as { readonly payload?: unknown };
      const event = readEvent(value.payload ?? value);
      if (event !== null) events.push(...translator.take(event));
    } else if (via === 'http') {
      const exchange = JSON.parse(line) as { id: number; path?: string; status?: number; body?: unknown };
      if (dir === 'in') {
        paths.set(exchange.id, exchange.path ?? '');
        decide(exchange.path ?? '', exchange.body);
      } else events.push(...takeAnswer(paths.get(exchange.id) ?? '', exchange.body));
    }
  }
  return { events, replies, sent };

  function decide(path: string, body: unknown): void {
    const [, kind, requestId = '', verb] = /^\/(permission|question)\/(\w+)\/(reply|reject)/.exec(path) ?? [];
    const callId = callIds.get(requestId);
    if (kind === undefined || callId === undefined) return;
    const given = (body ?? {}) as Record<string, unknown>;
    sent.push({ requestId, body: given });
    if (kind === 'permission') asks.give(callId, toDecision(given));
    else asks.give(callId, { content: [{ type: 'text', text: toAnswer(given) }], isError: verb === 'reject' });
  }

  function takeAnswer(path: string, body: unknown): readonly ProgramEvent[] {
    if (path === '/mcp') return toServerFailures(body);
    const kind = path === '/permission' ? 'permission' : path === '/question' ? 'question' : null;
    if (kind === null || !Array.isArray(body)) return [];
    return body.flatMap((value: unknown) => {
      const request = readAsk(kind, value);
      return request === null ? [] : translator.take({ type: 'asked', request });
    });
  }
}

const servers = [{ type: 'url' as const, name: 'demo', url: 'https://demo.example.com/mcp' }];
const mcpTools = {
  tools: [
    toolset('always_ask'),
    {
      type: 'mcp_toolset' as const,
      mcp_server_name: 'demo',
      default_config: { enabled: true, permission_policy: { type: 'always_ask' as const } },
      configs: [],
    },
  ],
};

/** A conversation in another directory is only on the stream of all directories. */
function chooseStream(rows: readonly RecordedRow[], conversation: string): string {
  const isOwn = rows.some(({ via, line }) => via === 'sse' && line?.includes(conversation) === true);
  return isOwn ? 'sse' : 'sse /global/event';
}

function toDecision({ reply, message }: Record<string, unknown>): Decision {
  if (reply !== 'reject') return { type: 'allow' };
  return typeof message === 'string' ? { type: 'deny', message } : { type: 'deny', message: '', isInterrupting: true };
}

function toAnswer({ answers }: Record<string, unknown>): string {
  // The cast: the recorded client sent a list for each question.
  return (answers as readonly (readonly string[])[] | undefined)?.[0]?.[0] ?? '';
}
