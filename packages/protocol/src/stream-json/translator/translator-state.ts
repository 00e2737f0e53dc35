import { ContentTracker } from '../content/content-tracker.ts';
import { StreamTracker } from '../content/stream-tracker.ts';
import { EventSink } from '../threads/event-sink.ts';
import { ThreadTracker } from '../threads/thread-tracker.ts';
import type { Thread } from '../threads/threads.ts';
import { TurnTracker } from './turn-tracker.ts';

/** Options of a translator. */
export interface TranslatorOptions {
  /** Decode `result` a second time, as older documentation asks for. Corrupts answers that are JSON strings. */
  doubleEncodedResults?: boolean;
}

/** The shared state of the parts of a translator, of which snapshots are taken. */
export interface TranslatorState {
  sink: EventSink;
  threads: ThreadTracker;
  content: ContentTracker;
  streams: StreamTracker;
  turns: TurnTracker;
  /** Open permission requests and the thread of each. */
  requests: Map<string, Thread>;
}

/** The state before the first line. */
export function createState(options: TranslatorOptions): TranslatorState {
  const sink = new EventSink();
  const threads = new ThreadTracker(sink);
  const content = new ContentTracker(sink, threads);
  const turns = new TurnTracker(sink, options.doubleEncodedResults === true);
  const streams = new StreamTracker(sink, threads, content);
  return { sink, threads, content, streams, turns, requests: new Map() };
}
