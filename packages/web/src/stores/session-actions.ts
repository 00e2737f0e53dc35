import type { Session } from '@fleetloom/protocol/managed-agents';
import { plural } from '../model/format.ts';
import { api } from './connection/api.ts';
import { ensureEnvironment } from './connection/ensure-environment.ts';
import { storeLimits } from './limits.ts';
import { fleet, sessionList, ui } from './stores.ts';
import type { ListedSession } from './ui-store.ts';

/** An action on several sessions. */
export type BulkAction = 'archive' | 'delete' | 'cancel';

/** The fields of the form for a new session. */
export interface NewSession {
  readonly agentId: string;
  /** The model; empty for the agent's model. */
  readonly model: string;
  /** A directory of the server's machine or a URL; empty for an empty workspace. */
  readonly repository: string;
  /** The budget in US dollars; empty for no budget. */
  readonly budget: string;
  readonly message: string;
}

/** Creates a session and opens it. */
export async function createSession(wanted: NewSession): Promise<void> {
  const session = await api.post<Session>('v1/sessions', {
    ...toSessionParams(wanted),
    environment_id: await ensureEnvironment(),
  });
  await fleet.refreshSessions();
  ui.go({ view: 'session', sessionId: session.id });
}

/** The body that creates the session, without its environment. */
export function toSessionParams({ agentId, model, repository, budget, message }: NewSession): object {
  const dollars = budget.trim();
  const source = repository.trim();
  return {
    agent: model === '' ? agentId : { type: 'agent_with_overrides', id: agentId, model },
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: message.trim() }] }],
    ...(dollars === ''
      ? {}
      : {
          budget: {
            type: 'limit',
            max_list_cost: { amount: String(Math.round(Number(dollars) * 100)), currency: 'USD' },
          },
        }),
    ...(source === '' ? {} : { resources: [toResource(source)] }),
  };
}

/** The resource for a source: a URL is cloned, any other text is a directory of the server's machine. */
function toResource(source: string): object {
  return /^(?:https?|ssh|git):\/\//.test(source)
    ? { type: 'git_repository', url: source }
    : { type: 'directory', path: source };
}

/** Sets the title of a session; an empty one removes it. */
export async function renameSession(sessionId: string, title: string): Promise<void> {
  const record = await api.post<Session>(`v1/sessions/${sessionId}`, {
    title: title.trim() === '' ? null : title.trim(),
  });
  fleet.model.sessions.get(sessionId)?.model.describe(record);
  fleet.notify();
}

/** The sessions that an action applies to: a running one cannot be archived or deleted, and only an active one can be cancelled. */
export function applicableTo<Row extends Pick<ListedSession, 'state' | 'is_read_only'>>(
  action: BulkAction,
  sessions: readonly Row[],
): readonly Row[] {
  return sessions.filter(({ state, is_read_only: isReadOnly }) => {
    const isActive = state === 'running' || state === 'stalled' || state === 'needs_you';
    if (action === 'cancel') return isActive && !isReadOnly;
    return !isActive && (action === 'delete' || state !== 'archived');
  });
}

/** Applies an action to each session. Failures are reported, and do not stop the other sessions. */
export async function applyToAll(action: BulkAction, sessions: readonly ListedSession[]): Promise<void> {
  const queue = [...sessions];
  const problems: string[] = [];
  const work = async () => {
    for (let session = queue.shift(); session !== undefined; session = queue.shift()) {
      try {
        await apply(action, session.id);
      } catch (error) {
        problems.push(error instanceof Error ? error.message : String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: storeLimits.bulkRequestsMax }, work));
  const done = sessions.length - problems.length;
  const [problem] = problems;
  const outcome = `${plural(done, 'session')} ${PAST[action]}.`;
  if (problem === undefined) ui.notify(outcome);
  else ui.notify(`${outcome} ${problems.length} failed: ${problem}`, true);
  sessionList.refresh();
}

const PAST: Readonly<Record<BulkAction, string>> = { archive: 'archived', delete: 'deleted', cancel: 'cancelled' };

function apply(action: BulkAction, sessionId: string): Promise<unknown> {
  switch (action) {
    case 'archive':
      return api.post(`v1/sessions/${sessionId}/archive`, {});
    case 'delete':
      return api.delete(`v1/sessions/${sessionId}`);
    case 'cancel':
      return api.send(sessionId, { type: 'user.interrupt' });
  }
}
