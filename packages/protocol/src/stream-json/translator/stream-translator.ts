import type { AgentEvent } from '../wire/events.ts';
import { type LineSink, type ReaderOptions, StreamJsonReader } from '../lines/reader.ts';
import { Translator } from './translator.ts';
import type { TranslatorOptions } from './translator-state.ts';

/** Takes lines as bytes once a stream is known to repeat itself. True: the line is translated. */
export interface Accelerator {
  line(bytes: Uint8Array, start: number, end: number, translator: Translator): boolean;
}

/** Options of a {@link StreamTranslator}. */
export interface StreamTranslatorOptions extends ReaderOptions, TranslatorOptions {
  /** Parses only what is new in growing snapshots; see `@fleetloom/protocol/stream-json/accelerator`. */
  accelerator?: Accelerator;
}

/**
 * Bytes of one stream in, events of all its agents out: a reader and a translator in one.
 *
 * @example
 * const stream = new StreamTranslator();
 * child.stdout.on('data', (chunk) => stream.push(chunk).forEach(show));
 * child.stdout.on('end', () => stream.end().forEach(show));
 */
export class StreamTranslator {
  declare readonly reader: StreamJsonReader;
  declare readonly translator: Translator;
  readonly #bytes: LineSink['bytes'];

  constructor(options: StreamTranslatorOptions = {}) {
    this.reader = new StreamJsonReader(options);
    const translator = (this.translator = new Translator(options));
    const { accelerator } = options;
    this.#bytes = accelerator && ((bytes, start, end) => accelerator.line(bytes, start, end, translator));
  }

  push(chunk: Uint8Array): AgentEvent[] {
    const { translator } = this;
    // Only once the stream has repeated itself: today's streams never do, and pay nothing.
    if (translator.repeats) translator.bytes = this.#bytes;
    this.reader.read(chunk, translator);
    return translator.take();
  }

  /** Ends the stream: returns the events of a last line without LF. */
  end(): AgentEvent[] {
    this.reader.readEnd(this.translator);
    return this.translator.take();
  }
}
