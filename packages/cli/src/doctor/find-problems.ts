import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { checkToolPrograms, findClaudeProgram, type Upstream, whyNoGateway } from '@fleetloom/server';
import { toModels } from '../commands/serve.ts';
import { toConnection } from '../connection/connection.ts';
import { toDataDirectory } from '../connection/data-directory.ts';
import { createServerApi } from '../connection/server-api.ts';
import { CommandError } from '../command-error.ts';
import type { Io } from '../io.ts';
import { describeClaudeCode } from './claude-code.ts';
import type { Finding } from './finding.ts';

/** Looks at everything that a server needs on this machine. Changes nothing, and asks nobody outside of it. */
export async function findProblems(
  io: Io,
  options: { data?: string; url?: string; key?: string; claude?: string },
): Promise<readonly Finding[]> {
  const looks = [
    lookAtNode(),
    lookAtData(io, options.data),
    lookAtServer(io, options),
    lookAtModels(io),
    lookAtTools(),
    lookAtClaudeCode(io, options.claude),
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

async function lookAtTools(): Promise<readonly Finding[]> {
  const { sandboxProblem, hasRipgrep } = await checkToolPrograms();
  return [
    sandboxProblem === null
      ? { name: 'Sandbox', state: 'ok', text: 'bubblewrap works: agents may run bash' }
      : {
          name: 'Sandbox',
          state: 'note',
          text: `${sandboxProblem}: bash is refused to agents`,
          fix: 'On Linux install bubblewrap; elsewhere --unsandboxed-bash lets agents run what you can run.',
        },
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

async function lookAtClaudeCode(io: Io, program: string | undefined): Promise<readonly Finding[]> {
  const found = await findClaudeProgram({ program, environment: io.env });
  const { models } = toModels(io.env, undefined);
  const upstream: Upstream =
    models === undefined
      ? { type: 'handler', handle: () => undefined }
      : { type: 'endpoint', baseURL: models.baseURL ?? 'https://api.anthropic.com', credential: models.credential };
  return describeClaudeCode(found, whyNoGateway(io.env, upstream));
}
