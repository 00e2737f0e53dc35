import { readLines } from '../../stores/connection/read-lines.ts';
import type { Block } from '../transcript/blocks.ts';

/** A decision as the log records it. Fields that an older log lacks are null. */
export interface DecisionFacts {
  readonly verdict: 'approved' | 'denied' | 'answered';
  readonly at: number;
  readonly by: string | null;
  readonly rule: string | null;
  readonly inputSha256: string | null;
  /** The edited input that the call ran with, as JSON. */
  readonly updatedInput?: string;
  /** Set if the decision came too late and was not applied. */
  readonly isLate?: true;
}

/** Id of the event that decided about a call: a confirmation, or the result of a custom tool. */
export function decisionIdOf({ events }: Block): string | undefined {
  return events.find(({ type }) => type === 'user.tool_confirmation' || type === 'user.custom_tool_result')?.id;
}

/** Reads a log up to the frame of this event. The frame has fields that the event, which official clients see too, lacks. */
export async function findDecision(
  body: ReadableStream<Uint8Array>,
  eventId: string,
): Promise<DecisionFacts | undefined> {
  for await (const { text } of readLines(body)) {
    if (text.includes(`"payload":{"id":${JSON.stringify(eventId)},`)) return toFacts(text);
  }
  return undefined;
}

function toFacts(line: string): DecisionFacts {
  // The cast is safe: only the Fleetloom server writes the lines of an export.
  const { type, time, payload } = JSON.parse(line) as LogLine;
  const { result, by = null, rule = null, input_sha256: inputSha256 = null } = payload;
  const verdict = type === 'user.custom_tool_result' ? 'answered' : result === 'allow' ? 'approved' : 'denied';
  const changed = payload.updated_input === undefined ? {} : { updatedInput: JSON.stringify(payload.updated_input) };
  const late = payload.not_applied === undefined ? {} : { isLate: true as const };
  return { verdict, at: time, by, rule, inputSha256, ...changed, ...late };
}

interface LogLine {
  readonly type: string;
  readonly time: number;
  readonly payload: {
    readonly result?: string;
    readonly by?: string;
    readonly rule?: string | null;
    readonly input_sha256?: string;
    readonly updated_input?: unknown;
    readonly not_applied?: string;
  };
}
