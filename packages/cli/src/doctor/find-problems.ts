import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  checkToolPrograms,
  findClaudeProgram,
  type NoGateway,
  toGatewayVariables,
  type ToolPrograms,
  type Upstream,
  whyNoGateway,
} from '@fleetloom/server';
import type { ProgramOptions } from '../commands/programs.ts';
import { toModels } from '../commands/serve.ts';
import { toConnection } from '../connection/connection.ts';
import { toDataDirectory } from '../connection/data-directory.ts';
import { recallServer } from '../connection/local-server.ts';
import { createServerApi } from '../connection/server-api.ts';
import { CommandError } from '../command-error.ts';
import type { Io } from '../io.ts';
import { describeClaudeCode } from './claude-code.ts';
import { describeSandbox } from './describe-sandbox.ts';
import type { Finding } from './finding.ts';
import { describeProgramUse } from './program-use.ts';

/** Looks at everything that a server needs on this machine. Changes nothing, and asks nobody outside of it. */
export async function findProblems(
  io: Io,
  options: ProgramOptions & { data?: string; url?: string; key?: string },
): Promise<readonly Finding[]> {
  const tools = checkToolPrograms();
  const looks = [
    lookAtNode(),
    lookAtData(io, options.data),
    lookAtServer(io, options),
    lookAtModels(io),
    lookAtTools(tools),
    lookAtClaudeCode(io, options),
    lookAtPrograms(io, options, tools),
  ];
  return (await Promise.all(looks)).flat();
}

async function lookAtNode(): Promise<Finding> {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return { name: 'Node', state: 'ok', text: node };
  return { name: 'Node', state: 'problem', text: `${node} is too old`, fix: 'Install Node 20.19 or newer.' };
}

async function lookAtData(io: Io, given: string | undefined): Promise<Finding> {
  const name = 'Data';
  const directory = toDataDirectory(io.env, given);
  const found = await stat(directory).catch(() => undefined);
  if (found !== undefined && !found.isDirectory()) {
    return { name, state: 'problem', text: `${directory} is no directory`, fix: 'Use another one with --data.' };
  }
  const isWritable = await access(found === undefined ? await nearest(directory) : directory, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable) {
    const fix = 'Use another one with --data or FLEETLOOM_DATA.';
    return { name, state: 'problem', text: `${directory} cannot be written`, fix };
  }
  return { name, state: 'ok', text: found === undefined ? `${directory} will be made` : directory };
}

/** The nearest directory above it that is there. */
async function nearest(directory: string): Promise<string> {
  const above = dirname(directory);
  const found = await stat(above).catch(() => undefined);
  return found?.isDirectory() === true || above === directory ? above : await nearest(above);
}

async function lookAtServer(io: Io, options: { url?: string; key?: string }): Promise<Finding> {
  const name = 'Server';
  const connection = toConnection(io.env, options);
  try {
    await createServerApi(connection, ANSWER_MS).get('/v1/sessions', { limit: 1 });
    return { name, state: 'ok', text: `${connection.url} answers, and takes the key` };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const isThere = error.exitCode !== 6;
    return { name, state: isThere ? 'problem' : 'note', text: error.message, fix: error.fix };
  }
}

const ANSWER_MS = 5_000;

async function lookAtModels(io: Io): Promise<Finding> {
  const { models } = toModels(io.env, undefined);
  if (models !== undefined)
    return {
      name: 'Models',
      state: 'ok',
      text: `your endpoint (${models.baseURL ?? 'api.anthropic.com'}), and the embedded one`,
    };
  const fix = 'Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, and ANTHROPIC_BASE_URL for another endpoint.';
  return { name: 'Models', state: 'note', text: 'only the embedded one (scripted/…): no key is set', fix };
}

async function lookAtTools(tools: Promise<ToolPrograms>): Promise<readonly Finding[]> {
  const { sandboxProblem, sandboxGaps, hasRipgrep } = await tools;
  return [
    ...describeSandbox(sandboxProblem, sandboxGaps),
    hasRipgrep
      ? { name: 'Search', state: 'ok', text: 'ripgrep' }
      : {
          name: 'Search',
          state: 'note',
          text: 'without ripgrep, slower in big workspaces',
          fix: 'Install ripgrep (rg).',
        },
  ];
}

async function lookAtClaudeCode(io: Io, options: ProgramOptions): Promise<readonly Finding[]> {
  const found = await findClaudeProgram({ program: options.claude, environment: io.env });
  return describeClaudeCode(found, findNoGateway(io, options)?.message);
}

async function lookAtPrograms(
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
