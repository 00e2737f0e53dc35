import type { NewSessionFrame } from '../frames/frames.ts';

/** What receivers are sent, as the official client reads it. */
export interface WebhookEvent {
  readonly type: 'event';
  /** The same however often it is sent. */
  readonly id: string;
  readonly created_at: string;
  readonly data: WebhookEventData;
}

export type WebhookEventData = WebhookFact & {
  /** Of the session. */
  readonly id: string;
  readonly organization_id: string;
  readonly workspace_id: string;
};

type WebhookFact =
  | {
      readonly type: `session.${'created' | 'updated' | 'archived' | 'deleted' | 'requires_action' | 'budget_reached'}`;
    }
  | { readonly type: `session.status_${'run_started' | 'idled' | 'rescheduled' | 'terminated'}` }
  | {
      readonly type: `session.thread_${'created' | 'idled' | 'terminated'}`;
      readonly session_thread_id: string;
    };

export interface ToldSession {
  readonly sessionId: string;
  readonly workspaceId: string;
  /** What it does is told as what the session does. */
  readonly primaryThreadId: string;
}

/** The events that a frame is told as: none, one or two. */
export function toWebhookEvents(session: ToldSession, frame: NewSessionFrame, seq: number): readonly WebhookEvent[] {
  const facts = toFacts(frame).filter(
    (fact) => !('session_thread_id' in fact) || fact.session_thread_id !== session.primaryThreadId,
  );
  return facts.map((fact, index) =>
    toEvent(session, fact, { place: index === 0 ? `${seq}` : `${seq}_${index}`, time: frame.time }),
  );
}

/** The log of a deleted session is gone, so nothing but this can be told of it. */
export function toDeletedEvent(session: Omit<ToldSession, 'primaryThreadId'>, time: number): WebhookEvent {
  return toEvent(session, { type: 'session.deleted' }, { place: 'deleted', time });
}

/** Whether a frame may be told, before anything is known of its session. */
export function isTold(frame: NewSessionFrame): boolean {
  return toFacts(frame).length > 0;
}

/** What every line of the log has in it that may be told. Most have not, and need not be parsed. */
export function mayBeTold(bytes: Uint8Array): boolean {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return line.includes('"session.') || line.includes('tool_use"') || line.includes('"approval.requested"');
}

function toFacts({ type, payload }: NewSessionFrame): readonly WebhookFact[] {
  switch (type) {
    case 'session.created':
    case 'session.updated':
    case 'session.status_rescheduled':
      return [{ type }];
    case 'session.status_running':
      return [{ type: 'session.status_run_started' }];
    case 'session.status_idle':
      return [
        { type: 'session.status_idled' },
        ...(payload.stop_reason.type === 'budget_reached' ? [{ type: 'session.budget_reached' as const }] : []),
      ];
    case 'session.status_terminated':
      return [{ type }, ...(payload.is_archived ? [{ type: 'session.archived' as const }] : [])];
    case 'session.thread_created':
      return [{ type, session_thread_id: payload.session_thread_id }];
    case 'session.thread_status_idle':
      return [{ type: 'session.thread_idled', session_thread_id: payload.session_thread_id }];
    case 'session.thread_status_terminated':
      return [{ type: 'session.thread_terminated', session_thread_id: payload.session_thread_id }];
    // As soon as it waits: the session itself may go on for long, while other agents of it are at work.
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
      return payload.evaluated_permission === 'ask' && !isOnRequest(payload) ? requiresAction : [];
    case 'agent.custom_tool_use':
      return isOnRequest(payload) ? [] : requiresAction;
    case 'approval.requested':
      return requiresAction;
    default:
      return [];
  }
}

const requiresAction = [{ type: 'session.requires_action' as const }];

/** A program may refuse such a call on its own: it requires action only once the program asks. */
function isOnRequest({ approval }: { readonly approval?: 'on_request' }): boolean {
  return approval === 'on_request';
}

function toEvent(
  { sessionId, workspaceId }: Omit<ToldSession, 'primaryThreadId'>,
  fact: WebhookFact,
  { place, time }: { readonly place: string; readonly time: number },
): WebhookEvent {
  return {
    type: 'event',
    // By the session too: a fork has the events of its origin, with their ids.
    id: `whevt_${sessionId.replace(/^sesn_/, '')}_${place}`,
    created_at: new Date(time).toISOString(),
    data: { ...fact, id: sessionId, organization_id: ORGANIZATION, workspace_id: workspaceId },
  };
}

/** There is one, and nothing else speaks of it. */
const ORGANIZATION = 'org_default';
