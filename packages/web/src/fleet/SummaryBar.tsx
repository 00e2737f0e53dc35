import { memo } from 'react';
import { useTick } from '../ui/use-tick.ts';
import { useSignal } from '../stores/signal.ts';
import { fleet, ui } from '../stores/stores.ts';
import { uiLimits } from '../ui/limits.ts';
import { summarizeDay } from '../model/day-summary.ts';
import { formatCost, formatCount, formatDuration } from '../model/format.ts';
import { type Group } from '../model/summary.ts';
import type { StateId } from '@fleetloom/protocol/fleet';
import { ColumnMenu } from './ColumnMenu.tsx';
import { RequestFigures } from './RequestFigures.tsx';

const groups: readonly {
  readonly group: Group;
  readonly state: StateId;
  readonly glyph: string;
  readonly word: string;
}[] = [
  { group: 'running', state: 'writing', glyph: '▸', word: 'running' },
  { group: 'needs', state: 'needs', glyph: '!', word: 'need you' },
  { group: 'stalled', state: 'stalled', glyph: '…', word: 'stalled' },
  { group: 'failed', state: 'error', glyph: '✗', word: 'failed' },
  { group: 'done', state: 'done', glyph: '✓', word: 'done' },
];

/** The same text as on the Costs page. */
const EXAMPLE = 'Scripted models cost nothing. Those of the demo have an example price.';

const windows = [
  { ms: 60_000, name: '1m' },
  { ms: 300_000, name: '5m' },
  { ms: 1_800_000, name: '30m' },
  { ms: 'all', name: 'all' },
] as const;

/** Counts by state, cost and rates, filter, order and time window. Renders at its own interval, independent of the rows. */
export const SummaryBar = memo(function SummaryBar() {
  useTick(uiLimits.headerMs);
  useSignal(ui.changed);
  useSignal(fleet.replay.changed);
  const summary = fleet.summary();
  const isKnown = fleet.isListed || fleet.replay.isOn;
  const { counts, costUsd, hasUnknownCost, hasExampleCost, tokens, tokensPerSecond, burnPerMinute, budgetUsd } =
    summary;
  const { waitedMs } = summarizeDay(fleet.shown(), fleet.now());
  const bottleneck = waitedMs < 1_000 ? undefined : `You were the bottleneck for ${formatDuration(waitedMs)} today`;
  return (
    <div className="summary">
      <div className="counts" role="group" aria-label="Show only threads">
        <span className="counts-label">Threads</span>
        {groups.map(({ group, state, glyph, word }) => (
          <button
            key={group}
            type="button"
            aria-pressed={ui.group === group}
            data-zero={counts[group] === 0}
            title={group === 'needs' ? bottleneck : undefined}
            onClick={() => ui.set({ group: ui.group === group ? undefined : group })}
          >
            <i data-ink={state} aria-hidden="true">
              {glyph}
            </i>
            <b>{isKnown ? counts[group] : '…'}</b> {group === 'needs' && counts[group] === 1 ? 'needs you' : word}
          </button>
        ))}
      </div>
      <dl className="figures">
        <div>
          <dt title={hasExampleCost ? EXAMPLE : undefined}>{hasExampleCost ? 'example cost' : 'cost'}</dt>
          <dd>
            {formatCost(costUsd)}
            {hasUnknownCost && '+'}
            {budgetUsd !== null && ` of ${formatCost(budgetUsd)}`}
            {budgetUsd !== null && (
              <meter
                min={0}
                max={budgetUsd}
                high={budgetUsd * 0.8}
                value={Math.min(costUsd, budgetUsd)}
                aria-label="budget used"
              />
            )}
          </dd>
        </div>
        <RequestFigures summary={summary} />
        <div>
          <dt>burn</dt>
          <dd>{formatCost(burnPerMinute)}/min</dd>
        </div>
        <div>
          <dt>rate</dt>
          <dd>{formatCount(tokensPerSecond)} tok/s</dd>
        </div>
        <div>
          <dt>tokens</dt>
          <dd>{formatCount(tokens)}</dd>
        </div>
        {bottleneck !== undefined && (
          <div title={bottleneck}>
            <dt>waited for you</dt>
            <dd>{formatDuration(waitedMs)}</dd>
          </div>
        )}
      </dl>
      <input
        id="search"
        type="search"
        className="search"
        placeholder="Filter  /"
        aria-label="Filter threads: text, agent:name, is:error, cost>0.5"
        value={ui.query}
        onChange={(event) => ui.set({ query: event.target.value })}
      />
      <ColumnMenu />
      <div className="choice" role="group" aria-label="Order">
        {(['tree', 'attention'] as const).map((sort) => (
          <button key={sort} type="button" aria-pressed={ui.sort === sort} onClick={() => ui.set({ sort })}>
            {sort}
          </button>
        ))}
      </div>
      <div className="choice" role="group" aria-label="Time shown">
        {windows.map(({ ms, name }) => (
          <button
            key={name}
            type="button"
            aria-pressed={ui.windowMs === ms && ui.windowEnd === undefined}
            onClick={() => ui.set({ windowMs: ms, windowEnd: undefined })}
          >
            {name}
          </button>
        ))}
      </div>
    </div>
  );
});
