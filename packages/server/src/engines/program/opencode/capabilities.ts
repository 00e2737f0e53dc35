import type { ProgramCapabilities } from '../program-capabilities.ts';

/** The capabilities of the tested release. */
export const opencodeCapabilities: ProgramCapabilities = {
  subAgentText: 'deltas',
  roster: true,
  subAgentReport: 'result',
  approvals: 'definition',
  denialReason: 'result',
  changedInput: false,
  questions: true,
  customTools: 'all_agents',
  systemPrompt: 'system',
  commandOutput: 'live',
  plans: true,
  steering: 'turn',
  modelChange: 'turn',
  requestUsage: 'later',
  stopReasons: true,
  failureStatus: true,
  waitsForReader: false,
  resume: 'always',
  fork: true,
  recovery: false,
};
