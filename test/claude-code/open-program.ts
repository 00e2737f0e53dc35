import { createClaudeCodeEngine } from '../../packages/server/src/engines/program/claude-code/claude-code-engine.ts';
import type { TestedPrograms } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import type { ProgramWords } from '../../packages/server/src/engines/program/suite/words.suite.ts';
import { noSandbox } from '../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { claudeCodeEnvironment } from '../support/claude-code.ts';
import { openTestedEngine } from '../support/open-tested-engine.ts';
import { findProcesses } from './processes.ts';

/**
 * The engine with the real program, in front of the scripted model: in the sandbox with the gateway, or without both, since
 * a program in the sandbox has no other way to its model.
 */
export function openPrograms(path: string, { isTapped }: { readonly isTapped: boolean }): Promise<TestedPrograms> {
  return openTestedEngine({
    isSandboxed: isTapped && noSandbox === undefined,
    create: (common, url) => {
      const direct = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none' };
      // Ten attempts, the program's default, take minutes.
      const more = { CLAUDE_CODE_MAX_RETRIES: '1', ...(isTapped ? {} : direct) };
      return createClaudeCodeEngine({
        ...common,
        program: path,
        environment: claudeCodeEnvironment(common.directory, more),
        passedVariables: ['IS_SANDBOX', ...Object.keys(more)],
        upstream: isTapped ? { type: 'endpoint', baseURL: url, credential: { apiKey: 'none' } } : null,
      });
    },
    countProcesses: (directory) => findProcesses(directory).length,
  });
}

/** The names of the tools in the program. */
export const words: ProgramWords = {
  bash: (command) => ({ call: 'Bash', input: { command, description: 'Does it' } }),
  read: (path) => ({ call: 'Read', input: { file_path: path } }),
  write: (path, content) => ({ call: 'Write', input: { file_path: path, content } }),
  delegate: (agentName, description, prompt, isInBackground = false) => ({
    call: 'Agent',
    input: { subagent_type: agentName, description, prompt, run_in_background: isInBackground },
  }),
  followUp: (to, message) => ({ call: 'SendMessage', input: { to, message, summary: 'More of it please' } }),
  followUpAfterRestart: (to, message) => [[words.followUp(to, message)]],
  question: (question, answers) => {
    const options = answers.map((label) => ({ label, description: label }));
    return {
      call: 'AskUserQuestion',
      input: { questions: [{ question, header: 'Choice', options, multiSelect: false }] },
    };
  },
  custom: (name, input) => ({ call: `mcp__fleetloom__${name}`, input }),
  closedMode: 'dontAsk',
  lostConversation: /No conversation found/,
  outputEnd: '',
  isSequential: false,
  marksErrors: true,
  describes: true,
};
