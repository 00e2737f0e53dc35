import { type GateMode, toShownText } from '@fleetloom/protocol/fleet';
import type { FramePayloads, SessionFrame } from '../../frames/frames.ts';
import { type FleetRun, startRun, toDone } from './fleet-run.ts';
import {
  type DelegationRules,
  type FleetStream,
  openStream,
  restoreStream,
  type SavedStream,
  saveStream,
  toVisible,
} from './fleet-stream.ts';
import { tellStream } from './tell-stream.ts';
import type { Told } from './told.ts';

export interface FleetViewOptions {
  /** How the text of who delegates reaches the reader. */
  readonly gate: GateMode;
  readonly includeThinking: boolean;
}

/**
 * The log of a session as a fleet stream. It is a fold: the same frames give the same events with the same cursors to
 * every reader with the same options, live or later, from the beginning of a run on.
 */
export class FleetView {
  readonly #options: FleetViewOptions;
  #rules: DelegationRules = { depthMax: 0, hasMembers: false, hasCommands: false };
  #run: FleetRun | undefined;

  constructor(options: FleetViewOptions, saved?: SavedView) {
    this.#options = options;
    if (saved === undefined) return;
    const { rules, run } = saved;
    this.#rules = rules;
    if (run === null) return;
    const streams = run.streams.map((each) => restoreStream(each, rules, options.gate));
    this.#run = {
      ...run,
      errorCode: run.errorCode ?? undefined,
      streams: new Map(streams.map((stream) => [stream.id, stream])),
    };
  }

  /** All that it knows, as JSON can hold it: a view that is made of it gives the same events for what follows. */
  save(): SavedView {
    const run = this.#run;
    if (run === undefined) return { rules: this.#rules, run: null };
    const streams = [...run.streams.values()].map(saveStream);
    return { rules: this.#rules, run: { ...run, errorCode: run.errorCode ?? null, streams } };
  }

  /** The events that a frame gives. */
  take(frame: SessionFrame): Telling {
    if (frame.type === 'session.created') return this.#learn(frame.payload);
    if (frame.type === 'run.started') return this.#startRun(frame);
    if (frame.type === 'run.ended') return this.#endRun(frame);
    if (frame.type === 'turn.started') return this.#startStream(frame);
    const run = this.#run;
    const stream = frame.turn === null ? undefined : run?.streams.get(frame.turn.streamId);
    if (run === undefined || stream === undefined) return NOTHING;
    const before = endOfRequest(frame, stream);
    const { includeThinking } = this.#options;
    const told = tellStream(frame, { stream, run, time: frame.time, includeThinking });
    if (frame.type === 'turn.ended') run.streams.delete(stream.id);
    return { told: before.length === 0 ? told : [...before, ...told], of: stream };
  }

  /** Frames were removed here. */
  skip(): void {
    if (this.#run !== undefined) this.#run.isPruned = true;
  }

  #learn({
    depth_max: depthMax,
    members,
    text_commands: hasCommands = false,
  }: FramePayloads['session.created']): Telling {
    this.#rules = { depthMax, hasMembers: members.length > 0, hasCommands };
    return NOTHING;
  }

  #startRun({ turn, time, payload }: Extract<SessionFrame, { type: 'run.started' }>): Telling {
    this.#run = startRun(turn!.run, time);
    const { agent_name: agent, message } = payload;
    return { told: [{ type: 'request_received', request_id: turn!.run, agent, message }], of: undefined };
  }

  #endRun({ payload, time }: Extract<SessionFrame, { type: 'run.ended' }>): Telling {
    const run = this.#run;
    if (run === undefined) return NOTHING;
    this.#run = undefined;
    const content = this.#rules.hasCommands ? toShownText(payload.content, run.notRun) : payload.content;
    return { told: toDone(run, { ...payload, content }, time), of: undefined };
  }

  #startStream({ turn, threadId, payload }: Extract<SessionFrame, { type: 'turn.started' }>): Telling {
    if (this.#run === undefined || turn === null) return NOTHING;
    const stream = openStream(turn, threadId ?? '', payload, this.#rules, this.#options.gate);
    this.#run.streams.set(stream.id, stream);
    const { parent_stream_id, child_index, title, task, model } = payload;
    const named = title === undefined ? {} : { title };
    return { told: [{ type: 'stream_start', parent_stream_id, child_index, ...named, task, model }], of: stream };
  }
}

/** A view as JSON can hold it. */
export interface SavedView {
  readonly rules: DelegationRules;
  readonly run:
    | (Omit<FleetRun, 'streams' | 'errorCode'> & {
        readonly streams: readonly SavedStream[];
        readonly errorCode: string | null;
      })
    | null;
}

/** What a frame gives, and the turn that it is about; none where it is about the run. */
export interface Telling {
  readonly told: readonly Told[];
  readonly of: FleetStream | undefined;
}

const NOTHING: Telling = { told: [], of: undefined };

/** What was left open when a model request ended: only what comes next says what it meant. */
function endOfRequest(frame: SessionFrame, stream: FleetStream): readonly Told[] {
  if (stream.usage === null && !stream.isFailed) return NOTHING.told;
  const told: Told[] = [];
  if (stream.usage !== null && frame.type !== 'agent.thread_message_sent' && frame.type !== 'turn.ended') {
    told.push(stream.usage);
    stream.usage = null;
  }
  if (stream.isFailed) {
    stream.isFailed = false;
    told.push(...toVisible(stream, stream.gate.end(isRepeated(frame) ? 'void' : 'failed')));
  }
  return told;
}

/** Whether the request that failed is made again, so that what it said does not count. */
function isRepeated({ type, payload }: SessionFrame): boolean {
  return type === 'turn.overflowed' || (type === 'session.error' && payload.retry === 'retrying');
}
