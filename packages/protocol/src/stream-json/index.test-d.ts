import type { Readable } from 'node:stream';
import {
  type Accelerator,
  type AgentEvent,
  createMessage,
  createTranslateTransform,
  extractContent,
  type LineIssue,
  type LineItem,
  type LineSink,
  parseDoubleEncoded,
  parseLine,
  type PermissionRequest,
  type ReaderOptions,
  type StreamJsonMessage,
  StreamJsonReader,
  StreamTranslator,
  type StreamTranslatorOptions,
  Translator,
  type TranslatorOptions,
  type TranslatorSnapshot,
  translateStream,
  type WireBlock,
  type WireMessage,
} from '@fleetloom/protocol/stream-json';
import { expectTypeOf } from 'vitest';

// --- lines and messages ---

expectTypeOf(parseLine).toEqualTypeOf<(line: string) => StreamJsonMessage | null>();
expectTypeOf<StreamJsonMessage['type']>().toEqualTypeOf<string>();
expectTypeOf<StreamJsonMessage['parent_tool_use_id']>().toEqualTypeOf<string | null | undefined>();
expectTypeOf<StreamJsonMessage['message']>().toEqualTypeOf<WireMessage | null | undefined>();
expectTypeOf<StreamJsonMessage['whatever_comes_next']>().toEqualTypeOf<unknown>();
expectTypeOf<WireMessage['content']>().toEqualTypeOf<string | WireBlock[] | null | undefined>();
expectTypeOf<WireBlock['input']>().toEqualTypeOf<unknown>();
expectTypeOf<WireBlock['whatever_comes_next']>().toEqualTypeOf<unknown>();

export function readsMessages(line: string): void {
  const message = parseLine(line);
  // @ts-expect-error: a line may be no message
  void message.type;
  if (message === null) return;
  // @ts-expect-error: a line may have no message inside
  void message.message.content;
  const content = message.message?.content;
  if (Array.isArray(content)) expectTypeOf(content).toEqualTypeOf<WireBlock[]>();
}

expectTypeOf<LineIssue>().toEqualTypeOf<
  | { type: 'malformed'; offset: number; length: number; reason: string; excerpt: string }
  | { type: 'oversize'; offset: number; length: number; limit: number }
>();
expectTypeOf<LineItem>().toEqualTypeOf<{ type: 'message'; message: StreamJsonMessage } | LineIssue>();

// --- reader ---

expectTypeOf(StreamJsonReader).toBeConstructibleWith();
expectTypeOf(StreamJsonReader).toBeConstructibleWith({ lineBytesMax: 1_000 });
expectTypeOf<ReaderOptions['lineBytesMax']>().toEqualTypeOf<number | undefined>();
// @ts-expect-error: absent, not undefined
export const undefinedLimit: ReaderOptions = { lineBytesMax: undefined };
expectTypeOf<StreamJsonReader['push']>().toEqualTypeOf<(chunk: Uint8Array) => LineItem[]>();
expectTypeOf<StreamJsonReader['end']>().toEqualTypeOf<() => LineItem[]>();
expectTypeOf<StreamJsonReader['read']>().toEqualTypeOf<(chunk: Uint8Array, sink: LineSink) => void>();
expectTypeOf<StreamJsonReader['invalidBytes']>().toEqualTypeOf<number>();
expectTypeOf<{ message(message: StreamJsonMessage): void; issue(issue: LineIssue): void }>().toExtend<LineSink>();
expectTypeOf<Translator>().toExtend<LineSink>();
// A Buffer is bytes; text is not.
expectTypeOf<StreamJsonReader['push']>().toBeCallableWith(Buffer.of(10));
// @ts-expect-error: characters are not bytes
new StreamJsonReader().push('{}');

// --- translator ---

expectTypeOf<TranslatorOptions>().toEqualTypeOf<{ doubleEncodedResults?: boolean }>();
expectTypeOf(Translator).toBeConstructibleWith({ doubleEncodedResults: true });
expectTypeOf<Translator['translate']>().toEqualTypeOf<(message: StreamJsonMessage) => AgentEvent[]>();
expectTypeOf<Translator['issue']>().toEqualTypeOf<(issue: LineIssue) => void>();
expectTypeOf<Translator['take']>().toEqualTypeOf<() => AgentEvent[]>();
expectTypeOf<Translator['sessionId']>().toEqualTypeOf<string | undefined>();
expectTypeOf<Translator['model']>().toEqualTypeOf<string | undefined>();
expectTypeOf<Translator['drift']>().toEqualTypeOf<() => Record<string, number>>();
expectTypeOf<Translator['reset']>().toEqualTypeOf<() => void>();
expectTypeOf<Translator['snapshot']>().toEqualTypeOf<() => TranslatorSnapshot>();
expectTypeOf<typeof Translator.restore>().toEqualTypeOf<
  (snapshot: TranslatorSnapshot, options?: TranslatorOptions) => Translator
>();
expectTypeOf<TranslatorSnapshot['version']>().toEqualTypeOf<number>();
// @ts-expect-error: it is read, not set
new Translator().sessionId = 'other';
// @ts-expect-error: a line is read with parseLine first
new Translator().translate('{}');

// --- both in one ---

expectTypeOf<StreamTranslatorOptions>().toExtend<ReaderOptions & TranslatorOptions>();
expectTypeOf<StreamTranslatorOptions['accelerator']>().toEqualTypeOf<Accelerator | undefined>();
expectTypeOf<Accelerator['line']>().toEqualTypeOf<
  (bytes: Uint8Array, start: number, end: number, translator: Translator) => boolean
>();
expectTypeOf(StreamTranslator).toBeConstructibleWith({ lineBytesMax: 1_000, doubleEncodedResults: true });
expectTypeOf<StreamTranslator['push']>().toEqualTypeOf<(chunk: Uint8Array) => AgentEvent[]>();
expectTypeOf<StreamTranslator['end']>().toEqualTypeOf<() => AgentEvent[]>();
expectTypeOf<StreamTranslator['reader']>().toEqualTypeOf<StreamJsonReader>();
expectTypeOf<StreamTranslator['translator']>().toEqualTypeOf<Translator>();

// --- streams ---

expectTypeOf(createTranslateTransform).toEqualTypeOf<
  (options?: StreamTranslatorOptions) => TransformStream<Uint8Array, AgentEvent>
>();
expectTypeOf(translateStream).returns.toEqualTypeOf<AsyncGenerator<AgentEvent, void, void>>();

export async function reads(body: NonNullable<Response['body']>, stdout: Readable, text: AsyncIterable<string>) {
  for await (const event of translateStream(body)) expectTypeOf(event).toEqualTypeOf<AgentEvent>();
  for await (const event of translateStream(stdout)) expectTypeOf(event).toEqualTypeOf<AgentEvent>();
  for await (const event of translateStream(text, { lineBytesMax: 1 })) expectTypeOf(event).toEqualTypeOf<AgentEvent>();
  expectTypeOf(body.pipeThrough(createTranslateTransform())).toEqualTypeOf<ReadableStream<AgentEvent>>();
  // @ts-expect-error: numbers are not stream-json
  translateStream([1, 2, 3].values());
  // @ts-expect-error: a transform takes bytes, and events are none
  body.pipeThrough(createTranslateTransform()).pipeThrough(createTranslateTransform());
}

// --- content ---

expectTypeOf(extractContent).toEqualTypeOf<(content: unknown) => string>();
expectTypeOf(parseDoubleEncoded).toEqualTypeOf<(value: unknown) => string>();

// --- what goes to the program ---

export function writes(asked: PermissionRequest, event: AgentEvent): void {
  expectTypeOf(createMessage.user('Check the build.')).toEqualTypeOf<string>();
  createMessage.user([{ type: 'text', text: 'Check the build.' }], { uuid: 'a', sessionId: 'b' });
  createMessage.initialize({ forwardSubagentText: true, somethingNewer: 1, requestId: 'r' });
  createMessage.interrupt({ requestId: 'r' });
  createMessage.abort();
  createMessage.setModel('opus');
  createMessage.approve(asked);
  createMessage.approve(asked, { updatedInput: { command: 'ls' } });
  createMessage.deny(asked, { message: 'not today' });
  createMessage.deny(asked.requestId, { message: 'not today', interrupt: true });
  createMessage.allow(asked.requestId, { updatedInput: {} });
  createMessage.toolResult({ type: 'control_request' }, 'done', { isError: false });
  createMessage.mcpResponse('r', { jsonrpc: '2.0', id: 1, result: {} });
  createMessage.hookResponse('r');
  createMessage.answerError('r', 'no such tool');
  createMessage.request('anything_newer', { a: 1 }, { requestId: 'r' });
  if (event.type === 'permission_request') createMessage.approve(event);
  // @ts-expect-error: the program demands an input, even where nothing changes
  createMessage.allow(asked.requestId, {});
  // @ts-expect-error: the model wants to know why
  createMessage.deny(asked);
  // @ts-expect-error: an id alone does not hold the input that is approved
  createMessage.approve(asked.requestId);
  // @ts-expect-error: any event would not do
  createMessage.approve(event);
}
