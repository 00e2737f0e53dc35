import type { Check } from './check.ts';
import { agentChecks } from './checks/agents.ts';
import { askingChecks } from './checks/asking.ts';
import { failureChecks } from './checks/failures.ts';
import { helperChecks } from './checks/helpers.ts';
import { rosterChecks } from './checks/roster.ts';
import { sessionChecks } from './checks/sessions.ts';
import { streamChecks } from './checks/streams.ts';
import { threadChecks } from './checks/threads.ts';
import { transportChecks } from './checks/transport.ts';
import { turnChecks } from './checks/turns.ts';

/** The whole checklist, in its order. Workflows (57) and budgets (167) are for later. */
export const allChecks: readonly Check[] = [
  ...transportChecks,
  ...agentChecks,
  ...rosterChecks,
  ...sessionChecks,
  ...turnChecks,
  ...streamChecks,
  ...askingChecks,
  ...threadChecks,
  ...failureChecks,
  ...helperChecks,
];
