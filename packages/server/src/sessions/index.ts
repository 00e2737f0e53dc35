/** Sessions: agents at work, as a state machine on the log. */
export type { ClientEvent } from './client-event.ts';
export type { ImportedStep } from './imports/imported-step.ts';
export { createImports, type Imports } from './imports/imports.ts';
export { createHealthFinder, type HealthNodes } from './owner/find-health.ts';
export type { SharedParts } from './open-session.ts';
export { createRetention, type KeepDeltas } from './retention.ts';
export type { ModelFacts } from './run-request.ts';
export type { Sent } from './send-events.ts';
export { createSessions, type Sessions } from './sessions.ts';
export { writeStateCheckpoint } from './write-state-checkpoint.ts';
