import { type FleetSessionState, sessionStates } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { useEffect, useRef, useState } from 'react';
import { formatNumber, plural } from '../model/format.ts';
import { sessionGlyphs } from '../model/session-cells.ts';
import { formatFilter, isFiltered, noFilter, type SessionFilter, sorts } from '../model/session-filter.ts';
import { builtInViews, savedViews } from '../stores/saved-views.ts';
import { useSignal } from '../stores/signal.ts';
import { sessionList, ui } from '../stores/stores.ts';
import { pageLimits } from './limits.ts';
import { showFilter } from './session-page.ts';

// The cast is safe: the keys of this record are the states.
const states = (Object.keys(sessionStates) as FleetSessionState[]).toSorted(
  (left, right) => sessionStates[left].rank - sessionStates[right].rank,
);

/** Search, views, facets with the server's counts, and order. */
export function SessionFilters({ filter }: { filter: SessionFilter }) {
  const { facets } = sessionList;
  return (
    <div className="session-filters">
      <div className="session-search">
        <Search filter={filter} />
        <Choice
          label="Agent"
          values={facets?.agents ?? []}
          chosen={filter.agent}
          onChoose={(agent) => showFilter({ ...filter, agent })}
        />
        <Choice
          label="Model"
          values={facets?.models ?? []}
          chosen={filter.model}
          onChoose={(model) => showFilter({ ...filter, model })}
        />
        <div className="session-choice">
          <select
            aria-label="Sort by"
            value={filter.sort}
            onChange={(event) => {
              // The cast is safe: the options are the keys of this record.
              const sort = event.target.value as SessionFilter['sort'];
              showFilter({ ...filter, sort, order: sorts[sort].order });
            }}
          >
            {Object.entries(sorts).map(([sort, { label }]) => (
              <option key={sort} value={sort}>
                {label}
              </option>
            ))}
          </select>
        </div>
        <button
          data-needs="run"
          type="button"
          className="primary new-session"
          onClick={() => ui.set({ dialog: { type: 'new_session' } })}
        >
          New session <kbd>c</kbd>
        </button>
      </div>
      <div className="session-facets" role="group" aria-label="States">
        {states.map((state) => (
          <button
            key={state}
            type="button"
            aria-pressed={filter.status.includes(state)}
            data-zero={facets?.states[state] === 0}
            onClick={() => showFilter({ ...filter, status: toggled(filter.status, state) })}
          >
            <i data-ink={sessionGlyphs[state].ink} aria-hidden="true">
              {sessionGlyphs[state].glyph}
            </i>
            <b>{facets === undefined ? '…' : formatNumber(facets.states[state])}</b> {sessionStates[state].label}
          </button>
        ))}
      </div>
      <Views filter={filter} />
    </div>
  );
}

function toggled(status: SessionFilter['status'], state: FleetSessionState): SessionFilter['status'] {
  return status.includes(state) ? status.filter((one) => one !== state) : [...status, state];
}

/** The search field. The address and the list are updated shortly after the last typed letter. */
function Search({ filter }: { filter: SessionFilter }) {
  const [text, setText] = useState(filter.q);
  const sent = useRef(filter.q);
  // The filter was changed by the history, a view or a link.
  if (sent.current !== filter.q) {
    sent.current = filter.q;
    setText(filter.q);
  }
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      showFilter({ ...filter, q: text }, true);
    }, pageLimits.searchMs);
    return () => clearTimeout(timer);
  }, [text, filter]);
  return (
    <input
      id="search"
      type="search"
      placeholder="Search sessions  /"
      aria-label="Search sessions: words of the title, the first message or the agent, or the beginning of an id"
      maxLength={pageLimits.searchCharsMax}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly values: readonly { readonly value: string; readonly count: number }[];
  readonly chosen: readonly string[];
  readonly onChoose: (chosen: readonly string[]) => void;
}

/** Selects one value of a facet, or all. A link may choose several values; they are shown as one option. */
function Choice({ label, values, chosen, onChoose }: ChoiceProps) {
  const current = chosen.join(', ');
  const isOther = chosen.length > 0 && (chosen.length > 1 || !values.some(({ value }) => value === current));
  return (
    <div className="session-choice">
      <select
        aria-label={label}
        data-chosen={chosen.length > 0}
        value={isOther ? OTHER : current}
        onChange={(event) => onChoose(event.target.value === '' ? [] : [event.target.value])}
      >
        <option value="">{`${label}: all`}</option>
        {isOther && <option value={OTHER}>{cleanLine(current)}</option>}
        {values.map(({ value, count }) => (
          <option key={value} value={value}>{`${cleanLine(value)} (${formatNumber(count)})`}</option>
        ))}
      </select>
    </div>
  );
}

/** The option for several values; agents and models cannot have this name. */
const OTHER = '\n';

/** Named filters: the built-in views, and the views that the user saved. */
function Views({ filter }: { filter: SessionFilter }) {
  useSignal(savedViews.changed);
  const search = formatFilter(filter);
  const saved = savedViews.all();
  const isSaved = [...builtInViews, ...saved].some((view) => view.search === search);
  return (
    <nav className="session-views" aria-label="Views">
      {builtInViews.map(({ name, search: own }) => (
        <a key={name} href={toHref(own)} aria-current={own === search ? 'true' : undefined}>
          {name}
        </a>
      ))}
      {saved.map(({ name, search: own }) => (
        <span key={name} className="saved-view">
          <a href={toHref(own)} aria-current={own === search ? 'true' : undefined}>
            {cleanLine(name)}
          </a>
          <button type="button" aria-label={`Remove the view ${name}`} onClick={() => savedViews.remove(name)}>
            ×
          </button>
        </span>
      ))}
      {!isSaved && (
        <button type="button" onClick={() => ui.set({ dialog: { type: 'save_view', search } })}>
          Save this view …
        </button>
      )}
      {isFiltered(filter) && (
        <button type="button" onClick={() => showFilter({ ...noFilter, sort: filter.sort, order: filter.order })}>
          Clear filters <kbd>Esc</kbd>
        </button>
      )}
      <span className="session-count" aria-live="polite">
        {sessionList.state === 'ready' && !sessionList.isSwitching ? plural(sessionList.total, 'session') : 'Loading …'}
      </span>
    </nav>
  );
}

function toHref(search: string): string {
  return search === '' ? '#/sessions' : `#/sessions?${search}`;
}
