import type { ResourceFact } from './resource-events.ts';
import type { NewSessionFrame } from '../frames/frames.ts';

/** The body of a webhook request, as the official client reads it. */
export interface WebhookEvent {
  readonly type: 'event';
  /** The id of the event, the same in every attempt. */
  readonly id: string;
  readonly created_at: string;
  readonly data: WebhookEventData;
}

/** The `data` of a webhook event. */
export type WebhookEventData = (WebhookFact | ResourceFact) & {
  /** The id of the session, vault or credential. */
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

/** The session whose frames become webhook events. */
export interface WebhookSession {
  readonly sessionId: string;
  readonly workspaceId: string;
  /** The primary thread. It has no thread events: its events are events of the session. */
  readonly primaryThreadId: string;
}

/** The webhook events of a frame: none, one or two. */
export function toWebhookEvents(session: WebhookSession, frame: NewSessionFrame, seq: number): readonly WebhookEvent[] {
  const facts = toFacts(frame).filter(
    (fact) => !('session_thread_id' in fact) || fact.session_thread_id !== session.primaryThreadId,
  );
  return facts.map((fact, index) =>
    toEvent(session, fact, { position: index === 0 ? `${seq}` : `${seq}_${index}`, time: frame.time }),
  );
}

/** The only event of a deleted session, whose log no longer exists. */
export function toDeletedEvent(session: Omit<WebhookSession, 'primaryThreadId'>, time: number): WebhookEvent {
  return toEvent(session, { type: 'session.deleted' }, { position: 'deleted', time });
}

/** Whether a frame can become an event, whatever its session. */
export function isDeliverable(frame: NewSessionFrame): boolean {
  return toFacts(frame).length > 0;
}

/** Whether an encoded frame can become an event. Most cannot, and need not be parsed. */
export function mayBeDeliverable(bytes: Uint8Array): boolean {
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
    // Sent as soon as the call waits: the session can stay running for long while its other agents work.
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

/** Whether a call requires action only once the program requests an approval: the program may deny it on its own. */
function isOnRequest({ approval }: { readonly approval?: 'on_request' }): boolean {
  return approval === 'on_request';
}

function toEvent(
  { sessionId, workspaceId }: Omit<WebhookSession, 'primaryThreadId'>,
  fact: WebhookFact,
  { position, time }: { readonly position: string; readonly time: number },
): WebhookEvent {
  return {
    type: 'event',
    // The id contains the session: a fork has the frames of its origin.
    id: `whevt_${sessionId.replace(/^sesn_/, '')}_${position}`,
    created_at: new Date(time).toISOString(),
    data: { ...fact, id: sessionId, organization_id: ORGANIZATION, workspace_id: workspaceId },
  };
}

/** The wire format has an organization; a server has exactly one. */
export const ORGANIZATION = 'org_default';
