import { encodeEvent } from '../../sse/index.ts';
import type { FleetEvent } from './events.ts';

/** An event as SSE text: its cursor as the id, its type as the name, and the rest as one line of JSON. */
export function encodeFleetEvent(event: FleetEvent): string {
  const { type, cursor, ...fields } = event;
  const isUnknown = event.type === 'unknown';
  const data = isUnknown ? event.value : fields;
  return encodeEvent({
    ...(cursor === '' ? {} : { id: cursor }),
    event: isUnknown ? event.name : type,
    data: typeof data === 'string' ? data : JSON.stringify(data),
  });
}
