import type { AgentEvent } from './events.ts';
import type { LineItem } from './messages.ts';
import { type ReaderOptions, StreamJsonReader } from './reader.ts';
import { Translator, type TranslatorOptions } from './translator.ts';

/**
 * Bytes of one stream in, events of all its agents out: a reader and a translator in one.
 *
 * @example
 * const stream = new StreamTranslator();
 * child.stdout.on('data', (chunk) => stream.push(chunk).forEach(show));
 * child.stdout.on('end', () => stream.end().forEach(show));
 */
export class StreamTranslator {
  readonly translator: Translator;
  readonly reader: StreamJsonReader;

  constructor(options: ReaderOptions & TranslatorOptions = {}) {
    this.reader = new StreamJsonReader(options);
    this.translator = new Translator(options);
  }

  push(chunk: Uint8Array): AgentEvent[] {
    return this.#translate(this.reader.push(chunk));
  }

  /** The stream is over: what a last line without LF holds. */
  end(): AgentEvent[] {
    return this.#translate(this.reader.end());
  }

  #translate(items: LineItem[]): AgentEvent[] {
    const events: AgentEvent[] = [];
    for (const item of items) {
      const more = item.type === 'message' ? this.translator.translate(item.message) : this.translator.issue(item);
      for (const event of more) events.push(event);
    }
    return events;
  }
}
