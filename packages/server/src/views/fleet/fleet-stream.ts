import { createGate, type Gate, type GateMode, type GateOutput, type SavedGate } from '@fleetloom/protocol/fleet';
import { limits } from '../../base/limits.ts';
import type { FramePayloads } from '../../frames/frames.ts';
import type { Turn } from '../../store/frame.ts';
import type { FleetRun } from './fleet-run.ts';
import type { Told } from './told.ts';

/** One turn on a fleet stream, as long as it is open. */
export interface FleetStream {
  readonly id: number;
  readonly depth: number;
  /** What every event of it says of it, as the inside of a JSON object. */
  readonly common: string;
  readonly gate: Gate;
  /** Calls without a result. */
  readonly calls: Map<string, StreamCall>;
  /** How much was told of each block that is not whole yet. */
  readonly grown: Map<string, number>;
  /** What its readers have seen it say, if it was delegated to: it says it all again in the end. */
  text: string;
  /** How much they have seen. */
  textChars: number;
  /** Its last request failed, and it is not known yet whether it is made again. */
  isFailed: boolean;
  /** What its last request used up. It waits for the next frame, because it belongs behind the body of a turn. */
  usage: Told | null;
  /** Requests that failed since the last one that did not. */
  failures: number;
  /** Why it will not end well was told. */
  isErrorTold: boolean;
}

export interface StreamCall {
  readonly name: string;
  readonly input: unknown;
  readonly since: number;
}

/** What a session says about who may delegate. */
export interface DelegationRules {
  readonly depthMax: number;
  readonly hasMembers: boolean;
  readonly hasCommands: boolean;
}

/** A stream as JSON can hold it. */
export type SavedStream = Omit<FleetStream, 'gate' | 'calls' | 'grown'> & {
  readonly gate: SavedGate;
  readonly calls: readonly (readonly [string, StreamCall])[];
  readonly grown: readonly (readonly [string, number])[];
};

export function openStream(
  { streamId: id, depth }: Turn,
  threadId: string,
  { agent_name: agent }: FramePayloads['turn.started'],
  rules: DelegationRules,
  mode: GateMode,
): FleetStream {
  const gate = createGate(toGateOptions(depth, rules, mode));
  const state = { text: '', textChars: 0, isFailed: false, usage: null, failures: 0, isErrorTold: false };
  const common = JSON.stringify({ stream_id: id, depth, agent, thread_id: threadId }).slice(1, -1);
  return { id, depth, common, gate, calls: new Map(), grown: new Map(), ...state };
}

function toGateOptions(depth: number, { depthMax, hasMembers, hasCommands }: DelegationRules, mode: GateMode) {
  return {
    // Children are seen while they speak: only the master is held back.
    mode: depth === 0 ? mode : 'off',
    // Commands are hidden also where they may not be run: the agent is told so, nobody else.
    canDelegate: hasMembers && (hasCommands || depth < depthMax),
    commands: hasCommands,
  } as const;
}

export function saveStream({ gate, calls, grown, ...rest }: FleetStream): SavedStream {
  return { ...rest, gate: gate.save(), calls: [...calls], grown: [...grown] };
}

export function restoreStream(
  { gate, calls, grown, ...rest }: SavedStream,
  rules: DelegationRules,
  mode: GateMode,
): FleetStream {
  const restored = createGate(toGateOptions(rest.depth, rules, mode), gate);
  return { ...rest, gate: restored, calls: new Map(calls), grown: new Map(grown) };
}

/** What the gate lets through, which is what the turn has said. */
export function toVisible(stream: FleetStream, outputs: readonly GateOutput[]): readonly GateOutput[] {
  for (const output of outputs) {
    stream.textChars = output.type === 'text' ? stream.textChars + output.delta.length : output.from;
    if (stream.depth === 0) continue;
    stream.text = output.type === 'text' ? stream.text + output.delta : stream.text.slice(0, output.from);
  }
  return outputs;
}

/** A file that an agent has written, as long as the run has not shown too much of them. */
export function fileOf(run: FleetRun, call: StreamCall, edited: WrittenFile | undefined): Told[] {
  const file = edited ?? toWritten(call);
  if (file === undefined) return [];
  const size = Buffer.byteLength(file.content);
  run.filesBytes += size;
  if (run.filesBytes > limits.runFilesBytesMax) return [];
  return [{ type: 'file', path: file.path, size, encoding: 'utf-8', content: file.content }];
}

interface WrittenFile {
  readonly path: string;
  readonly content: string;
}

/** The `write` tool of the server, and `Write` of the claude program: the input has the path and the whole content. */
function toWritten({ name, input }: StreamCall): WrittenFile | undefined {
  if ((name !== 'write' && name !== 'Write') || typeof input !== 'object' || input === null) return undefined;
  const { file_path: path, content } = input as { readonly file_path?: unknown; readonly content?: unknown };
  return typeof path === 'string' && typeof content === 'string' ? { path, content } : undefined;
}
