import type { ProgramCapabilities } from '../program-capabilities.ts';

/** The capabilities of Codex 0.166.0. */
export const codexCapabilities: ProgramCapabilities = {
  subAgentText: 'deltas',
  roster: true,
  subAgentReport: 'message',
  approvals: 'definition',
  denialReason: 'message',
  changedInput: false,
  questions: true,
  customTools: 'all_agents',
  systemPrompt: 'system',
  commandOutput: 'live',
  plans: true,
  steering: 'turn',
  modelChange: 'turn',
  requestUsage: 'later',
  stopReasons: false,
  failureStatus: true,
  waitsForReader: false,
  resume: 'always',
  fork: true,
  recovery: false,
};
