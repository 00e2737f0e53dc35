import type { ControlRequest } from '../../engines/program/program-controls.ts';
import { isProgramModel } from '../../engines/program/registry.ts';
import type { ControlProgram } from '../../sessions/index.ts';
import { over } from '../../sessions/runtime/owner/session-command.ts';
import { sessionError } from '../../sessions/core/session-errors.ts';
import type { Store } from '../../store/store.ts';
import type { Credential } from '../../keys/credential.ts';
import { nameOf } from '../../keys/name-of.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { programDiff, programRewind, programRewindBody, programUsage } from '../schemas/program.ts';
import { recorded } from './access/recorded.ts';
import { dataOf, readSession } from './read-session.ts';

/** The services that reach the programs of sessions. */
export interface SessionProgramRoutesOptions {
  readonly store: Store;
  /** Sends a control request to the program, through the owner node of the session. */
  readonly controlProgram: ControlProgram;
}

/** `/v1/sessions/{session_id}/program/…`: control requests to the running program of a session, outside its turns. */
export function createSessionProgramRoutes({
  store,
  controlProgram,
}: SessionProgramRoutesOptions): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'sessions.program.usage',
      summary: 'Read the token usage of the running program of a session, by model, and the limits of its plan',
      method: 'get',
      path: '/v1/sessions/{session_id}/program/usage',
      accepts: ['api'],
      gives: programUsage,
      handle: async ({ credential, params }) => {
        const { session_id, answer } = await ask(credential, params.session_id, { type: 'usage' });
        const { costUsd: cost_usd, linesAdded: lines_added, linesRemoved: lines_removed, models, planLimits } = answer;
        return {
          type: 'program_usage' as const,
          session_id,
          cost_usd,
          lines_added,
          lines_removed,
          models: models.map((used) => ({
            model: used.model,
            input_tokens: used.inputTokens,
            output_tokens: used.outputTokens,
            cache_read_input_tokens: used.cacheReadTokens,
            cache_creation_input_tokens: used.cacheWriteTokens,
            cost_usd: used.costUsd,
          })),
          plan_limits: planLimits.map(({ name, usedPercent: used_percent, resetsAt: resets_at }) => ({
            name,
            used_percent,
            resets_at,
          })),
        };
      },
    }),
    defineRoute({
      name: 'sessions.program.diff',
      summary: 'Read how the workspace of a session differs from its repository, as its program reports it',
      method: 'get',
      path: '/v1/sessions/{session_id}/program/diff',
      accepts: ['api'],
      gives: programDiff,
      handle: async ({ credential, params }) => {
        const { session_id, answer } = await ask(credential, params.session_id, { type: 'diff' });
        return {
          type: 'program_diff' as const,
          session_id,
          files: answer.files.map(({ path, status, added, removed, isBinary, patch }) => ({
            path,
            status,
            lines_added: added,
            lines_removed: removed,
            is_binary: isBinary,
            patch,
          })),
          files_omitted: answer.filesOmitted,
          reason: answer.reason,
        };
      },
    }),
    defineRoute({
      name: 'sessions.program.rewind',
      summary: 'Restore the files that the program of a session has edited to their state before a message',
      method: 'post',
      path: '/v1/sessions/{session_id}/program/rewind',
      accepts: ['api'],
      body: programRewindBody,
      gives: programRewind,
      handle: async ({ credential, params, body, audit }) => {
        const { message_id, dry_run = false } = body;
        const request = { type: 'rewind', messageId: message_id, isDryRun: dry_run } as const;
        const run = () => ask(credential, params.session_id, request);
        // A request for a session of another workspace is not recorded.
        const { id: target } = await readSession(store, credential, params.session_id);
        const action = { action: 'program.rewind', target, details: { message_id } };
        const { session_id, answer } = await (dry_run ? run() : recorded(store.audit, audit, action, run));
        const { files, added: lines_added, removed: lines_removed } = answer;
        return { type: 'program_rewind' as const, session_id, message_id, dry_run, files, lines_added, lines_removed };
      },
    }),
  ];

  async function ask<Type extends ControlRequest['type']>(
    credential: Credential,
    id: string,
    request: Extract<ControlRequest, { type: Type }>,
  ) {
    const record = await readSession(store, credential, id);
    const { agent, is_read_only: isReadOnly = false } = dataOf(record);
    const { id: model } = agent.model;
    if (!isProgramModel(model)) throw sessionError('not_a_program', `${id} is run by the model ${model}`);
    if (isReadOnly) throw sessionError('session_read_only', `${id} was imported, and its program is not here`);
    if (record.status === 'terminated') throw over({ id, isArchived: record.archivedAt !== null });
    const answer = await controlProgram(id, { request, by: nameOf(credential) });
    // The cast: the response has the type of its request, also from another node, which runs the same version.
    return { session_id: id, answer: answer as Extract<typeof answer, { type: Type }> };
  }
}
