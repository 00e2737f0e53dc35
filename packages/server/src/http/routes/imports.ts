import { toInlineAgent } from '../../agents/inline-agent.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { Environments } from '../../environments/environments.ts';
import type { Imports } from '../../sessions/index.ts';
import { type AnyRoute, defineRoute } from '../route.ts';
import { imported, importBody } from '../schemas/import.ts';
import { toImportedStep } from './to-imported-step.ts';
import { toSessionEnvironment } from './to-session-environment.ts';

export interface ImportRoutesOptions {
  readonly imports: Imports;
  readonly environments: Environments;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** `POST /v1/imports`: a session that happened, or happens, elsewhere, as the program's own files tell it. */
export function createImportRoutes(options: ImportRoutesOptions): readonly AnyRoute[] {
  const { imports, environments, clock, ids } = options;
  return [
    defineRoute({
      name: 'imports.create',
      summary: 'Tell of a session of Claude Code that runs elsewhere; what is known already is left out',
      method: 'post',
      path: '/v1/imports',
      accepts: ['api'],
      body: importBody,
      gives: imported,
      handle: async ({ credential: { workspaceId }, body }) => {
        const { conversation, title, directory, version } = body;
        const { sessionId, lines, taken } = await imports.take({
          workspaceId,
          conversation,
          agent: { ...(await toInlineAgent(ids.next('agent'), AGENT)), multiagent: null },
          environment: toSessionEnvironment(await findEnvironment(workspaceId)),
          title,
          metadata: {
            imported_from: body.program,
            conversation,
            ...(directory === null ? {} : { directory }),
            ...(version === null ? {} : { version }),
          },
          steps: body.steps.map(toImportedStep),
          isEnd: body.is_end,
          now: clock.now(),
        });
        return { session_id: sessionId, lines, taken };
      },
    }),
  ];

  /** One for all imports of a workspace, found again by its name. */
  async function findEnvironment(workspaceId: string) {
    const { items } = await environments.list({ workspaceId, limit: 100, order: 'asc' });
    const known = items.find(({ name, config }) => name === ENVIRONMENT && config.type === 'cloud');
    return known ?? (await environments.create(workspaceId, { name: ENVIRONMENT }));
  }
}

const ENVIRONMENT = 'imports';

/** Who the main agent was. It is never asked anything here. */
const AGENT = {
  name: 'claude',
  model: 'claude-code/default',
  description: 'The main agent of a session of Claude Code',
};
