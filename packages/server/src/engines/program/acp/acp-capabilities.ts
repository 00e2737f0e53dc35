import type { ProgramCapabilities } from '../program-capabilities.ts';

/** What every agent can do that speaks version 1 of the Agent Client Protocol. A single agent may be able to do more. */
export const acpCapabilities: ProgramCapabilities = {
  subAgentText: 'none',
  roster: false,
  subAgentReport: 'result',
  approvals: 'program',
  denialReason: 'message',
  changedInput: false,
  questions: false,
  customTools: 'none',
  systemPrompt: 'message',
  commandOutput: 'if_offered',
  plans: true,
  steering: 'next_turn',
  modelChange: 'turn',
  requestUsage: 'turn',
  stopReasons: false,
  failureStatus: false,
  waitsForReader: false,
  resume: 'if_offered',
  fork: false,
  recovery: false,
};
