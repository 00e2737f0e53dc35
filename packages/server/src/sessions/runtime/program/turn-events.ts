import type { ProgramEvent } from '../../../engines/program/program.ts';

/** Whether the program is in a turn that one of these events began. An interrupt after the end of the turn would stop the next one. */
export function isTurnOpen(events: readonly ProgramEvent[]): boolean {
  return events.findLast(({ type }) => type === 'turn_started' || type === 'turn_ended')?.type === 'turn_started';
}

/** Whether a turn begins with this event, or is about to. */
export function isWaking({ type }: ProgramEvent): boolean {
  return type === 'turn_expected' || type === 'turn_started';
}
