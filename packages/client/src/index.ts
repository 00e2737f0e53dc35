/** Reads Fleetloom's event streams, in Node and in browsers. */
export { openEvents, type OpenEventsOptions } from './open-events.ts';
export { readEvents } from './read-events.ts';
export { ResponseError } from './response-error.ts';
