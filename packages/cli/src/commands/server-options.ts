import type { Command } from 'commander';
import { limits } from '../base/limits.ts';

/** Adds --url and --key, which select the server of a command. */
export function withServer(
  command: Command,
  defaultUrl = 'the server running on this machine, else http://127.0.0.1:4280',
): Command {
  return command
    .option('--url <url>', `server URL (default: FLEETLOOM_URL, else ${defaultUrl})`)
    .option('--key <key>', `API key (default: FLEETLOOM_KEY; not needed for a server on this machine)`);
}

/** Adds --url, --key and --data to a command about a session that may belong to a "fleetloom run". */
export function withRunServer(command: Command): Command {
  return withServer(command, 'the server running on this machine, or the data of a "fleetloom run"').option(
    '--data <directory>',
    'the --data of the run that has the session',
  );
}

/** Options that `start`, `serve`, `run` and `doctor` share, with one wording. */
export const serverOption = {
  port: (otherwise: string) => `port to listen on; 0 picks a free port (default: ${otherwise})`,
  databaseTls:
    'how connections to a database on another machine are encrypted (default: FLEETLOOM_DATABASE_TLS, else verify)',
  data: 'data directory (default: FLEETLOOM_DATA, else ~/.local/share/fleetloom)',
  scripts: 'directory with scripts for the scripted model, one JSON or YAML file each',
  unsandboxedBash:
    'allow agents to run bash without a sandbox if none is available; they can then read the master key and every stored secret',
  privateHosts: 'private hosts that agents may reach with web_fetch, MCP and commands, as host or host:port',
  directories: 'directories that sessions may work on, with everything below them (default: none)',
  gitHosts: 'hosts besides github.com that sessions may clone from, as host or host:port; * allows every public host',
  gitPush: 'which pushes of agents reach git hosts (default: no-delete, all but those that delete refs)',
  bashNetwork:
    'what commands reach through the egress proxy: hosts of environments with limited networking (limited, the default), also every public host where networking is unrestricted (open), or nothing (none)',
  strictNetwork: 'hold web_fetch to the hosts of an environment with limited networking, as its commands are',
  packageHosts: 'registries that allow_package_managers of an environment opens (default: the public ones)',
  egressCa: 'file with certificates of further authorities, in PEM, that commands and the egress proxy trust',
  snapshotFileMb: `largest file of a workspace whose changes are recorded, in MB (default: 10, at most ${limits.snapshotFileMbMax})`,
  claude: 'Claude Code executable behind models such as claude-code/default (default: claude on PATH)',
  claudeLogin: 'let Claude Code use its own login instead of the API key of this server',
  codex: 'Codex executable behind models such as codex/default (default: codex on PATH)',
  codexLogin: 'let Codex use its own login instead of OPENAI_API_KEY of this server',
  opencode: 'opencode executable behind models such as opencode/default (default: opencode on PATH)',
  acp: 'ACP agents behind models such as acp:opencode/default, each as "name=command", such as "opencode=opencode acp"',
  acpLogin: 'let ACP agents use your own home directory and login; needs --unsandboxed-programs',
  programs: (otherwise: string) =>
    `workspaces whose agents may run Claude Code, Codex, opencode and ACP agents, separated by spaces or commas (default: ${otherwise})`,
  programEnv: 'environment variables passed to these programs and every command they run, besides a short default list',
  unsandboxedPrograms: 'run these programs without a sandbox, with full access as the user of the server',
  webhooks: 'send session changes to this URL as signed requests; repeatable',
} as const;
