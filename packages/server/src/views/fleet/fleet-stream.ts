import { createGate, type Gate, type GateMode, type GateOutput, type SavedGate } from '@fleetloom/protocol/fleet';
import type { FramePayloads } from '../../frames/frames.ts';
import type { Turn } from '../../store/frame.ts';
import { createOpenText, isSettled, lengthOf, type OpenText } from './open-text.ts';
import type { EventBody } from './event-body.ts';

/** An open turn on a fleet stream. */
export interface FleetStream {
  readonly id: number;
  readonly depth: number;
  /** A program runs the turn and makes its own model requests. */
  readonly isProgram: boolean;
  /** The fields that all events of this turn share, as JSON without the braces. */
  readonly common: string;
  readonly gate: Gate;
  /** Tool calls without a result. */
  readonly calls: Map<string, StreamCall>;
  /** The text and the thinking that the current model request has emitted. */
  said: OpenText;
  thought: OpenText;
  /** The visible text of a delegated turn: the event of its end repeats all of it. */
  text: string;
  /** Number of characters at the beginning of `text` that are unchanged since the last checkpoint. */
  textKept: number;
  /** Number of characters that readers have received: of its text, and of its thinking if that is included. */
  textChars: number;
  thinkingChars: number;
  /** The last model request failed, and it is not known yet whether it is retried. */
  isFailed: boolean;
  /** The usage of the last model request. It is emitted with the next frame, because it belongs behind the text of the turn. */
  usage: EventBody | null;
  /** Number of failed model requests since the last successful one. */
  failures: number;
  /** The error that ends the turn has been emitted. */
  isErrorEmitted: boolean;
}

/** A tool call without a result yet. */
export interface StreamCall {
  readonly name: string;
  readonly input: unknown;
  readonly since: number;
}

/** Which agents of a session may delegate. */
export interface DelegationRules {
  readonly depthMax: number;
  readonly hasMembers: boolean;
  readonly hasCommands: boolean;
  /** The session's own agent runs in a program. */
  readonly isProgram: boolean;
}

/** A turn in a form that JSON can hold. */
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
    // Text of children is emitted as it arrives; only that of the coordinator is gated.
    mode: depth === 0 ? mode : 'off',
    // Commands are hidden even where they are not run: only the agent is notified.
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
  // Cloned, because one checkpoint is restored for several views.
  const seen = { said: structuredClone(said), thought: structuredClone(thought) };
  return { ...rest, ...seen, gate: restored, calls: new Map(calls) };
}

/** Adds the text that the gate lets through to the visible text of the turn. */
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
 * Ends the model request of a program. The text that the log has stays, in the order of the log, and the rest is retracted: the
 * program does not keep it, either.
 */
export function endAnswer(stream: FleetStream, includeThinking: boolean): readonly EventBody[] {
  const { said, gate } = stream;
  const thinking = endThinking(stream, stream.thought, includeThinking);
  stream.said = createOpenText();
  return [...thinking, ...toVisible(stream, isSettled(said) ? gate.end('ok') : gate.cut(said.kept, said.late))];
}

/** Retracts the thinking of a model request that the log does not have. */
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
