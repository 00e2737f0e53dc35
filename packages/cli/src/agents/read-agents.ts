import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { limits } from '../limits.ts';
import { UsageError } from '../usage-error.ts';
import type { AgentFile } from './agent-file.ts';
import { parseAgentFile } from './parse-agent-file.ts';

/** All agents of a directory, in the order of their files, each with its own name. Directories below it count too. */
export async function readAgents(directory: string): Promise<readonly AgentFile[]> {
  const files = await listDefinitions(directory);
  if (files.length === 0) {
    throw new UsageError(
      `There are no definitions of agents in "${directory}".`,
      `Put ${ENDINGS.join(', ')} files there.`,
    );
  }
  if (files.length > limits.agentFilesMax) {
    const problem = `"${directory}" has ${files.length} definitions, and ${limits.agentFilesMax} are allowed.`;
    throw new UsageError(problem, 'Name a directory that has only those which the run needs.');
  }
  const agents: AgentFile[] = [];
  for (const file of files) agents.push(await parseAgentFile(file, await readFile(join(directory, file), 'utf8')));
  checkNames(agents);
  return agents;
}

const ENDINGS = ['.md', '.yaml', '.yml', '.json'];

async function listDefinitions(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'ENOENT' ? 'There is no directory' : 'This cannot be read as a directory:';
      throw new UsageError(`${reason} "${directory}".`, 'Give a directory of agents, such as .claude/agents.');
    },
  );
  return entries
    .filter((entry) => entry.isFile() && ENDINGS.includes(extname(entry.name)) && entry.name !== 'README.md')
    .map((entry) => join(entry.parentPath, entry.name).slice(join(directory, '/').length))
    .sort();
}

function checkNames(agents: readonly AgentFile[]): void {
  for (const [index, { name, file }] of agents.entries()) {
    const first = agents.findIndex((other) => other.name === name);
    if (first === index) continue;
    const problem = `${agents[first]?.file} and ${file} both define the agent "${name}".`;
    throw new UsageError(problem, 'Give one of them another name.');
  }
}
