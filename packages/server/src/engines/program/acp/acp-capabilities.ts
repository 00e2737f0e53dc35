import type { ProgramCapabilities } from '../program-capabilities.ts';

/** The capabilities of every agent with version 1 of the Agent Client Protocol. A single agent may have more. */
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
