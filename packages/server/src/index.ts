/** The ground of the server: time, ids, errors and limits. Sessions, stores and doors stand on it. */
export { type Clock, createManualClock, type ManualClock, systemClock } from './base/clock.ts';
export { type ErrorKind, FleetloomError, type FleetloomErrorFields } from './base/errors.ts';
export { createIds, type Id, type IdPrefix, type Ids, type IdSources } from './base/ids.ts';
export { limits } from './base/limits.ts';
