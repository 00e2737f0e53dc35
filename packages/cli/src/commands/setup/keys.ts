import { type Command, Option } from 'commander';
import type { DeclareCommand } from '../context.ts';
import { serverOption } from '../server-options.ts';

/** `fleetloom keys` with its sub-commands. */
export const declareKeys: DeclareCommand = (program, context) => {
  const keys = program
    .command('keys')
    .description('Create, list, rotate and revoke API keys in the data directory or database of a server')
    .addHelpText('after', EXAMPLES);
  for (const declare of [declareCreate, declareList, declareRotate, declareRevoke]) declare(keys, context);
  return keys;
};

const declareCreate: DeclareCommand = (keys, { io, done }) =>
  withStore(keys.command('create'))
    .description('Create an API key and print it; it cannot be shown again')
    .argument('<name>', 'name of the key, for example its owner')
    .option('--workspace <name>', 'workspace the key opens; workspaces cannot see each other (default: default)')
    .option(
      '--scope <scopes...>',
      'what the key may do: read, run, approve, manage, admin; separated by spaces or commas (default: everything)',
    )
    .option('--expires <when>', 'when the key ends: a time such as 2027-01-31 or 2027-01-31T12:00Z, or 12h, 90d')
    .option('--directory <paths...>', 'directories that its sessions may work on, with everything below them')
    .option(
      '--engine <names...>',
      'engines its agents may have: model, scripted, claude-code, codex, opencode, acp:<name>',
    )
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

const declareRotate: DeclareCommand = (keys, { io, done }) =>
  withStore(keys.command('rotate'))
    .description('Give an API key another secret and print it; the old one works until the overlap ends')
    .argument('<id>', 'id of the key, from "keys list"')
    .option('--overlap <time>', 'how long the old secret works: 30m, 12h, 7d, or 0 (default: 24h)')
    .option('--json', 'print one JSON object')
    .action(async (id: string, options: object) => {
      const { rotateKey } = await import('../../server/keys.ts');
      done(await rotateKey(io, id, options));
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
    .addOption(new Option('--database-tls <how>', serverOption.databaseTls).choices(['verify', 'unverified', 'off']))
    .addHelpText('after', EXAMPLES);
}

const EXAMPLES = `
Examples:
  $ fleetloom keys create ci
  $ KEY=$(fleetloom keys create alice --workspace design)
  $ fleetloom keys create ci --scope read run --expires 90d --directory /srv/app --engine codex
  $ fleetloom keys list
  $ fleetloom keys rotate key_0123456789abcdef --overlap 7d
  $ fleetloom keys revoke key_0123456789abcdef

The server does not have to run; a running server applies the change within a second. Only a digest of a key is stored.

Exit codes:
  0    done
  2    wrong usage, or the data directory or the database cannot be used
  4    no such key
`;
