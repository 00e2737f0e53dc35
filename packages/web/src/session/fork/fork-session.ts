import { cutText } from '@fleetloom/protocol/fleet';
import type {
  MountedResource,
  Page,
  Session,
  SessionCreateParams,
  SessionEvent,
  SessionResourceParams,
} from '@fleetloom/protocol/managed-agents';
import { api } from '../../stores/connection/api.ts';

/** The differences between the new session and the original. */
export interface Changes {
  readonly message: string;
  readonly model: string;
  readonly system: string;
}

/** Runs a session again from its beginning, with the same agent version, environment and resources, apart from the changes. */
export function toRerun(record: Session, { message, model, system }: Changes): SessionCreateParams {
  const { agent, environment_id, resources, title } = record;
  // The casts: the types are those of the hosted API, which has fewer kinds of resources.
  const again = (resources as readonly MountedResource[]).map(toParams) as unknown as SessionResourceParams[];
  return {
    agent: toAgent(agent, { model, system }),
    environment_id,
    title: cutText(`${title ?? agent.name} (again)`, TITLE_CHARS),
    resources: again,
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: message }] }],
  };
}

/** A resource as a client requests it. Tokens are never returned, so a private repository needs a credential of a vault. */
function toParams(resource: MountedResource): object {
  switch (resource.type) {
    case 'file':
      return { type: resource.type, file_id: resource.file_id, mount_path: resource.mount_path };
    case 'directory': {
      const { type, path, mode, commit, include_uncommitted, copy, setup } = resource;
      // The files that the first run began with.
      return { type, path, mode, setup, ...(mode === 'worktree' ? { base: commit, include_uncommitted, copy } : {}) };
    }
    default: {
      const { id: _, created_at: __, updated_at: ___, ...params } = resource;
      return params;
    }
  }
}

/** Forks a session at a cursor; without one, at its end. */
export function toFork(record: Session, { model, system }: Omit<Changes, 'message'>, at: string | undefined): object {
  const { agent, title } = record;
  const isSame = model === agent.model.id && system === (agent.system ?? '');
  return {
    title: cutText(`${title ?? agent.name} (fork)`, TITLE_CHARS),
    ...(at === undefined ? {} : { at }),
    ...(isSame ? {} : { agent: toAgent(agent, { model, system }) }),
  };
}

function toAgent(agent: Session['agent'], { model, system }: Omit<Changes, 'message'>): SessionCreateParams['agent'] {
  return {
    type: 'agent_with_overrides',
    id: agent.id,
    version: agent.version,
    ...(model === agent.model.id ? {} : { model }),
    ...(system === (agent.system ?? '') ? {} : { system }),
  };
}

const TITLE_CHARS = 200;

/** The first user message of a session. */
export async function firstMessage(sessionId: string): Promise<string> {
  const path = `v1/sessions/${sessionId}/events?types[]=user.message&limit=1`;
  const { data } = await api.get<Page<SessionEvent>>(path);
  const [first] = data;
  if (first?.type !== 'user.message') return '';
  return first.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
