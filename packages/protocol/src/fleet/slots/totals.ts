import type { FleetEvent } from '../wire/events.ts';
import { addUsage, type FleetUsage, noUsage, toUsage } from './usage.ts';

/** Totals of a run, a session or a fleet. They include slots and runs that were dropped. */
export interface FleetTotals {
  readonly turns: number;
  readonly turnsFailed: number;
  readonly tools: number;
  readonly toolsFailed: number;
  readonly filesBytes: number;
  readonly usage: FleetUsage;
}

/** Totals before the first event. */
export const noTotals: FleetTotals = {
  turns: 0,
  turnsFailed: 0,
  tools: 0,
  toolsFailed: 0,
  filesBytes: 0,
  usage: noUsage,
};

/** The totals after an event: the same object if the event adds nothing. */
export function foldTotals(totals: FleetTotals, event: FleetEvent): FleetTotals {
  switch (event.type) {
    case 'stream_start':
      return { ...totals, turns: totals.turns + 1 };
    case 'stream_end':
      return event.ok ? totals : { ...totals, turnsFailed: totals.turnsFailed + 1 };
    case 'tool_call':
      return { ...totals, tools: totals.tools + 1, toolsFailed: totals.toolsFailed + (event.ok ? 0 : 1) };
    case 'file':
      return { ...totals, filesBytes: totals.filesBytes + event.size };
    case 'token_usage':
      return { ...totals, usage: addUsage(totals.usage, toUsage(event)) };
    default:
      return totals;
  }
}
