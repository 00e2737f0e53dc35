import { toWorkspaceId } from '../connection/to-workspace-id.ts';
import { UsageError } from '../base/usage-error.ts';
import { parseAcp } from './parse-acp.ts';

/** Options about program engines: external agent programs that run whole sessions. */
export interface ProgramOptions {
  /** Names of the workspaces whose agents may use programs. False for none, even where workspaces are allowed by default. */
  programs?: string[] | boolean;
  /** Names of environment variables that are passed to programs. */
  programEnv?: string[];
  /** Programs run without a sandbox. */
  unsandboxedPrograms?: boolean;
  /** The Claude Code executable: a path, or a name on PATH. */
  claude?: string;
  /** Claude Code uses its own login. */
  claudeLogin?: boolean;
  /** The Codex executable: a path, or a name on PATH. */
  codex?: string;
  /** Codex uses its own login. */
  codexLogin?: boolean;
  /** The opencode executable: a path, or a name on PATH. */
  opencode?: string;
  /** ACP agents: `name=command`. */
  acp?: string[];
  /** ACP agents use the operator's home directory and login. */
  acpLogin?: boolean;
  /** The endpoint of model requests of Claude Code with its own login, instead of `ANTHROPIC_BASE_URL`. */
  modelBaseUrl?: string;
}

/** The options of Claude Code for `startServer`. */
export function toClaudeCode(options: ProgramOptions) {
  return {
    ...toCommon(options),
    program: options.claude,
    usesOwnLogin: options.claudeLogin,
    loginBaseURL: options.modelBaseUrl,
  };
}

/** The options of the other registered programs for `startServer`, by the names of their engines. */
export function toOtherPrograms(options: ProgramOptions, registered: readonly { readonly name: string }[]) {
  const common = toCommon(options);
  const own: Readonly<Record<string, object>> = {
    codex: { program: options.codex, usesOwnLogin: options.codexLogin },
    opencode: { program: options.opencode },
  };
  const names = registered.map(({ name }) => name).filter((name) => name !== 'claude-code');
  const agents = (options.acp ?? []).map(parseAcp).map(({ name, command }) => {
    return [`acp:${name}`, { ...common, command, usesOwnLogin: options.acpLogin }] as const;
  });
  return Object.fromEntries([...names.map((name) => [name, { ...common, ...own[name] }] as const), ...agents]);
}

function toCommon(options: ProgramOptions) {
  return {
    workspaces: toProgramNames(options).map(toWorkspaceId),
    passedVariables: toNames(options.programEnv).map(toVariableName),
    isUnsandboxed: options.unsandboxedPrograms,
  };
}

/** The names of the workspaces, each once. */
export function toProgramNames({ programs }: ProgramOptions): string[] {
  return Array.isArray(programs) ? toNames(programs) : [];
}

/** Adds the workspace `default`, unless the options choose workspaces or the server is reachable from other machines. */
export function withOwnPrograms<Options extends ProgramOptions>(options: Options, host: string | undefined): Options {
  if (Array.isArray(options.programs) || options.programs === false || !isLoopback(host)) return options;
  return { ...options, programs: ['default'] };
}

/** One line for the summary at start; undefined if no workspace may use programs. */
export function describePrograms(options: ProgramOptions): string | undefined {
  const names = toProgramNames(options);
  if (names.length === 0) return undefined;
  const where = options.unsandboxedPrograms === true ? 'WITHOUT a sandbox' : 'in the sandbox';
  const agents = (options.acp ?? []).map((value) => `acp:${parseAcp(value).name}`);
  const all = ['Claude Code', 'Codex', ...(agents.length === 0 ? [] : ['opencode']), ...agents.slice(0, -1)];
  return `${all.join(', ')} and ${agents.at(-1) ?? 'opencode'} for workspace ${names.join(', ')}, ${where}`;
}

function isLoopback(host = '127.0.0.1'): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Each value is one name or several, separated by commas. */
function toNames(values: readonly string[] = []): string[] {
  const names = values.flatMap((value) => value.split(',')).map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

function toVariableName(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name;
  throw new UsageError(
    `"${name}" is not a valid name of an environment variable.`,
    'Pass the name only; the value comes from the environment of the server.',
  );
}
