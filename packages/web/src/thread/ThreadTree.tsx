import type { ShownSession } from '../app/fleet-store.ts';
import { Glyph } from '../app/Glyph.tsx';
import { fleet } from '../app/stores.ts';
import { cleanLine } from '../text/clean-text.ts';
import { MiniLane } from './MiniLane.tsx';

/** The threads of the session, with what they did in the width of a thumb. */
export function ThreadTree({ shown, selectedKey }: { shown: ShownSession; selectedKey: string }) {
  const { session, rows } = shown;
  const span = {
    from: session.firstAt ?? fleet.now() - 1_000,
    to: fleet.replay.isOn ? fleet.replay.replay!.endedAt : (session.slots.lastAt ?? fleet.now()),
  };
  return (
    <nav className="thread-tree" aria-label="Threads of this session">
      <p className="thread-session" title={session.id}>
        {cleanLine(session.record?.title ?? session.id)}
      </p>
      {rows.map((row) => (
        <a
          key={row.key}
          href={`#/thread/${row.sessionId}/${row.threadId ?? ''}`}
          aria-current={row.key === selectedKey ? 'true' : undefined}
          style={{ paddingLeft: 12 + row.level * 12 }}
        >
          <span data-ink={row.state} title={row.word}>
            <Glyph glyph={row.glyph} />
            <span className="hidden-text">{row.word}</span>
          </span>
          <span className="thread-name">
            {cleanLine(row.agent)}
            {row.ordinal > 0 && <span className="ordinal">{row.ordinal}</span>}
          </span>
          <MiniLane track={session.tracks.get(row.key)} span={span} now={fleet.now()} />
        </a>
      ))}
    </nav>
  );
}
