import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { SseDecoder } from '@fleetloom/protocol/sse';
import { StreamJsonReader } from '@fleetloom/protocol/stream-json';
import { AcpConversation } from '../packages/server/src/engines/program/acp/acp-conversation.ts';
import { CodexTranslator } from '../packages/server/src/engines/program/codex/translate/codex-translator.ts';
import { JsonRpc } from '../packages/server/src/engines/program/lines/json-rpc.ts';
import { record, text } from '../packages/server/src/engines/program/lines/values.ts';
import { OpencodeTranslator } from '../packages/server/src/engines/program/opencode/translate/opencode-translator.ts';
import { readEvent } from '../packages/server/src/engines/program/opencode/wire/read-event.ts';
import { isOversizedLine } from '../packages/server/src/engines/program/process/oversized-line.ts';

/** Only splits lines and parses each. */
export function playBareLines(bytes: Uint8Array): number {
  return splitAndParse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), '\n', 0);
}

/** Only splits the events of a stream and parses the data of each. */
export function playBareEvents(bytes: Uint8Array): number {
  return splitAndParse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), '\n\n', 'data: '.length);
}

function splitAndParse(bytes: Buffer, separator: string, skipped: number): number {
  let count = 0;
  let start = 0;
  for (let end = bytes.indexOf(separator); end !== -1; end = bytes.indexOf(separator, start)) {
    if (typeof JSON.parse(bytes.toString('utf8', start + skipped, end)) === 'object') count++;
    start = end + separator.length;
  }
  return count;
}

/** Lines of `codex app-server` as events. Returns how many there were. */
export function playCodex(bytes: Uint8Array): number {
  const rpc = new JsonRpc(() => {});
  const nothing = () => {};
  const about = { agent, members: [], known: [], answer: nothing, reject: nothing, steer: nothing };
  const translator = new CodexTranslator({ ...about, readThread: nothing });
  let isOpen = false;
  let count = 0;
  readLines(bytes, (message) => {
    const threadId = text(record(record(message['result'])?.['thread'])?.['id']);
    if (!isOpen && threadId !== undefined) {
      isOpen = true;
      count += translator.open({ threadId, model: 'any', version: null }).length;
    }
    const line = rpc.take(message);
    if (line !== null) count += translator.take(line).length;
  });
  return count;
}

/** The stream of `opencode serve` as events. Returns how many there were. */
export function playOpencode(bytes: Uint8Array): number {
  let translator: OpencodeTranslator | undefined;
  let count = 0;
  for (const item of new SseDecoder({ eventBytesMax: 8 * 1024 * 1024 }).push(bytes)) {
    if (item.type !== 'event') continue;
    const value: unknown = JSON.parse(item.data);
    const info = record(record(record(value)?.['properties'])?.['info']);
    const conversation = translator === undefined ? text(info?.['id']) : undefined;
    if (conversation !== undefined) translator = openOpencode(conversation);
    const event = readEvent(value);
    if (event !== null) count += translator?.take(event).length ?? 0;
  }
  return count;
}

function openOpencode(conversation: string): OpencodeTranslator {
  return new OpencodeTranslator({
    conversation,
    agent,
    members: [],
    known: [],
    now: () => 0,
    retriesMax: 10,
    statusOf: () => null,
    onGiveUp: () => {},
    onAsk: () => true,
    onCallEnd: () => false,
  });
}

/** Lines of an ACP agent as events. Returns how many there were. */
export function playAcp(bytes: Uint8Array): number {
  let count = 0;
  const conversation = new AcpConversation({
    agent,
    directory: '/repo',
    resume: null,
    model: null,
    mcpServers: [],
    write: () => {},
    emit: (events) => (count += events.length),
    onFailure: () => {},
  });
  conversation.begin();
  conversation.say([{ type: 'text', text: 'Go.' }]);
  readLines(bytes, (message) => conversation.take(message));
  return count;
}

function readLines(bytes: Uint8Array, message: (message: Readonly<Record<string, unknown>>) => void): void {
  const reader = new StreamJsonReader({ lineBytesMax: 8 * 1024 * 1024 });
  reader.read(bytes, { message, issue: () => {}, bytes: isOversizedLine });
}

const agent: AgentSnapshot = {
  type: 'agent',
  id: 'agent_bench',
  version: 1,
  name: 'coordinator',
  description: null,
  system: null,
  model: { id: 'codex/default', effort: { type: 'high' }, speed: 'standard' },
  tools: [],
  mcp_servers: [],
  skills: [],
  execution_identity: { type: 'service_account' },
};
