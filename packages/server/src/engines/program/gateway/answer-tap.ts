import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { SseDecoder, type SseItem } from '@fleetloom/protocol/sse';
import { modelLimits } from '../../model/limits.ts';
import { programLimits } from '../limits.ts';
import { AnswerReader } from './answer-reader.ts';
import { createDecoder } from './decoder.ts';
import type { AnswerEvent, AnswerFailure, GatewayEvent } from './events.ts';
import { readRefusal } from './read-refusal.ts';

/** Options of reading one response as it passes. */
export interface AnswerTapOptions {
  readonly sessionId: string | null;
  readonly agentId: string | null;
  readonly parentAgentId: string | null;
  readonly nextId: () => string;
  readonly onEvent: (event: GatewayEvent) => void;
  readonly onProblem: (problem: unknown) => void;
}

/** Reads one response as it passes. It keeps one event at most, and never delays the response. */
export interface AnswerTap {
  begin(answer: Pick<IncomingMessage, 'statusCode' | 'headers'>): void;
  push(piece: Uint8Array): void;
  /** Ends the tap. Resolves when all passed bytes were read. */
  end(): Promise<void>;
  /** Reports the failure, unless the response has ended. */
  fail(reason: AnswerFailure['reason'], message: string): void;
}

/** Reads a response on its way to the program. Emits `requested` at once. */
export function createAnswerTap(options: AnswerTapOptions): AnswerTap {
  const { sessionId, agentId, parentAgentId, nextId, onEvent, onProblem } = options;
  const requestId = nextId();
  const reader = new AnswerReader();
  let unpack: Transform | 'none' = 'none';
  let sink: Sink = wholeSink;
  let isOver = false;
  emit({ type: 'requested' });

  return {
    begin: ({ statusCode = 0, headers }) => {
      const decoder = createDecoder(headers['content-encoding']);
      if (decoder === undefined) return fail('unreadable', `it is packed as ${headers['content-encoding']}`);
      if (decoder !== 'none') feedFrom(decoder);
      unpack = decoder;
      const isStream = headers['content-type']?.toLowerCase().startsWith('text/event-stream') === true;
      if (statusCode >= 400) sink = createRefusalSink(statusCode);
      else if (isStream) sink = createStreamSink(reader);
    },
    push: (piece) => {
      if (isOver) return;
      if (unpack === 'none') return take(sink.push(piece));
      unpack.write(piece);
      // A response that arrives faster than it can be decompressed would fill memory.
      if (unpack.writableLength > programLimits.gatewayTapBytesMax)
        fail('unreadable', 'it came faster than it was unpacked');
    },
    end: async () => {
      if (unpack !== 'none' && !isOver) await finish(unpack);
      take(sink.end());
    },
    fail,
  };

  function feedFrom(decoder: Transform): void {
    decoder.on('data', (piece: Uint8Array) => take(sink.push(piece)));
    decoder.on('error', (error) => fail('unreadable', `it cannot be unpacked: ${error.message}`));
  }

  function take(events: readonly AnswerEvent[]): void {
    for (const event of events) emit(event);
  }

  function fail(reason: AnswerFailure['reason'], message: string): void {
    emit({ type: 'failed', failure: { reason, status: null, message } });
  }

  function emit(event: AnswerEvent): void {
    if (isOver) return;
    isOver = event.type === 'finished' || event.type === 'failed';
    const { messageId, model } = reader;
    try {
      onEvent({ sessionId, agentId, parentAgentId, requestId, messageId, model, event });
    } catch (error) {
      // An error of the listener must not break the forwarded response.
      onProblem(error);
    }
    if (isOver && unpack !== 'none') unpack.destroy();
  }
}

/** Reads the bytes of a response. The last event of `end` is `finished` or `failed`; later events are dropped. */
interface Sink {
  push(piece: Uint8Array): readonly AnswerEvent[];
  end(): readonly AnswerEvent[];
}

/** Reads a response that is not streamed: the lines of the program report its content. */
const wholeSink: Sink = { push: () => [], end: () => [{ type: 'finished' }] };

function createStreamSink(reader: AnswerReader): Sink {
  const decoder = new SseDecoder({ eventBytesMax: modelLimits.engineEventBytesMax });
  return {
    push: (piece) => decoder.push(piece).flatMap((item) => readItem(reader, item)),
    end: () => [broken('the answer ended in the middle')],
  };
}

function readItem(reader: AnswerReader, item: SseItem): readonly AnswerEvent[] {
  if (item.type === 'event') return reader.read(item.data);
  if (item.type !== 'oversize') return [];
  const message = `an event of the answer has more than ${item.limit} bytes`;
  return [{ type: 'failed', failure: { reason: 'unreadable', status: null, message } }];
}

/** Keeps the beginning of an error response, which contains the reason. */
function createRefusalSink(status: number): Sink {
  let text = Buffer.alloc(0);
  return {
    push: (piece) => {
      const room = programLimits.gatewayRefusalBytesMax - text.length;
      if (room > 0) text = Buffer.concat([text, piece.subarray(0, room)]);
      return [];
    },
    end: () => [{ type: 'failed', failure: { reason: 'refused', status, message: readRefusal(text) } }],
  };
}

function broken(message: string): AnswerEvent {
  return { type: 'failed', failure: { reason: 'broken', status: null, message } };
}

/** Resolves when the last piece is decompressed. Failures were reported before. */
async function finish(unpack: Transform): Promise<void> {
  await new Promise<void>((resolve) => {
    unpack.once('close', resolve);
    unpack.once('end', resolve);
    unpack.end();
  });
}
