import type { ShownSession } from '../stores/fleet-store.ts';
import { Glyph } from '../ui/Glyph.tsx';
import { fleet } from '../stores/stores.ts';
import { cleanLine } from '@fleetloom/protocol/text';
import { nameOfSession } from '../model/name-of-session.ts';
import { threadPage } from './transcript/thread-page.ts';
import { MiniLane } from './MiniLane.tsx';

/** The threads of the session as a tree, each with a small lane. */
export function ThreadTree({ shown, selectedKey }: { shown: ShownSession; selectedKey: string }) {
  const { session, rows } = shown;
  const span = {
    from: session.firstAt ?? fleet.now() - 1_000,
    to: fleet.replay.isOn ? fleet.replay.replay!.endedAt : (session.slots.lastAt ?? fleet.now()),
  };
  const { isTreeOpen: isOpen } = threadPage;
  return (
    <>
      {isOpen && (
        <button
          type="button"
          className="drawer-back"
          aria-label="Close the threads"
          onClick={() => threadPage.closeTree()}
        />
      )}
      <nav className="thread-tree" aria-label="Threads of this session" data-open={isOpen}>
        <p className="thread-session" title={session.id}>
          {nameOfSession(session)}
        </p>
        {rows.map((row) => (
          <a
            key={row.key}
            onClick={() => threadPage.closeTree()}
            href={`#/session/${row.sessionId}/${row.threadId ?? ''}`}
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
    </>
  );
}
