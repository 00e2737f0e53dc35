import type { Socket } from 'node:net';
import type { Networking } from '@fleetloom/protocol/managed-agents';
import { FleetloomError } from '../base/errors.ts';
import type { EgressProxy } from '../egress/proxy.ts';
import type { TreeRemover } from '../base/files/remove-tree.ts';
import { createScriptedHandler, type ScriptedHandler } from '../engines/model/scripted/http/handler.ts';
import type { ScriptedModel } from '../engines/model/scripted/model.ts';
import { createNoProgramEngine, toEndedProgram } from '../engines/program/no-program.ts';
import type { HostCredential, ProgramChoice, ProgramHost } from '../engines/program/program-host.ts';
import { findForeignOption, findInvalidOption, type InvalidOption } from '../engines/program/program-options.ts';
import type { ProgramEngine } from '../engines/program/program.ts';
import {
  findProgramEntry,
  isProgramModel,
  listEngineNames,
  listPrograms,
  toEngineName,
} from '../engines/program/registry.ts';
import { holdBody } from '../http/request/held-bodies.ts';
import type { Store } from '../store/store.ts';
import { findProgram } from '../tools/find-program.ts';
import { openBubblewrap } from '../tools/sandbox/bubblewrap.ts';
import type { SandboxState } from '../tools/sandbox/sandbox.ts';
import { HostResolver } from '../tools/network/host-resolver.ts';
import { createProgramNetwork } from './program-network.ts';

/** The operator's options for the claude program. */
export type ClaudeCodeChoice = ProgramChoice;

/** The options of a server that concern program engines. */
export interface ProgramServerOptions {
  /** The operator's choice for each program engine, by its name: `{ 'claude-code': { workspaces: ['wrkspc_default'] } }`. False disables an engine. */
  readonly programs?: Readonly<Record<string, ProgramChoice | false | undefined>> | undefined;
  /** An alias of `programs['claude-code']`. */
  readonly claudeCode?: ClaudeCodeChoice | false | undefined;
}

export interface OpenProgramsOptions {
  readonly options: ProgramServerOptions & {
    readonly dataDirectory: string;
    readonly models?: { readonly credential: HostCredential; readonly baseURL?: string } | undefined;
    readonly allowedPrivateHosts?: readonly string[] | undefined;
  };
  readonly store: Pick<Store, 'sessions'>;
  readonly scripted: ScriptedModel;
  readonly remover: Pick<TreeRemover, 'discard'>;
  /** The mounts of a session's sandbox in addition to its workspace. */
  readonly openMounts?: ProgramHost['openMounts'];
  /** The credentials of a session for its MCP servers. */
  readonly openAuthorization?: ProgramHost['openAuthorization'];
  /** Opens the proxy for the connections of a session's program. Absent: the connections are tunnels without inspection. */
  readonly openEgress?: (
    sessionId: string,
    networking: Networking,
    ownHosts: readonly string[],
  ) => Promise<EgressProxy>;
  readonly onProblem: (problem: unknown) => void;
  readonly resolver?: HostResolver | undefined;
  readonly openSandbox?: (() => Promise<SandboxState>) | undefined;
}

/** The program engines, and the checks of models and options. */
export interface OpenedPrograms {
  /** The engine that runs sessions with the model. */
  readonly programOf: (model: string) => ProgramEngine;
  /** The names of the engines of agents that the operator has configured by name, such as `acp:opencode`. */
  readonly namedEngines: readonly string[];
  /** All engines together, for work that does not depend on a model. */
  readonly all: AllPrograms;
  /** Throws if agents of a workspace may not have the model. */
  readonly checkModel: (workspaceId: string, model: string) => void;
  /** Throws like `checkModel`, and if no session could start with the model. */
  readonly checkSession: (workspaceId: string, model: string) => Promise<void>;
  /** Throws if the metadata of a session sets an option that the models of its agent and roster do not support. */
  readonly checkOptions: CheckOptions;
}

type CheckOptions = (models: readonly string[], metadata: Readonly<Record<string, string | null>>) => Promise<void>;

/** Operations of program engines that do not depend on a model. */
export type AllPrograms = Pick<ProgramEngine, 'forget' | 'listKept' | 'reap' | 'close'>;

/** Opens every registered program engine, for the workspaces that the operator allows. */
export async function openPrograms(parts: OpenProgramsOptions): Promise<OpenedPrograms> {
  const { options, store } = parts;
  const choices: ProgramServerOptions['programs'] = { 'claude-code': options.claudeCode, ...options.programs };
  const engines = new Map<string, ProgramEngine>();
  for (const entry of listPrograms()) {
    for (const name of listEngineNames(entry, Object.keys(choices))) {
      const choice = choices[name] ?? {};
      engines.set(name, choice === false ? notUsed : restrict((await entry.load())(toHost(parts, name, choice))));
    }
  }

  const programOf = (model: string) =>
    engines.get(toEngineName(model) ?? '') ?? engines.get(findProgramEntry(model)?.name ?? '') ?? notUsed;
  const checkModel = (workspaceId: string, model: string) => {
    if (!isProgramModel(model) || workspacesOf(model).includes(workspaceId)) return;
    throw new FleetloomError({ code: 'programs_not_allowed', kind: 'caller', ...toRefusal(model, workspaceId) });
  };
  return {
    programOf,
    namedEngines: [...engines.keys()].filter((name) => findProgramEntry(`${name}/`)?.isNamed === true),
    all: toAll([...engines.values()]),
    checkModel,
    checkSession: async (workspaceId, model) => {
      checkModel(workspaceId, model);
      const problem = isProgramModel(model) ? await programOf(model).whyUnavailable() : null;
      if (problem === null) return;
      const advice = 'choose another model, or ask the operator of this server';
      throw new FleetloomError({ code: 'program_unavailable', kind: 'caller', problem, advice });
    },
    checkOptions: async (models, metadata) => {
      const refuse = (invalid: InvalidOption | null) => {
        if (invalid !== null) throw new FleetloomError({ code: 'program_option_invalid', kind: 'caller', ...invalid });
      };
      refuse(findForeignOption(metadata, models));
      for (const model of models) {
        const entry = findProgramEntry(model);
        if (entry !== undefined) refuse(findInvalidOption(metadata, entry, await programOf(model).describe()));
      }
    },
  };

  /** Checks the permission at each start: the workspace may have lost it after the session was created. */
  function restrict(engine: ProgramEngine): ProgramEngine {
    return {
      ...engine,
      open: async (asked) => {
        const { id } = asked.agent.model;
        if (await isAllowed(id, asked.sessionId)) return await engine.open(asked);
        const { problem, advice } = toRefusal(id);
        return toEndedProgram(`${problem}: ${advice}`, 'programs_not_allowed');
      },
    };
  }

  function workspacesOf(model: string): readonly string[] {
    const choice = choices?.[toEngineName(model) ?? ''] ?? {};
    return choice === false ? [] : (choice.workspaces ?? []);
  }

  async function isAllowed(model: string, sessionId: string): Promise<boolean> {
    const found = await Promise.all(
      workspacesOf(model).map((workspaceId) => store.sessions.get(workspaceId, sessionId)),
    );
    return found.some((session) => session !== undefined);
  }
}

/** Removes files that programs kept of sessions that were deleted while this server was not running. */
export async function forgetGone(programs: AllPrograms, store: Pick<Store, 'heads'>): Promise<void> {
  const kept = await programs.listKept();
  if (kept.length === 0) return;
  const there = await store.heads(kept);
  for (const sessionId of kept) if (!there.has(sessionId)) await programs.forget(sessionId);
}

function toAll(engines: readonly ProgramEngine[]): AllPrograms {
  return {
    forget: async (sessionId) => {
      // One after another: the last engine of a kind removes files of the others, whose programs must be closed by then.
      for (const engine of engines) await engine.forget(sessionId);
    },
    listKept: async () => [...new Set((await Promise.all(engines.map((engine) => engine.listKept()))).flat())],
    reap: async () =>
      (await Promise.all(engines.map((engine) => engine.reap()))).reduce((sum, count) => sum + count, 0),
    close: async () => {
      await Promise.all(engines.map((engine) => engine.close()));
    },
  };
}

const notUsed = createNoProgramEngine('this server runs no programs: choose another model');

function toRefusal(model: string, workspaceId?: string): { problem: string; advice: string } {
  const name = workspaceId?.replace(/^wrkspc_/, '');
  const where = name === undefined ? 'its workspace' : `the workspace ${name}`;
  return {
    problem: `${model} runs a program on the machine of this server, and ${where} is not allowed to`,
    advice: `choose another model, or ask the operator to start the server with --programs ${name ?? '<workspace>'}`,
  };
}

function toHost(parts: OpenProgramsOptions, name: string, choice: ProgramChoice): ProgramHost {
  const { options, scripted, remover, onProblem, openMounts, openSandbox = openSandboxOnce() } = parts;
  const { openAuthorization, openEgress, resolver = new HostResolver() } = parts;
  const { models, dataDirectory: directory, allowedPrivateHosts } = options;
  return {
    name,
    choice,
    directory,
    models,
    handleScripted: toBoundedHandler(createScriptedHandler({ model: scripted })),
    openSandbox,
    openMounts,
    openAuthorization,
    openNetwork: async (networking, loginHosts, sessionId) => {
      const network = createProgramNetwork({
        networking,
        allowedPrivateHosts,
        loginHosts,
        resolveHost: resolver.forSession(),
      });
      // A host that the operator configured with a port is reached on that port.
      const ownHosts = networking?.type === 'limited' ? loginHosts : [...loginHosts, ...(allowedPrivateHosts ?? [])];
      const proxy = await openEgress?.(sessionId, networking ?? { type: 'unrestricted' }, ownHosts);
      if (proxy === undefined) return network;
      return {
        ...network,
        openTunnel: (request, near, head) => proxy.connect(request, near as Socket, head),
        close: () => proxy.close(),
      };
    },
    remover,
    onProblem,
  };
}

/** Bounds the bodies of all programs together like the bodies of one key. */
function toBoundedHandler(handle: ScriptedHandler): ProgramHost['handleScripted'] {
  return (request, response) => {
    const held = holdBody('programs');
    response.once('close', () => held.release());
    handle(request, response, held);
  };
}

/** Detects the sandbox at its first use, and again after a failure: it may have been installed in the meantime. */
function openSandboxOnce(): () => Promise<SandboxState> {
  let opening: Promise<SandboxState> | undefined;
  return async () => {
    opening ??= openBubblewrap({ findProgram });
    const state = await opening;
    if (state.type === 'unavailable') opening = undefined;
    return state;
  };
}
