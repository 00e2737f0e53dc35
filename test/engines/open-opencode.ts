import { createOpencodeEngine } from '../../packages/server/src/engines/program/opencode/opencode-engine.ts';
import type { TestedPrograms } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import type { ProgramWords } from '../../packages/server/src/engines/program/suite/words.suite.ts';
import { findProcesses } from '../claude-code/processes.ts';
import { openTestedEngine } from '../support/open-tested-engine.ts';

/** The engine with the real opencode, in front of the scripted model: in the sandbox, or without one. */
export function openOpencodePrograms(
  path: string,
  { isSandboxed }: { readonly isSandboxed?: boolean } = {},
): Promise<TestedPrograms> {
  return openTestedEngine({
    isSandboxed,
    model: 'opencode/scripted/default',
    create: (common, url) =>
      createOpencodeEngine({
        ...common,
        program: path,
        environment: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' },
        upstream: { type: 'endpoint', baseURL: url, credential: { apiKey: 'none' } },
        // The default takes minutes.
        retriesMax: 1,
      }),
    countProcesses: (directory) => findProcesses(directory).length,
  });
}

/** The names of the tools in opencode. */
export const opencodeWords: ProgramWords = {
  bash: (command) => ({ call: 'bash', input: { command, description: 'Does it' } }),
  read: (path) => ({ call: 'read', input: { filePath: path } }),
  write: (path, content) => ({ call: 'write', input: { filePath: path, content } }),
  delegate: (agentName, description, prompt) => ({
    call: 'task',
    input: { subagent_type: agentName, description, prompt },
  }),
  followUp: (key, message) => ({
    call: 'task',
    input: { subagent_type: 'worker', description: 'More of it', prompt: message, task_id: key },
  }),
  question: (question, answers) => {
    const options = answers.map((label) => ({ label, description: label }));
    return { call: 'question', input: { questions: [{ question, header: 'Choice', options }] } };
  },
  joinsFollowUps: true,
  followUpAfterRestart: (key, message) => [[opencodeWords.followUp(key, message)]],
  custom: (name, input) => ({ call: `fleetloom_${name}`, input }),
  closedMode: 'deny',
  lostConversation: /No conversation found/,
  outputEnd: '\n',
  isSequential: false,
  marksErrors: true,
  describes: true,
};
