import { FleetloomError } from './base/errors.ts';
import type { TreeRemover } from './base/remove-tree.ts';
import { createClaudeCodeEngine } from './engines/claude-code/claude-code-engine.ts';
import type { Upstream } from './engines/claude-code/gateway/upstream.ts';
import { findForeignOption, findInvalidOption } from './engines/program-options.ts';
import { createNoProgramEngine, toEndedProgram } from './engines/no-program.ts';
import { PROGRAM_PREFIX, type ProgramEngine } from './engines/program.ts';
import { createScriptedHandler, type ScriptedHandler } from './engines/scripted/http/handler.ts';
import type { ScriptedModel } from './engines/scripted/model.ts';
import { holdBody } from './http/request/held-bodies.ts';
import { createProgramNetwork, LOGIN_HOSTS } from './program-network.ts';
import type { Store } from './store/store.ts';
import { findProgram } from './tools/find-program.ts';
import { openBubblewrap } from './tools/sandbox/bubblewrap.ts';
import type { SandboxState } from './tools/sandbox/sandbox.ts';

export interface ClaudeCodeChoice {
  /** Workspaces whose agents may run on it, as `wrkspc_default`. None unless they are named. */
  readonly workspaces?: readonly string[] | undefined;
  /** Where it is, by a path or a name on PATH. By default `claude`. */
  readonly program?: string | undefined;
  /** Where its variables come from; by default this process. Only those reach it that it needs, and none with a secret. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Names of further variables that reach it, and every command that it runs. */
  readonly passedVariables?: readonly string[] | undefined;
  /**
   * Where a program with its own login sends its model requests. By default `ANTHROPIC_BASE_URL` of its environment, as for a program that
   * the operator starts.
   */
  readonly loginBaseURL?: string | undefined;
  /** It uses whatever login it has itself, instead of the key of this server or, without one, the scripted model. */
  readonly usesOwnLogin?: boolean | undefined;
  /** Runs it on the whole machine as the user of this process, instead of in a sandbox. */
  readonly isUnsandboxed?: boolean | undefined;
}

export interface OpenProgramsOptions {
  readonly options: {
    readonly dataDirectory: string;
    readonly claudeCode?: ClaudeCodeChoice | false | undefined;
    readonly models?: { readonly credential: Credential; readonly baseURL?: string } | undefined;
    readonly allowedPrivateHosts?: readonly string[] | undefined;
  };
  readonly store: Pick<Store, 'sessions'>;
  readonly scripted: ScriptedModel;
  readonly remover: Pick<TreeRemover, 'discard'>;
  readonly onProblem: (problem: unknown) => void;
  readonly openSandbox?: (() => Promise<SandboxState>) | undefined;
}

type Credential = { readonly apiKey: string } | { readonly authToken: string };

export interface OpenedPrograms {
  readonly engine: ProgramEngine;
  /** Throws where agents of a workspace may not have the model. */
  readonly checkModel: (workspaceId: string, model: string) => void;
  /** Throws where that is so, or where no session could begin with it. */
  readonly checkSession: (workspaceId: string, model: string) => Promise<void>;
  /** Throws where a session with the model cannot have an option that its metadata, or a change of it, names. */
  readonly checkOptions: CheckOptions;
}

type CheckOptions = (model: string, metadata: Readonly<Record<string, string | null>>) => Promise<void>;

/** The programs that run whole sessions, for the workspaces that the operator names. */
export function openPrograms(parts: OpenProgramsOptions): OpenedPrograms {
  const { options, store } = parts;
  const { claudeCode = {} } = options;
  const workspaces = claudeCode === false ? [] : (claudeCode.workspaces ?? []);
  const engine = claudeCode === false ? createNoProgramEngine(NO_PROGRAMS) : createEngine(parts, claudeCode);

  const checkModel = (workspaceId: string, model: string) => {
    if (!isProgram(model) || workspaces.includes(workspaceId)) return;
    throw new FleetloomError({ code: 'programs_not_allowed', kind: 'caller', ...toRefusal(model, workspaceId) });
  };
  return {
    engine: {
      ...engine,
      open: async (asked) => {
        // Asked again for each: a workspace may have lost them since the session was made.
        if (await isAllowed(asked.sessionId)) return await engine.open(asked);
        const { problem, advice } = toRefusal(asked.agent.model.id);
        return toEndedProgram(`${problem}: ${advice}`, 'programs_not_allowed');
      },
    },
    checkModel,
    checkSession: async (workspaceId, model) => {
      checkModel(workspaceId, model);
      const problem = isProgram(model) ? await engine.whyUnavailable() : null;
      if (problem === null) return;
      const advice = 'choose another model, or ask the operator of this server';
      throw new FleetloomError({ code: 'program_unavailable', kind: 'caller', problem, advice });
    },
    checkOptions: async (model, metadata) => {
      const invalid = isProgram(model)
        ? findInvalidOption(metadata, await engine.describe())
        : findForeignOption(metadata);
      if (invalid !== null) throw new FleetloomError({ code: 'program_option_invalid', kind: 'caller', ...invalid });
    },
  };

  async function isAllowed(sessionId: string): Promise<boolean> {
    const found = await Promise.all(workspaces.map((workspaceId) => store.sessions.get(workspaceId, sessionId)));
    return found.some((session) => session !== undefined);
  }
}

/** Removes what programs have kept of sessions that were deleted while this server could not hear of it. */
export async function forgetGone(engine: ProgramEngine, store: Pick<Store, 'heads'>): Promise<void> {
  const kept = await engine.listKept();
  if (kept.length === 0) return;
  const there = await store.heads(kept);
  for (const sessionId of kept) if (!there.has(sessionId)) await engine.forget(sessionId);
}

const NO_PROGRAMS = 'this server runs no programs: choose another model';

function isProgram(model: string): boolean {
  return model.startsWith(PROGRAM_PREFIX);
}

function toRefusal(model: string, workspaceId?: string): { problem: string; advice: string } {
  const name = workspaceId?.replace(/^wrkspc_/, '');
  const where = name === undefined ? 'its workspace' : `the workspace ${name}`;
  return {
    problem: `${model} runs a program on the machine of this server, and ${where} is not allowed to`,
    advice: `choose another model, or ask the operator to start the server with --programs ${name ?? '<workspace>'}`,
  };
}

function createEngine(
  { options, scripted, remover, onProblem, openSandbox = openSandboxOnce() }: OpenProgramsOptions,
  { usesOwnLogin = false, isUnsandboxed = false, loginBaseURL, ...choice }: ClaudeCodeChoice,
): ProgramEngine {
  const { models, dataDirectory, allowedPrivateHosts } = options;
  const loginHosts = usesOwnLogin ? LOGIN_HOSTS : [];
  return createClaudeCodeEngine({
    ...choice,
    directory: dataDirectory,
    usesOwnLogin,
    sandbox: isUnsandboxed ? 'none' : openSandbox,
    openNetwork: (networking) => createProgramNetwork({ networking, allowedPrivateHosts, loginHosts }),
    upstream: usesOwnLogin
      ? toLoginUpstream(loginBaseURL ?? models?.baseURL, choice.environment)
      : toUpstream(models, scripted),
    remover,
    onProblem,
  });
}

function toUpstream(models: OpenProgramsOptions['options']['models'], model: ScriptedModel): Upstream {
  if (models === undefined) return { type: 'handler', handle: toBoundedHandler(createScriptedHandler({ model })) };
  return { type: 'endpoint', baseURL: models.baseURL ?? ANTHROPIC, credential: models.credential };
}

/** Bodies of all programs together are bounded like those of one key. */
function toBoundedHandler(handle: ScriptedHandler): Extract<Upstream, { type: 'handler' }>['handle'] {
  return (request, response) => {
    const held = holdBody('programs');
    response.once('close', () => held.release());
    handle(request, response, held);
  };
}

function toLoginUpstream(
  given: string | undefined,
  environment: ClaudeCodeChoice['environment'] = process.env,
): Upstream {
  const baseURL = given || environment['ANTHROPIC_BASE_URL'] || ANTHROPIC;
  if (!URL.canParse(baseURL) || !/^https?:$/.test(new URL(baseURL).protocol)) {
    const problem = `${JSON.stringify(baseURL)} is not the URL of an endpoint for --claude-login`;
    const advice = 'set ANTHROPIC_BASE_URL or --model-base-url to an http or https URL, or leave both out';
    throw new FleetloomError({ code: 'invalid_base_url', kind: 'caller', problem, advice });
  }
  return { type: 'endpoint', baseURL, credential: 'program' };
}

const ANTHROPIC = 'https://api.anthropic.com';

/** Looked for when it is first needed. One that is not there may be installed by the next time. */
function openSandboxOnce(): () => Promise<SandboxState> {
  let opening: Promise<SandboxState> | undefined;
  return async () => {
    opening ??= openBubblewrap({ findProgram });
    const state = await opening;
    if (state.type === 'unavailable') opening = undefined;
    return state;
  };
}
