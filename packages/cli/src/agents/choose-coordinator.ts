import { UsageError } from '../usage-error.ts';
import type { AgentFile } from './agent-file.ts';

/** Who is given the task: the one that was named, else the only one that coordinates, else the only one there is. */
export function chooseCoordinator(agents: readonly AgentFile[], named: string | undefined): AgentFile {
  if (named !== undefined) {
    const found = agents.find(({ name }) => name === named);
    if (found !== undefined) return found;
    throw new UsageError(`There is no agent "${named}" in the directory.`, `There are: ${namesOf(agents)}.`);
  }
  const coordinators = agents.filter(({ members }) => members !== null);
  const [chosen] = coordinators.length > 0 ? coordinators : agents;
  const isClear = coordinators.length === 1 || (coordinators.length === 0 && agents.length === 1);
  if (chosen !== undefined && isClear) return chosen;
  const problem = coordinators.length > 1 ? 'Several agents coordinate.' : 'No agent of the directory coordinates.';
  const fix = `Name one with --agent, or mark it with "coordinator: true": ${namesOf(agents)}.`;
  throw new UsageError(problem, fix);
}

function namesOf(agents: readonly AgentFile[]): string {
  return agents.map(({ name }) => name).join(', ');
}
