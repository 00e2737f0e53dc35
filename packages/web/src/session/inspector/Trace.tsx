import { toHash } from '../../stores/ui-store.ts';
import type { ShownRow } from '../../model/summary.ts';
import { CopyLine } from '../../ui/text/CopyLine.tsx';
import { traceIdOf } from '../export/trace-ids.ts';
import type { Block } from '../transcript/blocks.ts';

/** The ids of a block, its thread and its session, to copy. */
export function Trace({ row, block }: { row: ShownRow; block: Block | undefined }) {
  const { sessionId, threadId } = row;
  const hash = toHash({ view: 'session', sessionId, threadId: threadId ?? undefined, eventId: block?.id });
  const names: readonly (readonly [name: string, value: string | null | undefined])[] = [
    ['trace id (as in the OTLP export)', traceIdOf(sessionId)],
    ['session', sessionId],
    ['thread', threadId],
    ['event', block?.id],
    ['link', `${location.origin}${location.pathname}${hash}`],
  ];
  return (
    <dl className="trace">
      {names.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value == null ? '–' : <CopyLine text={value} />}</dd>
        </div>
      ))}
    </dl>
  );
}
