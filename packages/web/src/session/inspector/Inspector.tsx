import { useState } from 'react';
import { formatCost, formatNumber, formatSpan } from '../../model/format.ts';
import { textLimits } from '../../ui/text/limits.ts';
import { changesOf } from '../../model/changes.ts';
import type { ShownRow } from '../../model/summary.ts';
import { cleanLine } from '@fleetloom/protocol/text';
import { Diff } from '../../ui/text/Diff.tsx';
import { LongText } from '../../ui/text/LongText.tsx';
import { ToolInput } from '../../ui/text/ToolInput.tsx';
import { Decision } from './Decision.tsx';
import { Deltas } from './Deltas.tsx';
import { decisionIdOf } from './find-decision.ts';
import { Raw } from './Raw.tsx';
import type { ThreadEvents } from '../transcript/thread-events.ts';
import { Trace } from './Trace.tsx';
import { threadPage } from '../transcript/thread-page.ts';
import { type Block, exitCodeOf } from '../transcript/blocks.ts';

const tabs = ['Event', 'Tool I/O', 'Diff', 'Deltas', 'Usage', 'Raw', 'Trace'] as const;
type Tab = (typeof tabs)[number];

/** Details of the selected block: its events, tool input and output, diff, deltas, usage, log lines, ids. */
export function Inspector({ row, events }: { row: ShownRow; events: ThreadEvents | undefined }) {
  const [tab, setTab] = useState<Tab>('Event');
  const blocks = events?.blocks ?? [];
  const block = blocks.find(({ id }) => id === threadPage.selectedId);
  return (
    <aside className="inspector" aria-label="Inspector">
      <div
        role="tablist"
        aria-label="Details"
        onKeyDown={(event) => {
          const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
          if (by === 0) return;
          const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length]!;
          setTab(next);
          document.querySelector<HTMLElement>(`[role=tab][id="tab-${next}"]`)?.focus();
        }}
      >
        {tabs.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={tab === name}
            aria-controls="inspected"
            tabIndex={tab === name ? 0 : -1}
            onClick={() => setTab(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div id="inspected" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        <Panel tab={tab} block={block} blocks={blocks} row={row} />
      </div>
    </aside>
  );
}

function Panel({
  tab,
  block,
  blocks,
  row,
}: {
  tab: Tab;
  block: Block | undefined;
  blocks: readonly Block[];
  row: ShownRow;
}) {
  if (tab === 'Usage') return <Usage row={row} blocks={blocks} />;
  if (tab === 'Deltas') return <Deltas row={row} block={block} blocks={blocks} />;
  if (tab === 'Trace') return <Trace row={row} block={block} />;
  if (block === undefined) return <p className="quiet">Select a block: click it, or press j and k.</p>;
  if (tab === 'Event') {
    return block.events.map((event) => (
      <LongText key={`${event.id} ${event.type}`} text={JSON.stringify(event, null, 2)} />
    ));
  }
  if (tab === 'Raw') return <Raw sessionId={row.sessionId} block={block} />;
  if (tab === 'Diff') return <Changes block={block} />;
  if (block.type !== 'call') return <p className="quiet">This block is not a tool call.</p>;
  const exitCode = exitCodeOf(block);
  const decisionId = decisionIdOf(block);
  return (
    <>
      <h2>in</h2>
      <ToolInput input={block.input} />
      {decisionId !== undefined && <Decision sessionId={row.sessionId} eventId={decisionId} />}
      <h2>
        out{' '}
        {block.result !== null && (
          <span className="quiet">
            {formatSpan(block.result.ms)}
            {exitCode !== undefined && ` · exit ${exitCode}`}
          </span>
        )}
      </h2>
      {block.result === null ? (
        <p className="quiet">no result yet</p>
      ) : (
        <LongText text={block.result.text} className={block.result.isError ? 'wrong' : ''} />
      )}
    </>
  );
}

/** The file changes of a call. */
function Changes({ block }: { block: Block }) {
  const changes = block.type === 'call' ? changesOf(block.input) : [];
  if (changes.length === 0) return <p className="quiet">This block does not change files.</p>;
  return changes.map(({ path, before, after }, index) => (
    <div key={index} className="tool-input">
      <p className="path">{cleanLine(path)}</p>
      {before.length + after.length > textLimits.shownCharsMax ? (
        <LongText text={after} className="added" />
      ) : (
        <Diff before={before} after={after} />
      )}
    </div>
  ));
}

/** Tokens per model request and their sum. */
function Usage({ row, blocks }: { row: ShownRow; blocks: readonly Block[] }) {
  const requests = blocks.flatMap((block) =>
    block.type === 'request' && block.tokens !== null ? [{ ...block.tokens, number: block.shownNumber }] : [],
  );
  const sum = (field: 'input' | 'output' | 'cacheRead' | 'cacheCreate') =>
    requests.reduce((total, one) => total + one[field], 0);
  return (
    <>
      <table className="usage">
        <thead>
          <tr>
            <th scope="col">request</th>
            <th scope="col">in</th>
            <th scope="col">cache read</th>
            <th scope="col">cache write</th>
            <th scope="col">out</th>
          </tr>
        </thead>
        <tbody>
          {requests.map((one, index) => (
            <tr key={index}>
              <td>{one.number}</td>
              <td>{formatNumber(one.input)}</td>
              <td>{formatNumber(one.cacheRead)}</td>
              <td>{formatNumber(one.cacheCreate)}</td>
              <td>{formatNumber(one.output)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>Σ</td>
            <td>{formatNumber(sum('input'))}</td>
            <td>{formatNumber(sum('cacheRead'))}</td>
            <td>{formatNumber(sum('cacheCreate'))}</td>
            <td>{formatNumber(sum('output'))}</td>
          </tr>
        </tfoot>
      </table>
      <p className="quiet">
        Fleet stream: {formatNumber(row.usage.inputTokens)} in, {formatNumber(row.usage.outputTokens)} out,{' '}
        {formatCost(row.usage.costUsd)}.
      </p>
    </>
  );
}
