import { UsageError } from '../base/usage-error.ts';
import type { AgentFile } from './agent-file.ts';

/** The agent that receives the task: the named one, else the only coordinator, else the only agent. */
export function chooseCoordinator(agents: readonly AgentFile[], named: string | undefined): AgentFile {
  if (named !== undefined) {
    const found = agents.find(({ name }) => name === named);
    if (found !== undefined) return found;
    throw new UsageError(`There is no agent "${named}" in the directory.`, `Available agents: ${namesOf(agents)}.`);
  }
  const coordinators = agents.filter(({ roster }) => roster !== null);
  const [chosen] = coordinators.length > 0 ? coordinators : agents;
  const isClear = coordinators.length === 1 || (coordinators.length === 0 && agents.length === 1);
  if (chosen !== undefined && isClear) return chosen;
  const problem =
    coordinators.length > 1 ? 'More than one agent is a coordinator.' : 'No agent of the directory is a coordinator.';
  const fix = `Select one with --agent, or mark it with "coordinator: true": ${namesOf(agents)}.`;
  throw new UsageError(problem, fix);
}

function namesOf(agents: readonly AgentFile[]): string {
  return agents.map(({ name }) => name).join(', ');
}
