import { cutText } from '@fleetloom/protocol/fleet';
import { inBackground, reportAsWarning } from '../../../base/in-background.ts';
import type { Clock } from '../../../base/clock.ts';
import { RecentMap } from '../../../base/collections/recent-map.ts';
import type { Schedule } from '../../../base/schedule.ts';
import { programLimits } from '../../../engines/program/limits.ts';
import { sessionLimits } from '../../core/limits.ts';
import type { ProgramEvent } from '../../../engines/program/program.ts';
import type { NewSessionFrame } from '../../../frames/frames.ts';
import { DeltaWriter } from '../writes/delta-writer.ts';
import { type SessionState, type ThreadState, threadOf } from '../../core/state/state.ts';
import { findCall, findThread } from '../../core/program/find-thread.ts';

/** What writing the deltas of a program needs. */
export interface ProgramDeltasOptions {
  readonly state: SessionState;
  /** The thread that the program runs as its main agent. */
  readonly rootId: string;
  readonly nextEventId: () => string;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly writeDelta: (frame: NewSessionFrame) => Promise<unknown>;
}

interface OpenRequest {
  readonly startId: string;
  readonly writer: DeltaWriter;
  readonly stop: AbortController;
  /** Blocks that have begun and not ended, by the name that the program gave them: their event ids, and what was written. */
  readonly blocks: RecentMap<{ readonly id: string; text: string }>;
}

type ProgramDelta = Extract<ProgramEvent, { type: 'block_started' | 'block_delta' | 'output_delta' }>;

/** Whether an event is written as a delta, without a decision of the session. */
export function isDelta(event: ProgramEvent): event is ProgramDelta {
  return event.type === 'block_started' || event.type === 'block_delta' || event.type === 'output_delta';
}

interface OpenOutput {
  readonly threadId: string;
  readonly writer: DeltaWriter;
  readonly stop: AbortController;
  chars: number;
}

/**
 * Writes the output of the agents of a program as it arrives, for each model request in progress,
 * and the output of their running calls. It owns the event ids of
 * open blocks: each begun block gets a new id, and an id is used once, for the event of its block.
 */
export class ProgramDeltas {
  readonly #options: ProgramDeltasOptions;
  readonly #requests = new Map<string, OpenRequest>();
  /** The output of running calls, by the ids of the calls. */
  readonly #outputs = new Map<string, OpenOutput>();

  constructor(options: ProgramDeltasOptions) {
    this.#options = options;
  }

  async take(event: ProgramDelta): Promise<void> {
    if (event.type === 'block_started') this.#start(event);
    else if (event.type === 'block_delta') await this.#grow(event);
    else await this.#show(event);
  }

  #start({ key, block, kind }: Extract<ProgramEvent, { type: 'block_started' }>): void {
    const request = this.#open(key);
    // If too many blocks stay open, the oldest are forgotten.
    request?.blocks.set(block, { id: request.writer.begin(kind), text: '' });
  }

  async #grow({ key, block, text }: Extract<ProgramEvent, { type: 'block_delta' }>): Promise<void> {
    const request = this.#requests.get(key);
    const open = request?.blocks.get(block);
    if (request === undefined || open === undefined) return;
    // Larger than the content that can be logged as a whole: no more deltas are written.
    if (open.text.length + text.length > sessionLimits.contentBytesMax) return void request.blocks.delete(block);
    open.text += text;
    await request.writer.grow(open.id, text);
  }

  /** The id for the event of the whole block, if its deltas add up to it. */
  end({ key, block, content }: Extract<ProgramEvent, { type: 'block_ended' }>): string | undefined {
    const request = this.#requests.get(key);
    const open = request?.blocks.get(block);
    if (request === undefined || open === undefined) return undefined;
    request.blocks.delete(block);
    const text = content.type === 'text' ? content.text : content.type === 'thinking' ? content.thinking : '';
    const isTrue = text.startsWith(open.text);
    // The program sent no deltas for the rest. It is written too, so that the deltas always add up to the whole.
    if (isTrue && text.length > open.text.length)
      inBackground(request.writer.grow(open.id, text.slice(open.text.length)), reportAsWarning);
    request.writer.flush();
    return isTrue ? open.id : undefined;
  }

  /** Writes new output of a running call. */
  async #show({ key, callId, text }: Extract<ProgramEvent, { type: 'output_delta' }>): Promise<void> {
    const thread = this.#threadOf(key);
    const call = findCall(thread, callId);
    if (thread === undefined || call?.progress.type !== 'running') return;
    const output = this.#outputs.get(call.id) ?? this.#openOutput(thread, call.id);
    const shown = cutText(text, Math.max(0, programLimits.programOutputCharsMax - output.chars));
    output.chars += shown.length;
    if (shown !== '') await output.writer.show(call.id, shown);
  }

  /** Ends the output of a call whose result is about to be logged. */
  endOutput({ key, callId }: Extract<ProgramEvent, { type: 'result' }>): void {
    const call = findCall(this.#threadOf(key), callId);
    const output = call === undefined ? undefined : this.#outputs.get(call.id);
    if (call === undefined || output === undefined) return;
    output.writer.flush();
    this.#outputs.delete(call.id);
  }

  /** Stops writers whose request or call has ended. */
  stopUnwanted(): void {
    for (const [id, { threadId, stop }] of this.#outputs) {
      if (this.#options.state.threads.get(threadId)?.calls.get(id)?.progress.type === 'running') continue;
      stop.abort();
      this.#outputs.delete(id);
    }
    for (const [key, { startId, stop }] of this.#requests) {
      if (this.#startIdOf(key) === startId) continue;
      stop.abort();
      this.#requests.delete(key);
    }
  }

  #open(key: string): OpenRequest | undefined {
    const startId = this.#startIdOf(key);
    const known = this.#requests.get(key);
    if (known?.startId === startId) return known;
    const thread = this.#threadOf(key);
    if (startId === undefined || thread === undefined) return undefined;
    const stop = new AbortController();
    const request: OpenRequest = {
      startId,
      writer: this.#openWriter(thread, stop),
      stop,
      blocks: new RecentMap({ entriesMax: programLimits.programBlocksMax }),
    };
    this.#requests.set(key, request);
    return request;
  }

  #openOutput(thread: ThreadState, toolUseId: string): OpenOutput {
    const stop = new AbortController();
    const output = { threadId: thread.id, writer: this.#openWriter(thread, stop), stop, chars: 0 };
    this.#outputs.set(toolUseId, output);
    return output;
  }

  #openWriter(thread: ThreadState, { signal }: AbortController): DeltaWriter {
    const { state: _, rootId: __, ...options } = this.#options;
    return new DeltaWriter({ ...options, threadId: thread.id, turn: thread.turn, signal });
  }

  #startIdOf(key: string): string | undefined {
    const phase = this.#threadOf(key)?.turn?.phase;
    return phase?.type === 'program' && phase.startId !== null ? phase.startId : undefined;
  }

  #threadOf(key: string): ThreadState | undefined {
    const { state, rootId } = this.#options;
    return findThread(state, threadOf(state, rootId), key);
  }
}
