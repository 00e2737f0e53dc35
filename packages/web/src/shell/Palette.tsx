import type { FleetSession } from '@fleetloom/protocol/fleet';
import { useEffect, useState } from 'react';
import { plural } from '../model/format.ts';
import { readSessions, sessionList, ui } from '../stores/stores.ts';
import { Glyph } from '../ui/Glyph.tsx';
import { PickDialog } from '../ui/PickDialog.tsx';
import { findCommands } from './commands.ts';
import { shellLimits } from './limits.ts';

/** The command palette: opens a session, a page, a view or a thread, or runs an action, by a few letters of its name. */
export function Palette() {
  const [text, setText] = useState('');
  const { sessions, status } = useFoundSessions(text);
  return (
    <PickDialog
      label="Command palette"
      placeholder="A session, an action, a page or a thread …"
      text={text}
      onText={setText}
      items={findCommands(text, sessions)}
      keyOf={({ id }) => id}
      status={status}
      onPick={({ run }) => {
        ui.closeDialog();
        run();
      }}
      show={({ kind, name, keys, state }) => (
        <>
          <span className="quiet">{kind}</span>
          <span className="palette-name">
            {state !== undefined && (
              <span data-ink={state.ink} title={state.word}>
                <Glyph glyph={state.glyph} />
                <span className="hidden-text">{state.word}</span>{' '}
              </span>
            )}
            {name}
          </span>
          {keys !== undefined && <kbd>{keys}</kbd>}
        </>
      )}
      emptyText="No match."
    />
  );
}

interface Found {
  readonly sessions: readonly FleetSession[];
  readonly status: string;
}

/** The sessions that the server finds. Until it has responded, loaded sessions with these words in their names. */
function useFoundSessions(text: string): Found {
  const [found, setFound] = useState<{ readonly text: string; readonly result: Found } | undefined>();
  const q = text.trim();
  useEffect(() => {
    let isOver = false;
    const search = async () => {
      const query = { limit: q === '' ? shellLimits.recentMax : shellLimits.foundMax, archived: q !== '' };
      const { data, total } = await readSessions({ ...query, ...(q === '' ? {} : { q }) });
      const more = total - data.length;
      const status =
        q === ''
          ? 'Recently active sessions'
          : `${plural(total, 'session')} found${more > 0 ? `, ${data.length} shown` : ''}`;
      return { sessions: data, status };
    };
    const timer = setTimeout(
      () =>
        search().then(
          (result) => {
            if (!isOver) setFound({ text: q, result });
          },
          (error: unknown) => {
            if (isOver) return;
            const problem = error instanceof Error ? error.message : String(error);
            setFound({ text: q, result: { sessions: [], status: `Sessions could not be searched: ${problem}` } });
          },
        ),
      q === '' ? 0 : shellLimits.searchMs,
    );
    return () => {
      clearTimeout(timer);
      isOver = true;
    };
  }, [q]);
  if (found?.text === q) return found.result;
  const words = q.toLowerCase().split(/\s+/);
  const isMatch = ({ name }: FleetSession) => words.every((word) => name.toLowerCase().includes(word));
  const known = q === '' ? [] : sessionList.rows.filter(isMatch).slice(0, shellLimits.foundMax);
  return { sessions: known, status: 'Searching sessions …' };
}
