import type { FleetEvent } from '@fleetloom/protocol/fleet';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';

/** An event as one line of JSON, with `type` and `cursor` first. */
export function toEventLine(io: Pick<Io, 'stdout'>, event: FleetEvent): string {
  const { type, cursor, ...fields } = event;
  return `${toJsonText(io.stdout, { type, cursor, ...fields })}\n`;
}
