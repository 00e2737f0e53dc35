import type { AssistantBlock, InputBlock } from '../../../base/content.ts';
import type { ProgramEvent } from '../../../engines/program/program.ts';

/** One step of an agent that ran elsewhere, read from a line of its transcript. */
export interface ImportedStep {
  /** `main`, or the program's name of the sub-agent. */
  readonly key: string;
  /** The line in the agent's own file. The end of a turn, thread or request has the line of the step before it. */
  readonly line: number;
  /** The time of the step. */
  readonly time: number;
  readonly event: ImportedEvent;
}

/** What happened in an imported step. */
export type ImportedEvent =
  /** A message to the main agent. */
  | { readonly type: 'said'; readonly content: readonly InputBlock[] }
  | { readonly type: 'block'; readonly content: AssistantBlock }
  | Extract<
      Kept<ProgramEvent>,
      {
        type:
          | 'opened'
          | 'turn_started'
          | 'turn_ended'
          | 'thread_opened'
          | 'thread_started'
          | 'thread_ended'
          | 'request_started'
          | 'request_ended'
          | 'call'
          | 'result'
          | 'compacted';
      }
    >;

type Kept<Event> = Event extends { readonly key: string } ? Omit<Event, 'key'> : never;
