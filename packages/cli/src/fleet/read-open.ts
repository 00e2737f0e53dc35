import {
  type Approval,
  createSlots,
  type FleetEvent,
  foldSlots,
  type Question,
  questionsOf,
  type SessionSlots,
} from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import type { Connection } from '../connection/connection.ts';
import { openFleet } from '../connection/open-fleet.ts';
import { cleanText } from '../terminal/clean-text.ts';
import { toInputLine } from './draw-threads.ts';
import { toQuestionText } from './input-lines.ts';

/** The tool calls of a session that wait for a person. */
export interface OpenCalls {
  readonly approvals: readonly Approval[];
  readonly results: readonly OpenResult[];
}

/** A tool call whose result the client sends: a question to the user, or a custom tool. */
export interface OpenResult {
  readonly toolUseId: string;
  readonly tool: string;
  readonly input: unknown;
  /** The title of the thread, or the name of its agent. */
  readonly agent: string;
  /** The questions; empty for a custom tool. */
  readonly questions: readonly Question[];
}

/** Reads the log of a session and returns its pending tool calls. */
export async function readOpen(connection: Connection, session: string): Promise<OpenCalls> {
  return await collectOpen(openFleet(connection, { session, follow: false, retriesMax: 2 }));
}

/** The tool calls that are pending after all of these events. */
export async function collectOpen(events: AsyncIterable<FleetEvent> | Iterable<FleetEvent>): Promise<OpenCalls> {
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

/** Uses the title of a thread as agent name if it has one: many sub-agents of a program have the same type. */
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

/** The call with its id on one line; below it the questions with their options, or the input of a custom tool. */
export function describeResult({ toolUseId, tool, input, agent, questions }: OpenResult): string {
  const head = cleanLine(`${agent} ${tool}`);
  if (questions.length === 0) return `${toolUseId}  ${head}: ${toInputLine(input)}\n`;
  const lines = cleanText(questions.map(toQuestionText).join('\n')).split('\n');
  return `${toolUseId}  ${head}\n${lines.map((line) => `    ${line}\n`).join('')}`;
}

/** The command that answers the call. */
export function toAnswerCommand(
  session: string,
  { toolUseId, questions }: Pick<OpenResult, 'toolUseId' | 'questions'>,
): string {
  const texts = questions.length > 1 ? questions.map((_, index) => `"<answer ${index + 1}>"`).join(' ') : '"<text>"';
  return `fleetloom answer ${session} ${toolUseId} ${texts}`;
}
