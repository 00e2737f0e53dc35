import { createGate, type Gate, type GateMode, type GateOutput, type SavedGate } from '@fleetloom/protocol/fleet';
import type { FramePayloads } from '../../frames/frames.ts';
import type { Turn } from '../../store/frame.ts';
import { createOpenText, isSettled, lengthOf, type OpenText } from './open-text.ts';
import type { EventBody } from './event-body.ts';

/** One turn on a fleet stream, as long as it is open. */
export interface FleetStream {
  readonly id: number;
  readonly depth: number;
  /** A program runs it, which makes its model requests on its own. */
  readonly isProgram: boolean;
  /** What every event of it says of it, as the inside of a JSON object. */
  readonly common: string;
  readonly gate: Gate;
  /** Calls without a result. */
  readonly calls: Map<string, StreamCall>;
  /** What its model request has emitted of its text and of its thinking. */
  said: OpenText;
  thought: OpenText;
  /** What its readers have seen it say, if it was delegated to: it says it all again in the end. */
  text: string;
  /** The beginning of the text that has not changed since the last checkpoint, in characters. */
  textKept: number;
  /** How much they have seen, and of its thinking if they see that. */
  textChars: number;
  thinkingChars: number;
  /** Its last request failed, and it is not known yet whether it is made again. */
  isFailed: boolean;
  /** What its last request used up. It waits for the next frame, because it belongs behind the body of a turn. */
  usage: EventBody | null;
  /** Requests that failed since the last one that did not. */
  failures: number;
  /** The error that ends the turn was emitted. */
  isErrorEmitted: boolean;
}

/** A tool call without a result yet. */
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
  /** A program runs the session's own agent. */
  readonly isProgram: boolean;
}

/** A stream as JSON can hold it. */
export type SavedStream = Omit<FleetStream, 'gate' | 'calls'> & {
  readonly gate: SavedGate;
  readonly calls: readonly (readonly [string, StreamCall])[];
};

export function openStream(
  { streamId: id, depth }: Turn,
  threadId: string,
  { agent_name: agent, is_program: isProgram }: FramePayloads['turn.started'],
  rules: DelegationRules,
  mode: GateMode,
): FleetStream {
  const gate = createGate(toGateOptions(depth, rules, mode));
  const text = { text: '', textKept: 0, textChars: 0, thinkingChars: 0 };
  const open = { said: createOpenText(), thought: createOpenText() };
  const state = { ...text, ...open, isFailed: false, usage: null, failures: 0, isErrorEmitted: false };
  const common = JSON.stringify({ stream_id: id, depth, agent, thread_id: threadId }).slice(1, -1);
  return { id, depth, isProgram: isProgram ?? rules.isProgram, common, gate, calls: new Map(), ...state };
}

function toGateOptions(depth: number, { depthMax, hasMembers, hasCommands }: DelegationRules, mode: GateMode) {
  return {
    // Children are seen while they speak: only the master is held back.
    mode: depth === 0 ? mode : 'off',
    // Commands are hidden also where they may not be run: only the agent is notified.
    canDelegate: hasMembers && (hasCommands || depth < depthMax),
    commands: hasCommands,
  } as const;
}

/** The state of a turn for a checkpoint. */
export function saveStream({ gate, calls, ...rest }: FleetStream): SavedStream {
  return { ...rest, gate: gate.save(), calls: [...calls] };
}

/** The turn of a checkpoint. */
export function restoreStream(
  { gate, calls, said, thought, ...rest }: SavedStream,
  rules: DelegationRules,
  mode: GateMode,
): FleetStream {
  const restored = createGate(toGateOptions(rest.depth, rules, mode), gate);
  // Copied, because one checkpoint is restored for several views.
  const seen = { said: structuredClone(said), thought: structuredClone(thought) };
  return { ...rest, ...seen, gate: restored, calls: new Map(calls) };
}

/** What the gate lets through, which is what the turn has said. */
export function toVisible(stream: FleetStream, outputs: readonly GateOutput[]): readonly GateOutput[] {
  for (const output of outputs) {
    stream.textChars = output.type === 'text' ? stream.textChars + output.delta.length : output.from;
    if (stream.depth === 0) continue;
    stream.text = output.type === 'text' ? stream.text + output.delta : stream.text.slice(0, output.from);
    if (stream.text.length < stream.textKept) stream.textKept = stream.text.length;
  }
  return outputs;
}

/**
 * The model request of a program is over. What the log has of it stays, in the order of the log, and the rest is retracted: the
 * program does not keep it either.
 */
export function endAnswer(stream: FleetStream, includeThinking: boolean): readonly EventBody[] {
  const { said, gate } = stream;
  const thinking = endThinking(stream, stream.thought, includeThinking);
  stream.said = createOpenText();
  return [...thinking, ...toVisible(stream, isSettled(said) ? gate.end('ok') : gate.cut(said.kept, said.late))];
}

/** Of the thinking of a model request this stays. */
export function endThinking(
  stream: FleetStream,
  { kept, late }: Pick<OpenText, 'kept' | 'late'>,
  includeThinking: boolean,
): readonly EventBody[] {
  const surplus = lengthOf(stream.thought) - kept;
  stream.thought = createOpenText();
  if (surplus === 0) return [];
  const from = stream.thinkingChars - surplus;
  stream.thinkingChars = from + late.length;
  if (!includeThinking) return [];
  const again: EventBody[] = late === '' ? [] : [{ type: 'thinking', delta: late }];
  return [{ type: 'thinking_retract', from }, ...again];
}
