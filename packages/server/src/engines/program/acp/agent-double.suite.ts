import { agent } from '../suite/conversation.suite.ts';
import type { ProgramEvent } from '../program.ts';
import { AcpConversation, type AcpConversationOptions } from './acp-conversation.ts';

/** A line that was written to the agent. */
export interface WrittenLine {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
}

/** A conversation whose agent is the test: its lines are passed to `take`, and the lines to it are in `written`. */
export function converseInTest(changes: Partial<AcpConversationOptions> = {}) {
  const written: WrittenLine[] = [];
  const events: ProgramEvent[] = [];
  const failures: string[] = [];
  const conversation = new AcpConversation({
    agent: agent(),
    directory: '/repo',
    resume: null,
    model: null,
    mcpServers: [],
    // The cast: the lines are those of the class under test.
    write: (line) => void written.push(JSON.parse(line) as WrittenLine),
    emit: (emitted) => void events.push(...emitted),
    onFailure: (reason) => void failures.push(reason),
    ...changes,
  });
  const answered = new Set<WrittenLine>();
  const reply = (method: string, answer: object) => {
    const line = written.find((each) => each.method === method && each.id !== undefined && !answered.has(each));
    if (line === undefined) return false;
    answered.add(line);
    conversation.take({ jsonrpc: '2.0', ...answer, id: line.id });
    return true;
  };
  const update = (fields: object, sessionId = 's1') =>
    conversation.take({ method: 'session/update', params: { sessionId, update: fields } });
  const ask = (id: number, toolCall: object, options = OPTIONS) =>
    conversation.take({ id, method: 'session/request_permission', params: { sessionId: 's1', toolCall, options } });
  conversation.begin();
  return {
    conversation,
    written,
    events,
    failures,
    /** Answers the oldest unanswered request of this method; false if there is none. */
    reply,
    update,
    ask,
    /** Opens the conversation `s1`. */
    open: (capabilities: object = { loadSession: true }, opened: object = {}) => {
      const agentInfo = { name: 'test', version: '3.2.1' };
      reply('initialize', { result: { protocolVersion: 1, agentCapabilities: capabilities, agentInfo } });
      if (!reply('session/new', { result: { sessionId: 's1', ...opened } })) reply('session/load', { result: opened });
    },
    say: (text: string) => conversation.say([{ type: 'text', text }]),
    /** The outcome in the response to a permission request. */
    outcomeOf: (id: number) => written.find((line) => line.id === id && line.result !== undefined)?.result?.['outcome'],
    promptsOf: () =>
      written.flatMap(({ method, params }) => (method === 'session/prompt' ? [toTexts(params?.['prompt'])] : [])),
  };
}

const OPTIONS = [
  { optionId: 'always', kind: 'allow_always' },
  { optionId: 'once', kind: 'allow_once' },
  { optionId: 'never', kind: 'reject_always' },
  { optionId: 'no', kind: 'reject_once' },
];

function toTexts(prompt: unknown): string[] {
  return (prompt as readonly { readonly text: string }[]).map(({ text }) => text);
}
