import { type FleetCursor, parseCursor } from './fleet-cursor.ts';

/** Splits bytes of a fleet stream into events, each with its cursor and its exact text. */
export function splitEvents(bytes: Uint8Array): (FleetCursor & { readonly text: string })[] {
  const texts = Buffer.from(bytes).toString().split('\n\n').slice(0, -1);
  return texts.map((text) => ({ ...parseCursor(/^id: (.*)$/m.exec(text)![1]!)!, text: `${text}\n\n` }));
}
