import { join } from 'node:path';
import { createAcpEngine } from '../../packages/server/src/engines/program/acp/acp-engine.ts';
import type { TestedPrograms } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import type { ProgramWords } from '../../packages/server/src/engines/program/suite/words.suite.ts';
import { findProcesses } from '../claude-code/processes.ts';
import { openTestedEngine } from '../support/open-tested-engine.ts';

/** The command of the agent of these tests. */
export const agentCommand = [process.execPath, join(import.meta.dirname, 'agent.mjs')];

/** Engines of ACP agents in front of the scripted model. */
export function openAcpPrograms({
  command = agentCommand,
  variables = {},
  isSandboxed,
  model = 'acp:test/default',
}: {
  readonly command?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly isSandboxed?: boolean;
  readonly model?: string;
} = {}): Promise<TestedPrograms> {
  return openTestedEngine({
    isSandboxed,
    model,
    create: (common, url) =>
      createAcpEngine({
        ...common,
        name: 'test',
        command,
        environment: { PATH: process.env['PATH'], LANG: 'C.UTF-8', ...variables },
        passedVariables: Object.keys(variables),
        upstream: { type: 'endpoint', baseURL: url, credential: { apiKey: 'none' } },
      }),
    countProcesses: (directory) => findProcesses(directory).length,
  });
}

/** The name of the only tool of the test agent, which has no sub-agents, custom tools and questions. */
export const acpWords: ProgramWords = {
  bash: (command) => ({ call: 'bash', input: { command } }),
  read: (path) => acpWords.bash(`cat ${path}`),
  write: (path, content) => acpWords.bash(`printf %s '${content}' > ${path}`),
  delegate: () => ({ say: 'There are no sub-agents.' }),
  followUp: () => ({ say: 'There are no sub-agents.' }),
  followUpAfterRestart: () => [],
  question: () => ({ say: 'There are no questions.' }),
  custom: () => ({ say: 'There are no custom tools.' }),
  closedMode: 'deny',
  lostConversation: /cannot open the conversation/,
  outputEnd: '\n',
  isSequential: true,
  marksErrors: true,
  describes: false,
};
