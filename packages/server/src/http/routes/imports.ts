import { toInlineAgent } from '../../agents/inline-agent.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { Environments } from '../../environments/environments.ts';
import type { Imports } from '../../sessions/index.ts';
import type { Auditor } from '../../store/audit.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { imported, importBody } from '../schemas/import.ts';
import { toControl, toImportedStep, toWireAnswer } from '../convert/to-imported-step.ts';
import { toSessionEnvironment } from '../convert/to-session-environment.ts';

/** The services that store imported sessions. */
export interface ImportRoutesOptions {
  readonly imports: Imports;
  readonly environments: Environments;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** `POST /v1/imports`: a session that ran, or runs, elsewhere, read from the program's own files. */
export function createImportRoutes(options: ImportRoutesOptions): readonly AnyRoute[] {
  const { imports, environments, clock, ids } = options;
  return [
    defineRoute({
      name: 'imports.create',
      summary:
        'Import steps of a session of Claude Code, Codex or opencode that runs elsewhere; known steps are skipped',
      method: 'post',
      path: '/v1/imports',
      accepts: ['api'],
      body: importBody,
      gives: imported,
      handle: async ({ credential: { workspaceId }, body, audit }) => {
        const { conversation, title, directory, version } = body;
        const { sessionId, lines, taken, answers } = await imports.append({
          workspaceId,
          conversation,
          agent: { ...(await toInlineAgent(ids.next('agent'), agents[body.program])), multiagent: null },
          environment: toSessionEnvironment(await findEnvironment(workspaceId, audit)),
          title,
          metadata: {
            imported_from: body.program,
            conversation,
            ...(directory === null ? {} : { directory }),
            ...(version === null ? {} : { version }),
          },
          steps: body.steps.map(toImportedStep),
          control: toControl(body.control),
          isEnd: body.is_end,
          now: clock.now(),
        });
        return { session_id: sessionId, lines, taken, answers: answers.map(toWireAnswer) };
      },
    }),
  ];

  /** The environment that all imports of a workspace share, found by its name. */
  async function findEnvironment(workspaceId: string, audit: Auditor) {
    const { items } = await environments.list({ workspaceId, limit: 100, order: 'asc' });
    const known = items.find(({ name, config }) => name === ENVIRONMENT && config.type === 'cloud');
    return known ?? (await environments.create(workspaceId, { name: ENVIRONMENT }, audit));
  }
}

const ENVIRONMENT = 'imports';

/** The main agent of an imported session, which is read-only. */
const agents = {
  'claude-code': {
    name: 'claude',
    model: 'claude-code/default',
    description: 'The main agent of a session of Claude Code',
  },
  codex: { name: 'codex', model: 'codex/default', description: 'The main agent of a session of Codex' },
  opencode: { name: 'opencode', model: 'opencode/default', description: 'The main agent of a session of opencode' },
};
