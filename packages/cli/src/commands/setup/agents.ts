import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom agents` with its sub-commands. */
export const declareAgents: DeclareCommand = (program, context) => {
  const agents = program
    .command('agents')
    .description('Create, update, list and export the agents of a server')
    .addHelpText('after', EXAMPLES);
  for (const declare of [declareApply, declareList, declareShow, declareExport]) declare(agents, context);
  return agents;
};

const declareApply: DeclareCommand = (agents, { io, done }) =>
  withServer(agents.command('apply'))
    .alias('import')
    .description('Create or update agents from definition files; prints their ids')
    .argument('<directory>', 'directory with definitions: .md as in .claude/agents, .yaml or .json')
    .option('--model <name>', 'model for agents whose definition names none (default: claude-sonnet-5-5)')
    .option('--json', 'print one JSON object per agent')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (directory: string, options: object) => {
      const { applyAgents } = await import('../../agents/apply-agents.ts');
      done(await applyAgents(io, directory, options));
    });

const declareList: DeclareCommand = (agents, { io, done }) =>
  withServer(agents.command('list'))
    .description('List the agents of the server')
    .option('--json', 'print the API objects, one per line')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (options: object) => {
      const { listAgents } = await import('../../agents/list-agents.ts');
      done(await listAgents(io, options));
    });

const declareShow: DeclareCommand = (agents, { io, done }) =>
  withServer(agents.command('show'))
    .description('Print the definition of an agent')
    .argument('<agent>', 'name or id of the agent')
    .option('--json', 'print the API object')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (agent: string, options: object) => {
      const { showAgent } = await import('../../agents/export-agents.ts');
      done(await showAgent(io, agent, options));
    });

const declareExport: DeclareCommand = (agents, { io, done }) =>
  withServer(agents.command('export'))
    .description('Write agents as definition files that "agents apply" reads; prints the paths')
    .argument('<directory>', 'directory to write to')
    .argument('[agent...]', 'names or ids of the agents (default: all)')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (directory: string, names: string[], options: object) => {
      const { exportAgents } = await import('../../agents/export-agents.ts');
      done(await exportAgents(io, directory, names, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom agents apply .claude/agents
  $ fleetloom agents apply .claude/agents --model claude-code/default
  $ fleetloom agents list
  $ fleetloom agents export ./agents
`;
