import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  acpCapabilities,
  checkToolPrograms,
  codexCapabilities,
  findAgent,
  findClaudeProgram,
  findCodex,
  findGit,
  findOpencode,
  type NoGateway,
  opencodeCapabilities,
  toGatewayVariables,
  type ToolPrograms,
  type Upstream,
  whyNoGateway,
} from '@fleetloom/server';
import { parseAcp } from '../server/parse-acp.ts';
import type { ProgramOptions } from '../server/programs.ts';
import { toModels } from '../server/serve.ts';
import { toConnection } from '../connection/connection.ts';
import { toDataDirectory } from '../connection/data-directory.ts';
import { recallServer } from '../connection/local-server.ts';
import { createServerApi } from '../connection/server-api.ts';
import { CommandError } from '../base/command-error.ts';
import type { Io } from '../base/io.ts';
import { checkMasterKeys } from './check-master-keys.ts';
import { describeClaudeCode } from './claude-code.ts';
import { describeProgram } from './describe-program.ts';
import { describeEgress, describeSandbox } from './describe-sandbox.ts';
import type { Finding } from './finding.ts';
import { describeProgramUse } from './program-use.ts';

/** Checks everything that a server needs on this machine. Changes nothing and sends no request to other machines. */
export async function findProblems(
  io: Io,
  options: ProgramOptions & { data?: string; url?: string; key?: string },
): Promise<readonly Finding[]> {
  const tools = checkToolPrograms();
  const checks = [
    checkNode(),
    checkData(io, options.data),
    checkServer(io, options),
    checkMasterKeys(createServerApi(toConnection(io.env, options), ANSWER_MS)),
    checkModels(io),
    checkTools(tools),
    checkGit(),
    checkClaudeCode(io, options),
    checkCodex(io, options),
    checkOpencode(io, options),
    checkAcp(io, options),
    checkPrograms(io, options, tools),
  ];
  return (await Promise.all(checks)).flat();
}

async function checkNode(): Promise<Finding> {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return { name: 'Node', state: 'ok', text: node };
  return { name: 'Node', state: 'problem', text: `${node} is too old`, fix: 'Install Node 20.19 or newer.' };
}

async function checkData(io: Io, given: string | undefined): Promise<Finding> {
  const name = 'Data';
  const directory = toDataDirectory(io.env, given);
  const found = await stat(directory).catch(() => undefined);
  if (found !== undefined && !found.isDirectory()) {
    return { name, state: 'problem', text: `${directory} is not a directory`, fix: 'Pass another one with --data.' };
  }
  const isWritable = await access(found === undefined ? await nearest(directory) : directory, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable) {
    const fix = 'Set another one with --data or FLEETLOOM_DATA.';
    return { name, state: 'problem', text: `${directory} is not writable`, fix };
  }
  return { name, state: 'ok', text: found === undefined ? `${directory} (will be created)` : directory };
}

/** The nearest existing parent directory. */
async function nearest(directory: string): Promise<string> {
  const above = dirname(directory);
  const found = await stat(above).catch(() => undefined);
  return found?.isDirectory() === true || above === directory ? above : await nearest(above);
}

async function checkServer(io: Io, options: { url?: string; key?: string }): Promise<Finding> {
  const name = 'Server';
  const connection = toConnection(io.env, options);
  try {
    await createServerApi(connection, ANSWER_MS).get('/v1/sessions', { limit: 1 });
    return { name, state: 'ok', text: `${connection.url} responds and accepts the key` };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const isThere = error.exitCode !== 6;
    return { name, state: isThere ? 'problem' : 'note', text: error.message, fix: error.fix };
  }
}

const ANSWER_MS = 5_000;

async function checkModels(io: Io): Promise<Finding> {
  const { models } = toModels(io.env, undefined);
  if (models !== undefined)
    return {
      name: 'Models',
      state: 'ok',
      text: `your endpoint (${models.baseURL ?? 'api.anthropic.com'}) and scripted models`,
    };
  const fix = 'Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN; set ANTHROPIC_BASE_URL for another endpoint.';
  return { name: 'Models', state: 'note', text: 'scripted models only: no API key is set', fix };
}

async function checkTools(tools: Promise<ToolPrograms>): Promise<readonly Finding[]> {
  const { sandboxProblem, sandboxGaps, hasRipgrep, packageManagers } = await tools;
  return [
    ...describeSandbox(sandboxProblem, sandboxGaps),
    describeEgress(sandboxProblem, packageManagers),
    hasRipgrep
      ? { name: 'Search', state: 'ok', text: 'ripgrep' }
      : {
          name: 'Search',
          state: 'note',
          text: 'ripgrep is not installed: search is slower in large workspaces',
          fix: 'Install ripgrep (rg).',
        },
  ];
}

async function checkGit(): Promise<Finding> {
  const found = await findGit();
  if (found.type === 'found') return { name: 'Git', state: 'ok', text: found.version };
  const text = `${found.reason}: sessions cannot work on git repositories`;
  return { name: 'Git', state: 'note', text, fix: 'Install git 2.30 or newer.' };
}

async function checkClaudeCode(io: Io, options: ProgramOptions): Promise<readonly Finding[]> {
  const found = await findClaudeProgram({ program: options.claude, environment: io.env });
  return describeClaudeCode(found, findNoGateway(io, options)?.message);
}

async function checkCodex(io: Io, options: ProgramOptions): Promise<readonly Finding[]> {
  const found = await findCodex({ program: options.codex, environment: io.env });
  return describeProgram({ name: 'Codex', prefix: 'codex', capabilities: codexCapabilities }, found);
}

async function checkOpencode(io: Io, options: ProgramOptions): Promise<readonly Finding[]> {
  const found = await findOpencode({ program: options.opencode, environment: io.env });
  const login = 'its model requests use the key of this server (ANTHROPIC_API_KEY), not the login of opencode';
  return describeProgram({ name: 'opencode', prefix: 'opencode', capabilities: opencodeCapabilities, login }, found);
}

async function checkAcp(io: Io, { acp = [], acpLogin }: ProgramOptions): Promise<readonly Finding[]> {
  const login =
    acpLogin === true
      ? 'it uses your own login and home directory, which needs --unsandboxed-programs'
      : 'it has a home directory of its own: pass its key with --program-env, or use its login with --acp-login';
  const all = acp.map(parseAcp).map(async ({ name, command }) => {
    const prefix = `acp:${name}`;
    const found = await findAgent(name, command, io.env);
    return describeProgram({ name: prefix, prefix, capabilities: acpCapabilities, login }, found);
  });
  return (await Promise.all(all)).flat();
}

async function checkPrograms(
  io: Io,
  options: ProgramOptions & { data?: string },
  tools: Promise<ToolPrograms>,
): Promise<readonly Finding[]> {
  const { sandboxProblem } = await tools;
  const hasProxy = findNoGateway(io, options)?.cause === 'proxy';
  const { programs } = recallServer(toDataDirectory(io.env, options.data));
  return describeProgramUse(options, { sandboxProblem, hasProxy, lastWorkspaces: programs });
}

function findNoGateway(io: Io, { programEnv }: ProgramOptions): NoGateway | undefined {
  const { models } = toModels(io.env, undefined);
  const upstream: Upstream =
    models === undefined
      ? { type: 'handler', handle: () => undefined }
      : { type: 'endpoint', baseURL: models.baseURL ?? 'https://api.anthropic.com', credential: models.credential };
  return whyNoGateway(toGatewayVariables(io.env, programEnv ?? []), upstream);
}
