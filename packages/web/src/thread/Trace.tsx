import { toHash } from '../app/ui-store.ts';
import type { ShownRow } from '../model/summary.ts';
import { CopyLine } from '../text/CopyLine.tsx';
import { traceIdOf } from './trace-ids.ts';
import type { Block } from './transcript.ts';

/** The names under which a block, its thread and its session are found elsewhere, each to be copied. */
export function Trace({ row, block }: { row: ShownRow; block: Block | undefined }) {
  const { sessionId, threadId } = row;
  const hash = toHash({ view: 'thread', sessionId, threadId: threadId ?? undefined, eventId: block?.id });
  const names: readonly (readonly [name: string, value: string | null | undefined])[] = [
    ['trace, as the OTLP export has it', traceIdOf(sessionId)],
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
