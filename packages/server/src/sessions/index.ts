/** Sessions: agents at work, as a state machine on the log. */
export type { ClientEvent, ClientInput } from './client-event.ts';
export type { CreateSession } from './create-session.ts';
export type { ImportedStep } from './imports/imported-step.ts';
export { createImports, type Imports } from './imports/imports.ts';
export type { FramePayloads, FrameType, SessionFrame } from '../frames/frames.ts';
export { toSessionFrame } from '../frames/frames.ts';
export { readState } from './read-state.ts';
export type { SessionData, ThreadData } from '../frames/record-data.ts';
export type { ModelFacts } from './run-request.ts';
export type { Sent } from './send-events.ts';
export {
  createSessions,
  type SendToSession,
  type Sessions,
  type UpdateSession,
} from './sessions.ts';
export { createRetention, type KeepDeltas } from './retention.ts';
