/** Sessions: a pure state machine on the log (core), its execution (runtime), and what routes call (api). See README.md. */
export type { ClientEvent } from './core/client-event.ts';
export type { Control, ImportedAnswer } from './api/imports/apply-control.ts';
export type { ImportedStep } from './api/imports/imported-step.ts';
export { createImports, type Imports } from './api/imports/imports.ts';
export { type ControlProgram, createProgramControl } from './runtime/owner/control-program.ts';
export { createHealthFinder } from './runtime/owner/find-health.ts';
export type { SharedParts } from './runtime/open-session.ts';
export type { PrepareWorkspace } from './runtime/prepare-workspace.ts';
export type { ControlOutcome, SessionControl } from './runtime/program/control-session.ts';
export { createRetention, type KeepDeltas } from './api/retention.ts';
export type { ModelFacts } from './runtime/run-request.ts';
export type { Sent } from './api/send-events.ts';
export { createSessions, type Sessions } from './api/sessions.ts';
export { writeStateCheckpoint } from './runtime/write-state-checkpoint.ts';
export { readState } from './runtime/read-state.ts';
export { toSummary } from './core/state/to-summary.ts';
