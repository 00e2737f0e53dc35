import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClaudeCodeEngine } from '../../packages/server/src/engines/claude-code/claude-code-engine.ts';
import type { TestedPrograms } from '../../packages/server/src/engines/program-suite/conversation.suite.ts';
import type { ProgramWords } from '../../packages/server/src/engines/program-suite/words.suite.ts';
import { serveScriptedModel } from '../../packages/server/src/engines/scripted/index.ts';
import { createProgramNetwork } from '../../packages/server/src/program-network.ts';
import { findProgram } from '../../packages/server/src/tools/find-program.ts';
import { openBubblewrap } from '../../packages/server/src/tools/sandbox/bubblewrap.ts';
import { noSandbox } from '../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { claudeCodeEnvironment } from '../support/claude-code.ts';
import { findProcesses } from './processes.ts';
import { createTreeRemover } from '../../packages/server/src/base/remove-tree.ts';

/**
 * The engine with the real program, in front of the scripted model: in the sandbox with the gateway, or without both, since
 * a program in the sandbox has no other way to its model.
 */
export async function openPrograms(
  path: string,
  { isTapped }: { readonly isTapped: boolean },
): Promise<TestedPrograms> {
  const home = await mkdtemp(join(tmpdir(), 'fleetloom-claude-'));
  const directory = join(home, 'work');
  await mkdir(directory);
  const model = await serveScriptedModel();
  const direct = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'none' };
  const upstream = { type: 'endpoint', baseURL: model.url, credential: { apiKey: 'none' } } as const;
  // Ten attempts, as it makes by itself, take minutes.
  const attempts = { CLAUDE_CODE_MAX_RETRIES: '1' };
  const more = { ...attempts, ...(isTapped ? {} : direct) };
  const remover = createTreeRemover({ onProblem: () => {} });
  const engine = createClaudeCodeEngine({
    program: path,
    directory: home,
    environment: claudeCodeEnvironment(home, more),
    passedVariables: ['IS_SANDBOX', ...Object.keys(more)],
    sandbox: isTapped && noSandbox === undefined ? () => openBubblewrap({ findProgram }) : 'none',
    openNetwork: (networking) => createProgramNetwork({ networking }),
    upstream: isTapped ? upstream : null,
    remover,
  });
  const close = async () => {
    await engine.close();
    await remover.close();
    await model.close();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  return { engine, directory, countProcesses: () => findProcesses(home).length, close };
}

/** What the program calls its tools. */
export const words: ProgramWords = {
  bash: (command) => ({ call: 'Bash', input: { command, description: 'Does it' } }),
  delegate: (agentName, description, prompt, isInBackground = false) => ({
    call: 'Agent',
    input: { subagent_type: agentName, description, prompt, run_in_background: isInBackground },
  }),
  followUp: (to, message) => ({ call: 'SendMessage', input: { to, message, summary: 'More of it please' } }),
  question: (question, answers) => {
    const options = answers.map((label) => ({ label, description: label }));
    return {
      call: 'AskUserQuestion',
      input: { questions: [{ question, header: 'Choice', options, multiSelect: false }] },
    };
  },
  custom: (name, input) => ({ call: `mcp__fleetloom__${name}`, input }),
};
