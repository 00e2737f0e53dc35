import type { Command } from 'commander';
import type { DeclareCommand } from '../context.ts';
import { serverOption } from '../server-options.ts';

/** `fleetloom keys` with its sub-commands. */
export const declareKeys: DeclareCommand = (program, context) => {
  const keys = program
    .command('keys')
    .description('Create, list and revoke API keys in the data directory or database of a server')
    .addHelpText('after', EXAMPLES);
  for (const declare of [declareCreate, declareList, declareRevoke]) declare(keys, context);
  return keys;
};

const declareCreate: DeclareCommand = (keys, { io, done }) =>
  withStore(keys.command('create'))
    .description('Create an API key and print it; it cannot be shown again')
    .argument('<name>', 'name of the key, for example its owner')
    .option('--workspace <name>', 'workspace the key opens; workspaces cannot see each other (default: default)')
    .option('--json', 'print one JSON object')
    .action(async (name: string, options: object) => {
      const { createKey } = await import('../../server/keys.ts');
      done(await createKey(io, name, options));
    });

const declareList: DeclareCommand = (keys, { io, done }) =>
  withStore(keys.command('list'))
    .description('List the API keys, without their secrets')
    .option('--json', 'print one JSON object per key')
    .action(async (options: object) => {
      const { listKeys } = await import('../../server/keys.ts');
      done(await listKeys(io, options));
    });

const declareRevoke: DeclareCommand = (keys, { io, done }) =>
  withStore(keys.command('revoke'))
    .description('Revoke API keys; prints their ids')
    .argument('<id...>', 'ids of the keys, from "keys list"')
    .action(async (ids: string[], options: object) => {
      const { revokeKeys } = await import('../../server/keys.ts');
      done(await revokeKeys(io, ids, options));
    });

function withStore(command: Command): Command {
  return command
    .option('--data <directory>', serverOption.data)
    .option('--database <url>', 'PostgreSQL URL of the server (default: FLEETLOOM_DATABASE, else the data directory)')
    .addHelpText('after', EXAMPLES);
}

const EXAMPLES = `
Examples:
  $ fleetloom keys create ci
  $ KEY=$(fleetloom keys create alice --workspace design)
  $ fleetloom keys list
  $ fleetloom keys revoke key_0123456789abcdef

The server does not have to run; a running server applies the change within a second. Only a digest of a key is stored.

Exit codes:
  0    done
  2    wrong usage, or the data directory or the database cannot be used
  4    no such key
`;
