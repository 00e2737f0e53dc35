import { type Key, type ReactNode, useState } from 'react';
import { Modal } from './Modal.tsx';

interface PickDialogProps<Item> {
  readonly label: string;
  readonly placeholder: string;
  readonly className?: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item, place: number) => Key;
  readonly show: (item: Item) => ReactNode;
  readonly onPick: (item: Item) => void;
  /** What is said above the list, as it changes. */
  readonly state?: string;
  /** What is said instead of an empty list. */
  readonly nothing?: string;
}

/** A field and what fits to it: arrows go through the list, Enter or a click picks one. */
export function PickDialog<Item>(props: PickDialogProps<Item>) {
  const { label, items, text, state, nothing, onPick } = props;
  const [index, setIndex] = useState(0);
  const at = Math.min(index, Math.max(0, items.length - 1));
  const pick = (place: number) => {
    const item = items[place];
    if (item !== undefined) onPick(item);
  };
  const move = (by: 1 | -1) => {
    const next = Math.max(0, Math.min(items.length - 1, at + by));
    setIndex(next);
    document.querySelector(`#picked-${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <Modal label={label} className={`palette ${props.className ?? ''}`}>
      <input
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls="pick-list"
        aria-activedescendant={items.length === 0 ? undefined : `picked-${at}`}
        placeholder={props.placeholder}
        autoFocus
        value={text}
        onChange={(event) => {
          props.onText(event.target.value);
          setIndex(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault();
            move(event.key === 'ArrowDown' ? 1 : -1);
          } else if (event.key === 'Enter') {
            event.preventDefault();
            pick(at);
          }
        }}
      />
      {state !== undefined && (
        <p className="quiet find-state" role="status">
          {state}
        </p>
      )}
      <ul id="pick-list" role="listbox" aria-label="Found">
        {items.map((item, place) => (
          <li
            key={props.keyOf(item, place)}
            id={`picked-${place}`}
            role="option"
            aria-selected={place === at}
            onClick={() => pick(place)}
            onPointerMove={() => setIndex(place)}
          >
            {props.show(item)}
          </li>
        ))}
        {items.length === 0 && nothing !== undefined && (
          <li role="option" aria-selected="false" className="quiet">
            {nothing}
          </li>
        )}
      </ul>
    </Modal>
  );
}
