import { type GateMode, toShownText } from '@fleetloom/protocol/fleet';
import { isProgramModel } from '../../engines/program/registry.ts';
import type { FramePayloads, SessionFrame } from '../../frames/frames.ts';
import { viewLimits } from '../limits.ts';
import { type FleetRun, startRun, toDone } from './fleet-run.ts';
import {
  type DelegationRules,
  endThinking,
  type FleetStream,
  openStream,
  restoreStream,
  type SavedStream,
  saveStream,
  toVisible,
} from './fleet-stream.ts';
import { lengthOf } from './open-text.ts';
import { toTurnEvents } from './to-turn-events.ts';
import type { EventBody } from './event-body.ts';

/** Which text of a run a reader receives, and when. */
export interface FleetViewOptions {
  /** How the text of a delegating agent is delivered. */
  readonly gate: GateMode;
  readonly includeThinking: boolean;
}

/**
 * The log of a session as a fleet stream. It is a fold: the same frames give the same events with the same cursors to
 * every reader with the same options, live or later, from the beginning of a run on.
 */
export class FleetView {
  readonly #options: FleetViewOptions;
  #rules: DelegationRules = { depthMax: 0, hasMembers: false, hasCommands: false, isProgram: false };
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

  /** The whole state in a form that JSON can hold: a view restored from it emits the same events for the frames that follow. */
  save(): SavedView {
    const run = this.#run;
    if (run === undefined) return { rules: this.#rules, run: null };
    const streams = [...run.streams.values()].map(saveStream);
    return { rules: this.#rules, run: { ...run, errorCode: run.errorCode ?? null, streams } };
  }

  /** Called when a checkpoint with the present texts is stored. */
  markSaved(): void {
    for (const stream of this.#run?.streams.values() ?? []) stream.textKept = stream.text.length;
  }

  /** The events of a frame. */
  take(frame: SessionFrame): FrameEvents {
    if (frame.type === 'session.created') return this.#learn(frame.payload);
    if (frame.type === 'run.started') return this.#startRun(frame);
    if (frame.type === 'run.ended') return this.#endRun(frame);
    if (frame.type === 'turn.started') return this.#startStream(frame);
    const run = this.#run;
    const stream = frame.turn === null ? undefined : run?.streams.get(frame.turn.streamId);
    if (frame.type === 'session.error' && frame.turn === null) return toSessionEvents(frame.payload);
    if (frame.type === 'program.files_rewound') return toRewindEvents(frame.payload);
    // Not about a model request, so open text stays as it is.
    if (frame.type === 'workspace.changed') return toWorkspaceEvents(frame);
    if (frame.type === 'workspace.applied') return toAppliedEvents(frame.payload);
    if (frame.type === 'workspace.discarded') return toDiscardedEvents(frame.payload);
    if (run === undefined || stream === undefined) return NOTHING;
    const { includeThinking } = this.#options;
    const before = endOfRequest(frame, stream, includeThinking);
    const events = toTurnEvents(frame, { stream, run, time: frame.time, includeThinking });
    if (frame.type === 'turn.ended') run.streams.delete(stream.id);
    return { events: before.length === 0 ? events : [...before, ...events], of: stream };
  }

  /** Called where frames were removed from the log. */
  skip(): void {
    if (this.#run !== undefined) this.#run.isPruned = true;
  }

  #learn({
    agent,
    depth_max: depthMax,
    members,
    text_commands: hasCommands = false,
  }: FramePayloads['session.created']): FrameEvents {
    const isProgram = isProgramModel(agent.model.id);
    this.#rules = { depthMax, hasMembers: members.length > 0, hasCommands, isProgram };
    return NOTHING;
  }

  #startRun({ turn, time, payload }: Extract<SessionFrame, { type: 'run.started' }>): FrameEvents {
    this.#run = startRun(turn!.run, time);
    const { agent_name: agent, message } = payload;
    return { events: [{ type: 'request_received', request_id: turn!.run, agent, message }], of: undefined };
  }

  #endRun({ payload, time }: Extract<SessionFrame, { type: 'run.ended' }>): FrameEvents {
    const run = this.#run;
    if (run === undefined) return NOTHING;
    this.#run = undefined;
    const content = this.#rules.hasCommands ? toShownText(payload.content, run.notRun) : payload.content;
    return { events: toDone(run, { ...payload, content }, time), of: undefined };
  }

  #startStream({ turn, threadId, payload }: Extract<SessionFrame, { type: 'turn.started' }>): FrameEvents {
    if (this.#run === undefined || turn === null) return NOTHING;
    const stream = openStream(turn, threadId ?? '', payload, this.#rules, this.#options.gate);
    this.#run.streams.set(stream.id, stream);
    const { parent_stream_id, child_index, title, task, model } = payload;
    const named = title === undefined ? {} : { title };
    return { events: [{ type: 'stream_start', parent_stream_id, child_index, ...named, task, model }], of: stream };
  }
}

/** A view in a form that JSON can hold. */
export interface SavedView {
  readonly rules: DelegationRules;
  readonly run:
    | (Omit<FleetRun, 'streams' | 'errorCode'> & {
        readonly streams: readonly SavedStream[];
        readonly errorCode: string | null;
      })
    | null;
}

/** The events of a frame and their turn; undefined for events about the run. */
export interface FrameEvents {
  readonly events: readonly EventBody[];
  readonly of: FleetStream | undefined;
}

const NOTHING: FrameEvents = { events: [], of: undefined };

/** The event of an error outside of turns, such as lost background work. It may come between two runs. */
function toSessionEvents({ error, retry }: FramePayloads['session.error']): FrameEvents {
  // Not an error yet: the request is retried.
  if (retry === 'retrying') return NOTHING;
  const { message, type: code, reason } = error;
  const events: EventBody = { type: 'session_error', message, code, ...(reason === undefined ? {} : { reason }) };
  return { events: [events], of: undefined };
}

function toWorkspaceEvents({
  threadId,
  turn,
  payload,
}: Extract<SessionFrame, { type: 'workspace.changed' }>): FrameEvents {
  const { tool_use_id, files, files_count, lines_added, lines_removed, tree, workspace_thread_id } = payload;
  const event: EventBody = {
    type: 'workspace_changed',
    thread_id: threadId,
    turn: turn?.streamId ?? null,
    tool_use_id,
    files: files.slice(0, viewLimits.workspaceFilesMax),
    files_count,
    lines_added,
    lines_removed,
    tree,
    ...(workspace_thread_id === undefined ? {} : { workspace_thread_id }),
  };
  return { events: [event], of: undefined };
}

function toAppliedEvents(applied: FramePayloads['workspace.applied']): FrameEvents {
  const { by, onto, paths_count, branch = null, commit = null } = applied;
  return { events: [{ type: 'workspace_applied', by, onto, paths_count, branch, commit }], of: undefined };
}

function toDiscardedEvents({ by }: FramePayloads['workspace.discarded']): FrameEvents {
  return { events: [{ type: 'workspace_discarded', by }], of: undefined };
}

function toRewindEvents({ files, ...rewound }: FramePayloads['program.files_rewound']): FrameEvents {
  const shown = files.slice(0, viewLimits.rewoundFilesMax);
  return { events: [{ type: 'files_rewound', ...rewound, files: shown, files_count: files.length }], of: undefined };
}

/** The events of an ended model request that depend on the frame that follows it. */
function endOfRequest(frame: SessionFrame, stream: FleetStream, includeThinking: boolean): readonly EventBody[] {
  if (stream.usage === null && !stream.isFailed) return NOTHING.events;
  const events: EventBody[] = [];
  if (stream.usage !== null && frame.type !== 'agent.thread_message_sent' && frame.type !== 'turn.ended') {
    events.push(stream.usage);
    stream.usage = null;
  }
  if (stream.isFailed) {
    stream.isFailed = false;
    const isVoid = isRepeated(frame);
    const kept = isVoid ? 0 : lengthOf(stream.thought);
    events.push(...endThinking(stream, { kept, late: '' }, includeThinking));
    events.push(...toVisible(stream, stream.gate.end(isVoid ? 'void' : 'failed')));
  }
  return events;
}

/** Whether the failed request is retried, so that its text does not count. */
function isRepeated({ type, payload }: SessionFrame): boolean {
  return type === 'turn.overflowed' || (type === 'session.error' && payload.retry === 'retrying');
}
