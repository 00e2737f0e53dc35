import type { FleetProgram } from '@fleetloom/protocol/fleet';
import { FleetloomError } from '../../base/errors.ts';
import type { ProgramEngine } from '../../engines/program/program.ts';
import { findProgramEntry, listPrograms, type ProgramEntry } from '../../engines/program/registry.ts';
import { requestError } from '../../base/request-error.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { program, programList } from '../schemas/program.ts';

/** The sources of installed programs. */
export interface ProgramRoutesOptions {
  readonly programOf: (model: string) => Pick<ProgramEngine, 'describe' | 'whyUnavailable'>;
  /** The names of the engines of agents that the operator has configured by name. */
  readonly namedEngines: readonly string[];
  /** Throws if agents of the workspace may not use the model. */
  readonly checkModel: (workspaceId: string, model: string) => void;
}

/** `/v1/programs` and `/v1/programs/{program_id}`: the installed programs that run sessions, their versions and options. */
export function createProgramRoutes(options: ProgramRoutesOptions): readonly AnyRoute[] {
  const { programOf, checkModel, namedEngines } = options;
  return [
    defineRoute({
      name: 'programs.list',
      summary:
        'List the programs that this server knows, with the version that was found or why sessions cannot use it',
      method: 'get',
      path: '/v1/programs',
      accepts: ['api'],
      gives: programList,
      handle: async ({ credential: { workspaceId } }) => ({
        data: await Promise.all(listEntries(workspaceId).map((entry) => toListed(entry, workspaceId))),
      }),
    }),
    defineRoute({
      name: 'programs.retrieve',
      summary:
        'Read which version of a program runs sessions here, where it runs, and which options its sessions can have',
      method: 'get',
      path: '/v1/programs/{program_id}',
      accepts: ['api'],
      gives: program,
      handle: async ({ credential, params }) => {
        const { program_id: id } = params;
        const model = `${id}/`;
        if (findProgramEntry(model) === undefined) throw requestError('unknown_id', `there is no program ${id}`);
        checkModel(credential.workspaceId, model);
        const facts = await programOf(model).describe();
        const { version, isSandboxed, permissionModes, depths, settings, controls, capabilities } = facts;
        return {
          type: 'program' as const,
          id,
          version,
          is_sandboxed: isSandboxed,
          permission_modes: [...permissionModes],
          depths: [...depths],
          settings: [...settings],
          controls: [...controls],
          capabilities: {
            sub_agent_text: capabilities.subAgentText,
            roster: capabilities.roster,
            sub_agent_report: capabilities.subAgentReport,
            approvals: capabilities.approvals,
            denial_reason: capabilities.denialReason,
            changed_input: capabilities.changedInput,
            questions: capabilities.questions,
            custom_tools: capabilities.customTools,
            system_prompt: capabilities.systemPrompt,
            command_output: capabilities.commandOutput,
            plans: capabilities.plans,
            steering: capabilities.steering,
            model_change: capabilities.modelChange,
            request_usage: capabilities.requestUsage,
            stop_reasons: capabilities.stopReasons,
            failure_status: capabilities.failureStatus,
            waits_for_reader: capabilities.waitsForReader,
            resume: capabilities.resume,
            fork: capabilities.fork,
            recovery: capabilities.recovery,
          },
        };
      },
    }),
  ];

  /** Programs that every server knows, and the agents that the operator has configured for the workspace. */
  function listEntries(workspaceId: string): Pick<ProgramEntry, 'name' | 'models'>[] {
    const known = listPrograms().filter(({ isNamed }) => isNamed !== true);
    return [...known, ...namedEngines.filter((name) => isAllowed(workspaceId, name)).map((name) => ({ name }))];
  }

  function isAllowed(workspaceId: string, name: string): boolean {
    try {
      checkModel(workspaceId, `${name}/`);
      return true;
    } catch (error) {
      if (error instanceof FleetloomError) return false;
      throw error;
    }
  }

  /** A workspace that may not use programs receives no information about installed versions. */
  async function toListed(
    { name: id, models = ['default'] }: Pick<ProgramEntry, 'name' | 'models'>,
    workspaceId: string,
  ): Promise<FleetProgram> {
    const listed = { type: 'fleet_program', id, models: models.map((model) => `${id}/${model}`) } as const;
    if (!isAllowed(workspaceId, id)) {
      const name = workspaceId.replace(/^wrkspc_/, '');
      const problem = `agents of the workspace ${name} may not run programs: start the server with --programs ${name}`;
      return { ...listed, version: null, is_sandboxed: null, problem };
    }
    const engine = programOf(`${id}/`);
    const [{ version, isSandboxed }, problem] = await Promise.all([engine.describe(), engine.whyUnavailable()]);
    // An engine can be ready although its program is not installed.
    const missing = version === null ? "not found on the server's machine: install the program" : null;
    return { ...listed, version, is_sandboxed: isSandboxed, problem: problem ?? missing };
  }
}
