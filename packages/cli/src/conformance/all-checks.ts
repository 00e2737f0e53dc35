import type { Check } from './harness/check.ts';
import { agentVersionChecks } from './checks/agent-versions.ts';
import { agentChecks } from './checks/agents.ts';
import { approvalChecks } from './checks/approvals.ts';
import { clientToolChecks } from './checks/client-tools.ts';
import { credentialChecks } from './checks/vaults/credentials.ts';
import { eventListChecks } from './checks/event-lists.ts';
import { failureChecks } from './checks/failures.ts';
import { fileChecks } from './checks/files.ts';
import { messageChecks } from './checks/messages.ts';
import { rosterChecks } from './checks/roster.ts';
import { sessionEndChecks } from './checks/session-ends.ts';
import { sessionListChecks } from './checks/session-lists.ts';
import { sessionUpdateChecks } from './checks/session-updates.ts';
import { sessionChecks } from './checks/sessions.ts';
import { streamPreviewChecks } from './checks/stream-previews.ts';
import { streamReaderChecks } from './checks/stream-readers.ts';
import { streamChecks } from './checks/streams.ts';
import { threadApprovalChecks } from './checks/thread-approvals.ts';
import { threadEndChecks } from './checks/thread-ends.ts';
import { threadMessageChecks } from './checks/thread-messages.ts';
import { threadViewChecks } from './checks/thread-views.ts';
import { threadChecks } from './checks/threads.ts';
import { toolRunnerChecks } from './checks/tool-runner.ts';
import { transportChecks } from './checks/transport.ts';
import { turnChecks } from './checks/turns.ts';
import { vaultChecks } from './checks/vaults/vaults.ts';
import { workerChecks } from './checks/workers.ts';

/**
 * The checklist, grouped by resource. Not checked: budgets (167), because they limit cost and scripted models cost nothing; and from 202 on
 * the statements about vaults for which a check would need an MCP server or the disk of the server.
 */
export const allChecks: readonly Check[] = [
  ...transportChecks,
  ...agentChecks,
  ...agentVersionChecks,
  ...rosterChecks,
  ...sessionChecks,
  ...sessionUpdateChecks,
  ...sessionListChecks,
  ...sessionEndChecks,
  ...turnChecks,
  ...messageChecks,
  ...eventListChecks,
  ...streamChecks,
  ...streamPreviewChecks,
  ...streamReaderChecks,
  ...approvalChecks,
  ...clientToolChecks,
  ...threadChecks,
  ...threadMessageChecks,
  ...threadApprovalChecks,
  ...threadEndChecks,
  ...threadViewChecks,
  ...failureChecks,
  ...workerChecks,
  ...toolRunnerChecks,
  ...fileChecks,
  ...vaultChecks,
  ...credentialChecks,
];
