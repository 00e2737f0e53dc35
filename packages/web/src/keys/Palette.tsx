import { useState } from 'react';
import { Glyph } from '../app/Glyph.tsx';
import { PickDialog } from '../app/PickDialog.tsx';
import { ui } from '../app/stores.ts';
import { findCommands } from './commands.ts';

/** Goes anywhere and does anything by a few letters of its name. */
export function Palette() {
  const [text, setText] = useState('');
  return (
    <PickDialog
      label="Go to or do"
      placeholder="A thread, a session, something to do …"
      text={text}
      onText={setText}
      items={findCommands(text)}
      keyOf={({ id }) => id}
      onPick={({ run }) => {
        ui.set({ dialog: undefined });
        run();
      }}
      show={({ kind, name, keys, row }) => (
        <>
          <span className="quiet">{kind}</span>
          <span className="palette-name">
            {row !== undefined && (
              <span data-ink={row.state} title={row.word}>
                <Glyph glyph={row.glyph} />
                <span className="hidden-text">{row.word}</span>{' '}
              </span>
            )}
            {name}
          </span>
          {keys !== undefined && <kbd>{keys}</kbd>}
        </>
      )}
      nothing="Nothing has that name."
    />
  );
}
