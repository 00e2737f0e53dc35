import {
  type Approval,
  createSlots,
  type FleetEvent,
  foldSlots,
  openApprovals,
  type Question,
  questionsOf,
  type SessionSlots,
} from '@fleetloom/protocol/fleet';
import type { Connection } from '../connection/connection.ts';
import { openFleet } from '../connection/open-fleet.ts';
import { cleanInput, cleanInputLine } from '../terminal/clean-text.ts';
import { toInputLine } from './draw-threads.ts';
import { toQuestionText } from './input-lines.ts';

/** What waits for a person in a session. */
export interface OpenAsks {
  readonly approvals: readonly Approval[];
  readonly results: readonly OpenResult[];
}

/** A call whose result the client gives: a question to the user, or a custom tool. */
export interface OpenResult {
  readonly toolUseId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly agent: string;
  readonly threadId: string | null;
  /** None: the call is one of a custom tool. */
  readonly questions: readonly Question[];
}

export async function readOpen(connection: Connection, session: string): Promise<OpenAsks> {
  let slots = createSlots({ textCharsMax: 0 });
  const inputs = new Map<string, unknown>();
  for await (const event of openFleet(connection, { session, follow: false, retriesMax: 2 })) {
    slots = foldSlots(slots, event);
    noteInput(inputs, event);
  }
  return { approvals: openApprovals(slots), results: toResults(slots, inputs) };
}

function noteInput(inputs: Map<string, unknown>, event: FleetEvent): void {
  if (event.type === 'tool_start' && event.awaits_result === true) inputs.set(event.tool_use_id, event.input);
  else if (event.type === 'tool_call') inputs.delete(event.tool_use_id);
}

function toResults({ runs }: SessionSlots, inputs: ReadonlyMap<string, unknown>): OpenResult[] {
  return runs.flatMap(({ slots }) =>
    slots.flatMap(({ tools, agent, threadId }) =>
      tools.flatMap(({ toolUseId, tool, state, awaitsResult = false }): OpenResult[] => {
        if (state !== 'running' || !awaitsResult) return [];
        const input = inputs.get(toolUseId);
        return [{ toolUseId, tool, input, agent, threadId, questions: questionsOf({ tool, input }) }];
      }),
    ),
  );
}

/** The call in a line with its id; below it the questions with their options, or the input of a custom tool. */
export function describeResult({ toolUseId, tool, input, agent, questions }: OpenResult): string {
  const head = cleanInputLine(`${agent} ${tool}`);
  if (questions.length === 0) return `${toolUseId}  ${head}: ${toInputLine(input)}\n`;
  const lines = cleanInput(questions.map(toQuestionText).join('\n')).split('\n');
  return `${toolUseId}  ${head}\n${lines.map((line) => `    ${line}\n`).join('')}`;
}

/** How to answer it, as a command. */
export function toAnswerCommand(
  session: string,
  { toolUseId, questions }: Pick<OpenResult, 'toolUseId' | 'questions'>,
): string {
  const texts = questions.length > 1 ? questions.map((_, index) => `"<answer ${index + 1}>"`).join(' ') : '"<text>"';
  return `fleetloom answer ${session} ${toolUseId} ${texts}`;
}
