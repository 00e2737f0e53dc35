/** Claude Code's stream-json: bytes to messages, messages to events of agents. `./tree.ts` folds the events to a tree. */
export { createMessage } from './create-message.ts';
export type { LineIssue, LineItem, StreamJsonMessage, WireBlock, WireMessage } from './messages.ts';
export { parseLine } from './parse-line.ts';
export { type LineSink, type ReaderOptions, StreamJsonReader } from './reader.ts';
export { type Accelerator, StreamTranslator, type StreamTranslatorOptions } from './stream-translator.ts';
export { translateStream } from './translate-stream.ts';
export { createTranslateTransform } from './translate-transform.ts';
export { Translator, type TranslatorOptions } from './translator.ts';
export type { TranslatorSnapshot } from './snapshot.ts';
export { extractContent, parseDoubleEncoded } from './content.ts';
export * from './events.ts';
