import { createCodexEngine } from '../../packages/server/src/engines/program/codex/codex-engine.ts';
import type { TestedPrograms } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import type { ProgramWords } from '../../packages/server/src/engines/program/suite/words.suite.ts';
import { findProcesses } from '../claude-code/processes.ts';
import { openTestedEngine } from '../support/open-tested-engine.ts';

/** The engine with the real Codex in front of the scripted model, in the sandbox where there is one. */
export function openCodexPrograms(path: string, model: string): Promise<TestedPrograms> {
  return openTestedEngine({
    model,
    create: (common, url) =>
      createCodexEngine({
        ...common,
        program: path,
        upstream: { type: 'endpoint', baseURL: url, credential: { authToken: 'none' } },
        // Five, the program's default, take a while.
        retriesMax: 1,
      }),
    countProcesses: (directory) => findProcesses(directory).length,
  });
}

/** The calls of models that call tools directly (`gpt-5.5`). */
export const directWords: ProgramWords = {
  bash: (command) => ({ call: 'exec_command', input: { cmd: command } }),
  read: (path) => ({ call: 'exec_command', input: { cmd: `cat ${path}` } }),
  write: (path, content) => ({ call: 'exec_command', input: { cmd: `printf %s '${content}' > ${path}` } }),
  delegate: (agentName, _description, prompt) => ({
    call: 'multi_agent_v1.spawn_agent',
    input: { message: prompt, agent_type: agentName },
  }),
  followUp: (id, message) => ({ call: 'multi_agent_v1.send_input', input: { target: id, message } }),
  followUpAfterRestart: (id, message) => [
    [{ call: 'multi_agent_v1.resume_agent', input: { id } }],
    [directWords.followUp(id, message)],
  ],
  question: (question, answers) => {
    const options = answers.map((label) => ({ label, description: label }));
    return { call: 'request_user_input', input: { questions: [{ id: 'one', header: 'Choice', question, options }] } };
  },
  custom: (name, input) => ({ call: `mcp__fleetloom.${name}`, input }),
  closedMode: 'deny',
  lostConversation: /no rollout found/,
  outputEnd: '\n',
  isSequential: false,
  marksErrors: false,
  describes: false,
};

/** The calls of models with code mode and version 2 of the multi-agent tools (`gpt-6.1-sol`). */
export const codeWords: ProgramWords = {
  ...directWords,
  bash: (command) =>
    code(`const done = await tools.exec_command({ cmd: ${JSON.stringify(command)} }); text(done.output);`),
  delegate: (agentName, description, prompt) => ({
    call: 'collaboration.spawn_agent',
    input: { task_name: description, message: prompt, fork_turns: 'none', agent_type: agentName },
  }),
  followUp: (id, message) => ({ call: 'collaboration.followup_task', input: { target: id, message } }),
  followUpAfterRestart: (id, message) => [[codeWords.followUp(id, message)]],
  isSequential: true,
  ignoresDepth: true,
  custom: (name, input) => code(`text(JSON.stringify(await tools.mcp__fleetloom__${name}(${JSON.stringify(input)})));`),
};

function code(input: string): object {
  return { call: 'exec', input };
}
