import type { ProgramEngine } from '../../engines/program.ts';
import { PROGRAM_PREFIX } from '../../engines/program.ts';
import { doorError } from '../door-error.ts';
import { type AnyRoute, defineRoute } from '../route.ts';
import { program } from '../schemas/program.ts';

export interface ProgramRoutesOptions {
  readonly engine: Pick<ProgramEngine, 'describe'>;
  /** Throws where agents of a workspace may not have the model. */
  readonly checkModel: (workspaceId: string, model: string) => void;
}

/** `/v1/programs/{program_id}`: which program runs sessions here, and what they can be configured with. */
export function createProgramRoutes({ engine, checkModel }: ProgramRoutesOptions): readonly AnyRoute[] {
  return [
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
        if (`${id}/` !== PROGRAM_PREFIX) throw doorError('unknown_id', `there is no program ${id}`);
        checkModel(credential.workspaceId, PROGRAM_PREFIX);
        const { version, isSandboxed, permissionModes, depths, settings } = await engine.describe();
        return {
          type: 'program' as const,
          id,
          version,
          is_sandboxed: isSandboxed,
          permission_modes: [...permissionModes],
          depths: [...depths],
          settings: [...settings],
        };
      },
    }),
  ];
}
