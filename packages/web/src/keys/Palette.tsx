import { useState } from 'react';
import { Modal } from '../app/Modal.tsx';
import { ui } from '../app/stores.ts';
import { findCommands } from './commands.ts';

/** Goes anywhere and does anything by a few letters of its name. */
export function Palette() {
  const [text, setText] = useState('');
  const [index, setIndex] = useState(0);
  const found = findCommands(text);
  const at = Math.min(index, Math.max(0, found.length - 1));
  const run = (place: number) => {
    const command = found[place];
    ui.set({ dialog: undefined });
    command?.run();
  };
  return (
    <Modal label="Go to or do" className="palette">
      <input
        role="combobox"
        aria-label="Go to or do"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length === 0 ? undefined : `command-${at}`}
        placeholder="A thread, a session, something to do …"
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setIndex(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault();
            setIndex(Math.max(0, Math.min(found.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1))));
          } else if (event.key === 'Enter') {
            event.preventDefault();
            run(at);
          }
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Found">
        {found.map((command, place) => (
          <li
            key={command.id}
            id={`command-${place}`}
            role="option"
            aria-selected={place === at}
            onClick={() => run(place)}
            onPointerMove={() => setIndex(place)}
          >
            <span className="quiet">{command.kind}</span>
            <span className="palette-name">{command.name}</span>
            {command.keys !== undefined && <kbd>{command.keys}</kbd>}
          </li>
        ))}
        {found.length === 0 && (
          <li role="option" aria-selected="false" className="quiet">
            Nothing has that name.
          </li>
        )}
      </ul>
    </Modal>
  );
}
