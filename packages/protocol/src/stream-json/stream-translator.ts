import type { AgentEvent } from './events.ts';
import { type LineSink, type ReaderOptions, StreamJsonReader } from './reader.ts';
import { Translator, type TranslatorOptions } from './translator.ts';

/** Takes lines as bytes once a stream is known to repeat itself. True: the line is translated. */
export interface Accelerator {
  line(bytes: Uint8Array, start: number, end: number, translator: Translator): boolean;
}

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
  readonly reader: StreamJsonReader;
  readonly translator: Translator;
  readonly #sink: LineSink;
  readonly #accelerator: Accelerator | undefined;

  constructor(options: StreamTranslatorOptions = {}) {
    this.reader = new StreamJsonReader(options);
    this.translator = new Translator(options);
    this.#accelerator = options.accelerator;
    this.#sink = {
      message: (message) => this.translator.message(message),
      issue: (issue) => this.translator.issue(issue),
      bytes: undefined,
    };
  }

  push(chunk: Uint8Array): AgentEvent[] {
    const { translator } = this;
    const accelerator = this.#accelerator;
    // Only once the stream has repeated itself: today's streams never do, and pay nothing.
    if (accelerator && !this.#sink.bytes && translator.repeats) {
      this.#sink.bytes = (bytes, start, end) => accelerator.line(bytes, start, end, translator);
    }
    this.reader.read(chunk, this.#sink);
    return translator.take();
  }

  /** The stream is over: what a last line without LF holds. */
  end(): AgentEvent[] {
    this.reader.readEnd(this.#sink);
    return this.translator.take();
  }
}
