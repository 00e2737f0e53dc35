import { type Key, type ReactNode, useState } from 'react';
import { Modal } from './Modal.tsx';

interface PickDialogProps<Item> {
  readonly label: string;
  readonly placeholder: string;
  readonly className?: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item, index: number) => Key;
  readonly show: (item: Item) => ReactNode;
  readonly onPick: (item: Item) => void;
  /** Status above the list. */
  readonly status?: string;
  /** The text that is shown instead of an empty list. */
  readonly emptyText?: string;
}

/** A text field and the list of its matches: arrow keys move through the list, Enter or a click picks an item. */
export function PickDialog<Item>(props: PickDialogProps<Item>) {
  const { label, items, text, status, emptyText, onPick } = props;
  // Selected by key, because matches that arrive later must not change the selection.
  const [wanted, setWanted] = useState<Key | undefined>();
  const selected = Math.max(
    0,
    items.findIndex((item, index) => props.keyOf(item, index) === wanted),
  );
  const pick = (index: number) => {
    const item = items[index];
    if (item !== undefined) onPick(item);
  };
  const select = (index: number) => {
    const item = items[index];
    if (item !== undefined) setWanted(props.keyOf(item, index));
  };
  const move = (by: 1 | -1) => {
    const next = Math.max(0, Math.min(items.length - 1, selected + by));
    select(next);
    document.querySelector(`#picked-${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <Modal label={label} className={`palette ${props.className ?? ''}`}>
      <input
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls="pick-list"
        aria-activedescendant={items.length === 0 ? undefined : `picked-${selected}`}
        placeholder={props.placeholder}
        autoFocus
        value={text}
        onChange={(event) => {
          props.onText(event.target.value);
          setWanted(undefined);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault();
            move(event.key === 'ArrowDown' ? 1 : -1);
          } else if (event.key === 'Enter') {
            event.preventDefault();
            pick(selected);
          }
        }}
      />
      {status !== undefined && (
        <p className="quiet find-state" role="status">
          {status}
        </p>
      )}
      <ul id="pick-list" role="listbox" aria-label="Matches">
        {items.map((item, index) => (
          <li
            key={props.keyOf(item, index)}
            id={`picked-${index}`}
            role="option"
            aria-selected={index === selected}
            onClick={() => pick(index)}
            onPointerMove={() => select(index)}
          >
            {props.show(item)}
          </li>
        ))}
        {items.length === 0 && emptyText !== undefined && (
          <li role="option" aria-selected="false" className="quiet">
            {emptyText}
          </li>
        )}
      </ul>
    </Modal>
  );
}
