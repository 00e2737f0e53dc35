import { InvalidArgumentError, Option } from 'commander';
import { limits } from '../../base/limits.ts';
import { logForms } from '../../server/log-forms.ts';
import type { DeclareCommand } from '../context.ts';
import { parseCount, parsePort, parseSnapshotFileMb } from '../parse-options.ts';
import { serverOption } from '../server-options.ts';

/** `fleetloom serve`. */
export const declareServe: DeclareCommand = (program, { io, done }) =>
  program
    .command('serve')
    .description('Run the server: the Managed Agents API, the fleet stream and the dashboard')
    .option('--port <number>', serverOption.port('PORT, else 4280'), parsePort)
    .option('--host <address>', 'address to listen on (default: HOST, else 127.0.0.1)')
    .option('--data <directory>', serverOption.data)
    .option('--scripts <directory>', serverOption.scripts)
    .option('--model-base-url <url>', 'Messages API endpoint for models (default: ANTHROPIC_BASE_URL)')
    .option('--open', 'require no API key; only possible when listening on this machine')
    .option('--unsandboxed-bash', serverOption.unsandboxedBash)
    .option('--allow-private-host <host...>', serverOption.privateHosts)
    .option('--allow-directory <path...>', serverOption.directories)
    .option('--git-host <host...>', serverOption.gitHosts)
    .addOption(new Option('--git-push <which>', serverOption.gitPush).choices(['none', 'no-delete', 'all']))
    .addOption(new Option('--bash-network <which>', serverOption.bashNetwork).choices(['none', 'limited', 'open']))
    .option('--strict-network', serverOption.strictNetwork)
    .option('--package-host <host...>', serverOption.packageHosts)
    .option('--egress-ca <file>', serverOption.egressCa)
    .option('--snapshot-file-mb <number>', serverOption.snapshotFileMb, parseSnapshotFileMb)
    .option('--claude <program>', serverOption.claude)
    .option('--claude-login', serverOption.claudeLogin)
    .option('--codex <program>', serverOption.codex)
    .option('--codex-login', serverOption.codexLogin)
    .option('--opencode <program>', serverOption.opencode)
    .option('--acp <agent...>', serverOption.acp)
    .option('--acp-login', serverOption.acpLogin)
    .option('--programs <workspace...>', serverOption.programs('none'))
    .option('--program-env <name...>', serverOption.programEnv)
    .option('--unsandboxed-programs', serverOption.unsandboxedPrograms)
    .option('--webhook <url...>', serverOption.webhooks)
    .option('--json', 'print the URL and the key as one line of JSON')
    .option('--rate-limit <number>', 'requests per second for each API key', parseCount)
    .option(
      '--master-key-file <file>',
      'file with the key that encrypts stored secrets (default: FLEETLOOM_MASTER_KEY, else "master-key" in the data directory)',
    )
    .option(
      '--database <url>',
      'PostgreSQL URL, shared by any number of servers (default: FLEETLOOM_DATABASE, else SQLite)',
    )
    .option(
      '--database-listen <url>',
      'with --database through a transaction pooler: URL that bypasses it (default: FLEETLOOM_DATABASE_LISTEN)',
    )
    .addOption(new Option('--database-tls <how>', serverOption.databaseTls).choices(['verify', 'unverified', 'off']))
    .option(
      '--tls-cert <file>',
      'serve https with this certificate, followed by its chain, in PEM; read again when it changes',
    )
    .option('--tls-key <file>', 'private key of --tls-cert, in PEM')
    .option('--tls-client-ca <file>', 'let in only clients with a certificate of these authorities, in PEM')
    .option(
      '--oidc-config <file>',
      'let people sign in to the dashboard at the OpenID providers of this file; docs/single-sign-on.md describes it',
    )
    .addOption(new Option('--audit <where>', 'also write the audit log, one JSON object per line').choices(['stdout']))
    .option(
      '--audit-syslog <address>',
      'also send the audit log to syslog (RFC 5424): udp://host:514, tcp://host:601 or unix:/path of a stream socket',
    )
    .option('--keep-audit <days>', 'how long to keep the audit log: "all" or days (default: all)', parseKeepAudit)
    .option(
      '--workspace-wait <seconds>',
      `with --database: how long a session waits for the node that has its workspace (default: 60, at least ${limits.workspaceWaitSecondsMin})`,
      parseWait,
    )
    .option('--shared-workspaces <directory>', 'with --database: directory for workspaces that every node can access')
    .option(
      '--max-sessions <number>',
      'with --database: sessions that may run on this node at the same time',
      parseCount,
    )
    .option('--allow-host <name...>', 'Host header values to accept, such as the name of a load balancer or proxy')
    .option(
      '--trusted-proxies <address...>',
      'reverse proxies, as addresses or networks such as 10.0.0.0/24, whose X-Forwarded-For and X-Forwarded-Proto count',
    )
    .option(
      '--connections <number>',
      'maximum open connections (default: half of the open files allowed for this process)',
      parseCount,
    )
    .option(
      '--connections-per-address <number>',
      'maximum open connections from one address; raise it behind a proxy (default: half of --connections)',
      parseCount,
    )
    .option(
      '--drain-seconds <seconds>',
      `after SIGTERM: how long to serve requests while /readyz reports "stopping" (default: 0, with --database ${limits.drainSecondsShared})`,
      parseDrain,
    )
    .option(
      '--keep-deltas <days>',
      'how long to keep the steps in which text arrived: "all", "none" or days; whole messages are always kept (default: all)',
      parseKeepDeltas,
    )
    .addOption(new Option('--log <form>', 'log requests to standard error').choices(logForms).default('off'))
    .addHelpText('after', EXAMPLES)
    .action(async (options: object) => {
      const { serve } = await import('../../server/serve.ts');
      done(await serve(io, options));
    });

function parseWait(value: string): number {
  const seconds = Number(value);
  if (Number.isInteger(seconds) && seconds >= limits.workspaceWaitSecondsMin) return seconds;
  throw new InvalidArgumentError(`Pass a whole number of seconds, at least ${limits.workspaceWaitSecondsMin}.`);
}

function parseDrain(value: string): number {
  const seconds = Number(value);
  if (value.trim() !== '' && Number.isInteger(seconds) && seconds >= 0 && seconds <= limits.drainSecondsMax) {
    return seconds;
  }
  throw new InvalidArgumentError(`Pass a whole number of seconds from 0 to ${limits.drainSecondsMax}.`);
}

function parseKeepAudit(value: string): 'all' | { readonly days: number } {
  if (value === 'all') return value;
  const days = Number(value);
  if (Number.isInteger(days) && days >= 1 && days <= limits.keepDeltasDaysMax) return { days };
  throw new InvalidArgumentError(`Pass "all" or a whole number of days from 1 to ${limits.keepDeltasDaysMax}.`);
}

function parseKeepDeltas(value: string): 'all' | 'none' | { readonly days: number } {
  if (value === 'all' || value === 'none') return value;
  const days = Number(value);
  if (Number.isInteger(days) && days >= 1 && days <= limits.keepDeltasDaysMax) return { days };
  throw new InvalidArgumentError(`Pass "all", "none" or a whole number of days from 1 to ${limits.keepDeltasDaysMax}.`);
}

const EXAMPLES = `
Examples:
  $ fleetloom serve --open
  $ ANTHROPIC_API_KEY=… fleetloom serve --port 8080 --data ./data
  $ fleetloom serve --host 0.0.0.0 --tls-cert fleet.pem --tls-key fleet-key.pem
  $ fleetloom serve --port 0 --json | head -1 | jq -r .url
  $ FLEETLOOM_DATABASE=postgres://fleetloom:…@db/fleetloom FLEETLOOM_SECRET=… \\
      fleetloom serve --host 0.0.0.0 --allow-host fleet.example.com

FLEETLOOM_SECRET encrypts what nodes share in the database; use the same value on every node: openssl rand -base64 32

Exit codes:
  0    stopped with Ctrl-C or SIGTERM
  1    secrets are stored that the master key does not open
  2    wrong usage, the port or the data directory is in use, or the database cannot be used
`;
