import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom rules` with its sub-commands. */
export const declareRules: DeclareCommand = (program, context) => {
  const rules = program
    .command('rules')
    .description('List, add and remove approval rules: tool calls that the server allows without asking')
    .addHelpText('after', EXAMPLES);
  for (const declare of [declareList, declareAdd, declareRemove]) declare(rules, context);
  return rules;
};

const declareList: DeclareCommand = (rules, { io, done }) =>
  withServer(rules.command('list', { isDefault: true }))
    .description('List the approval rules, newest first')
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (options: object) => {
      const { listRules } = await import('../../sessions/rules.ts');
      done(await listRules(io, options));
    });

const declareAdd: DeclareCommand = (rules, { io, done }) =>
  withServer(rules.command('add'))
    .description('Add a rule, answer the pending approvals that it matches, and print its id')
    .argument('<pattern>', 'a command or path with *; for other tools the exact input as JSON, or * for every input')
    .argument('[session]', 'session in which the rule holds')
    .option('--agent <name>', 'name or id of the agent for which the rule holds, in every session')
    .option('--by <name>', 'only calls of agents with this name')
    .option('--tool <name>', 'tool as approvals name it', 'bash')
    .option('--until <time>', 'when the rule expires, such as 2026-12-31T18:00:00Z')
    .option('--dry-run', 'count the pending approvals that match, and add nothing')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (pattern: string, session: string | undefined, options: { tool: string }) => {
      const { addRule } = await import('../../sessions/rules.ts');
      done(await addRule(io, pattern, session, options));
    });

const declareRemove: DeclareCommand = (rules, { io, done }) =>
  withServer(rules.command('remove'))
    .description('Remove rules; from then on the server asks again')
    .argument('<rule...>', 'ids of the rules, from "rules list"')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (ids: string[], options: object) => {
      const { removeRules } = await import('../../sessions/rules.ts');
      done(await removeRules(io, ids, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom rules
  $ fleetloom rules add 'npm test*' sesn_01…
  $ fleetloom rules add 'src/*' --tool write --agent tester
  $ fleetloom rules remove rule_01…

A command rule matches one simple command: no quotes, operators, variables or redirections.
`;
