import {
  type Approval,
  createSlots,
  type FleetEvent,
  foldSlots,
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
  /** The title of its thread, or the name of its agent. */
  readonly agent: string;
  /** None: the call is one of a custom tool. */
  readonly questions: readonly Question[];
}

export async function readOpen(connection: Connection, session: string): Promise<OpenAsks> {
  return await collectOpen(openFleet(connection, { session, follow: false, retriesMax: 2 }));
}

/** What is open behind all of these events. */
export async function collectOpen(events: AsyncIterable<FleetEvent> | Iterable<FleetEvent>): Promise<OpenAsks> {
  let slots = createSlots({ textCharsMax: 0 });
  const inputs = new Map<string, unknown>();
  for await (const event of events) {
    slots = foldSlots(slots, event);
    noteInput(inputs, event);
  }
  return { approvals: toApprovals(slots), results: toResults(slots, inputs) };
}

function noteInput(inputs: Map<string, unknown>, event: FleetEvent): void {
  if (event.type === 'tool_start' && event.awaits_result === true) inputs.set(event.tool_use_id, event.input);
  else if (event.type === 'tool_call') inputs.delete(event.tool_use_id);
}

/** Each with the title of its thread, where it has one: many sub-agents of a program are of the same kind. */
function toApprovals({ runs }: SessionSlots): Approval[] {
  return runs.flatMap(({ approvals, slots }) => {
    const titles = new Map(
      slots.flatMap(({ streamId, title }) => (title === null ? [] : [[streamId, title] as const])),
    );
    return approvals.flatMap((each) =>
      each.state === 'open' ? [{ ...each, agent: titles.get(each.streamId) ?? each.agent }] : [],
    );
  });
}

function toResults({ runs }: SessionSlots, inputs: ReadonlyMap<string, unknown>): OpenResult[] {
  return runs.flatMap(({ slots }) =>
    slots.flatMap(({ tools, title, agent: name }) =>
      tools.flatMap(({ toolUseId, tool, state, awaitsResult = false }): OpenResult[] => {
        if (state !== 'running' || !awaitsResult) return [];
        const input = inputs.get(toolUseId);
        const agent = title ?? name;
        return [{ toolUseId, tool, input, agent, questions: questionsOf({ tool, input }) }];
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
