import type { FleetEvent } from './events.ts';
import { addUsage, type FleetUsage, noUsage, toUsage } from './usage.ts';

/** What has been seen in all, of a run, a session or a fleet. Nothing is taken off it when old slots and runs go. */
export interface FleetTotals {
  readonly turns: number;
  readonly turnsFailed: number;
  readonly tools: number;
  readonly toolsFailed: number;
  readonly filesBytes: number;
  readonly usage: FleetUsage;
}

export const noTotals: FleetTotals = {
  turns: 0,
  turnsFailed: 0,
  tools: 0,
  toolsFailed: 0,
  filesBytes: 0,
  usage: noUsage,
};

/** The same value where the event adds nothing, so that most events change nothing here. */
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
