import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { limits } from '../base/limits.ts';
import { UsageError } from '../base/usage-error.ts';
import type { AgentFile } from './agent-file.ts';
import { parseAgentFile } from './parse-agent-file.ts';

/** Reads all agent definitions of a directory and its sub-directories, sorted by path. Names must be unique. */
export async function readAgents(directory: string): Promise<readonly AgentFile[]> {
  const files = await listDefinitions(directory);
  if (files.length === 0) {
    throw new UsageError(
      `There are no definitions of agents in "${directory}".`,
      `Put ${ENDINGS.join(', ')} files there.`,
    );
  }
  if (files.length > limits.agentFilesMax) {
    const problem = `"${directory}" contains ${files.length} agent definitions; the limit is ${limits.agentFilesMax}.`;
    throw new UsageError(problem, 'Pass a directory with only the agents that are needed.');
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
      const reason = error.code === 'ENOENT' ? 'There is no directory' : 'Cannot read the directory';
      throw new UsageError(
        `${reason} "${directory}".`,
        'Pass a directory with agent definitions, such as .claude/agents.',
      );
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
    throw new UsageError(problem, 'Rename one of them.');
  }
}
