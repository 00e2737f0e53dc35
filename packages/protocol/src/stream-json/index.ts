/** Claude Code's stream-json: bytes to messages, messages to events of agents. `./tree.ts` folds the events to a tree. */
export { createMessage } from './wire/create-message.ts';
export type { LineIssue, LineItem, StreamJsonMessage, WireBlock, WireMessage } from './wire/messages.ts';
export { parseLine } from './lines/parse-line.ts';
export { type LineSink, type ReaderOptions, StreamJsonReader } from './lines/reader.ts';
export { type Accelerator, StreamTranslator, type StreamTranslatorOptions } from './translator/stream-translator.ts';
export { translateStream } from './translator/translate-stream.ts';
export { createTranslateTransform } from './translator/translate-transform.ts';
export { Translator } from './translator/translator.ts';
export type { TranslatorOptions } from './translator/translator-state.ts';
export type { TranslatorSnapshot } from './translator/snapshot.ts';
export { extractContent, parseDoubleEncoded } from './wire/content.ts';
export * from './wire/events.ts';
