import type { FleetEvent } from '@fleetloom/protocol/fleet';
import type { Io } from '../io.ts';
import { toJsonText } from '../json-text.ts';

/** An event as a line of JSON, with its type in front, where a reader looks for it. */
export function toEventLine(io: Pick<Io, 'stdout'>, event: FleetEvent): string {
  const { type, cursor, ...fields } = event;
  return `${toJsonText(io.stdout, { type, cursor, ...fields })}\n`;
}
