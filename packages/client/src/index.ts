/** Reads Fleetloom's event streams, in Node and in browsers. */
export { isCutOff, toContinueMessage } from './continue-message.ts';
export { listFleetSessions, type ListFleetSessionsOptions } from './list-fleet-sessions.ts';
export { openEvents, type OpenEventsOptions } from './open-events.ts';
export { readEvents } from './read-events.ts';
export { ResponseError } from './response-error.ts';
export { ServerClock } from './server-clock.ts';
export { type ConnectionState, type FleetWatch, watchFleet, type WatchFleetOptions } from './watch-fleet.ts';
export { type WatchFleetCode, WatchFleetError } from './watch-fleet-error.ts';
export type { Schedule } from './watch-fleet-schedule.ts';
