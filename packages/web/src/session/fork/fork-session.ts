import { cutText } from '@fleetloom/protocol/fleet';
import type { Page, Session, SessionCreateParams, SessionEvent } from '@fleetloom/protocol/managed-agents';
import { api } from '../../stores/connection/api.ts';

/** The differences between the new session and the original. */
export interface Changes {
  readonly message: string;
  readonly model: string;
  readonly system: string;
}

/** Runs a session again from its beginning, with the same agent version, environment and files, apart from the changes. */
export function toRerun(record: Session, { message, model, system }: Changes): SessionCreateParams {
  const { agent, environment_id, resources, title } = record;
  const files = resources.flatMap((one) =>
    one.type === 'file' ? [{ type: 'file' as const, file_id: one.file_id, mount_path: one.mount_path }] : [],
  );
  return {
    agent: toAgent(agent, { model, system }),
    environment_id,
    title: cutText(`${title ?? agent.name} (again)`, TITLE_CHARS),
    resources: files,
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: message }] }],
  };
}

/** The body that forks a session at a cursor; without a cursor, at its end. */
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
