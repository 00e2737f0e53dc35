import { cutText, toLabel as inputLabel } from '@fleetloom/protocol/fleet';
import { memo, useState } from 'react';
import { formatClock, formatCount, formatSpan } from '../../model/format.ts';
import type { ShownRow } from '../../model/summary.ts';
import { cleanLine, cleanText } from '@fleetloom/protocol/text';
import { LongText } from '../../ui/text/LongText.tsx';
import { Markdown } from '../../ui/text/Markdown.tsx';
import { ToolInput } from '../../ui/text/ToolInput.tsx';
import { ThreadCard } from './ThreadCard.tsx';
import { threadPage } from './thread-page.ts';
import { type Block, type CallBlock, exitCodeOf } from './blocks.ts';

interface BlockProps {
  readonly block: Block;
  readonly row: ShownRow;
  readonly isSelected: boolean;
}

/** One block of a transcript. A click selects it for the inspector. */
export const BlockView = memo(
  function BlockView({ block, row, isSelected }: BlockProps) {
    return (
      <div
        className="block"
        data-block={block.type}
        data-selected={isSelected}
        onClick={() => threadPage.select(block.id)}
      >
        <Body block={block} row={row} />
      </div>
    );
  },
  (before, after) =>
    before.block === after.block && before.isSelected === after.isSelected && before.row.key === after.row.key,
);

function Body({ block, row }: Pick<BlockProps, 'block' | 'row'>) {
  switch (block.type) {
    case 'request':
      return (
        <>
          <span className="request-number">
            request {block.shownNumber}
            {block.attempt > 1 && ` · attempt ${block.attempt}`}
          </span>
          <span>{formatClock(block.at)}</span>
          {block.ms !== null && <span>{formatSpan(block.ms)}</span>}
          {block.tokens !== null && (
            <span>
              {formatCount(block.tokens.input + block.tokens.cacheRead + block.tokens.cacheCreate)} in ·{' '}
              {formatCount(block.tokens.output)} out
            </span>
          )}
          {block.isError && <span data-ink="error">✗ failed</span>}
        </>
      );
    case 'said':
      return (
        <>
          <span className="block-glyph" aria-hidden="true">
            {block.by === 'you' ? '›' : '§'}
          </span>
          <div>
            <b className="by">{block.by}</b>
            <LongText text={block.text} className="said" />
            <Images urls={block.images} />
          </div>
        </>
      );
    case 'text':
      return (
        <>
          <span className="block-glyph" data-ink="writing" aria-hidden="true">
            ▸
          </span>
          <Markdown text={block.text} />
        </>
      );
    case 'thinking':
      return <Thinking text={row.session.tracks.get(row.key)?.thoughts.get(block.request) ?? ''} />;
    case 'call':
      return <Call block={block} />;
    case 'thread':
      return <ThreadCard block={block} row={row} />;
    case 'note':
      return (
        <>
          <span
            className="block-glyph"
            data-ink={block.tone === 'problem' ? 'error' : block.tone === 'needs' ? 'needs' : 'done'}
            aria-hidden="true"
          >
            {block.tone === 'problem' ? '✗' : block.tone === 'needs' ? '!' : '·'}
          </span>
          <span className={block.tone === 'problem' ? 'fault' : 'quiet'}>{cleanText(block.text)}</span>
        </>
      );
  }
}

function Thinking({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <span className="block-glyph" data-ink="thinking" aria-hidden="true">
        ◐
      </span>
      {text === '' ? (
        <span className="quiet">thought</span>
      ) : (
        <div>
          <button type="button" className="fold-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? '▾' : '▸'} thought {!isOpen && <span className="quiet">{cleanLine(cutText(text, 140))}</span>}
          </button>
          {isOpen && <p className="thoughts">{cleanText(text)}</p>}
        </div>
      )}
    </>
  );
}

/** A tool call with its result, which a click expands. */
function Call({ block }: { block: Extract<Block, CallBlock> }) {
  const { result, verdict } = block;
  const [isOpen, setOpen] = useState(false);
  const exitCode = exitCodeOf(block);
  const state =
    result === null ? (block.asked && verdict === null ? 'needs' : 'tool') : result.isError ? 'error' : 'tool';
  const glyph = { needs: '!', tool: '⚙', error: '✗' }[state];
  return (
    <>
      <span className="block-glyph" data-ink={state} aria-hidden="true">
        {glyph}
      </span>
      <div className="call">
        <button type="button" className="fold-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? '▾' : '▸'} <b data-ink={state}>{cleanLine(block.tool)}</b>{' '}
          <code>{cleanLine(inputLabel(block.input))}</code>
          <span className="call-facts">
            {verdict !== null && (verdict.result === 'allow' ? 'approved · ' : 'denied · ')}
            {exitCode !== undefined && `exit ${exitCode} · `}
            {result === null ? (state === 'needs' ? 'needs you' : 'running') : formatSpan(result.ms)}
          </span>
        </button>
        {isOpen && (
          <>
            <ToolInput input={block.input} />
            {verdict !== null && verdict.message !== '' && <blockquote>{cleanText(verdict.message)}</blockquote>}
            {result !== null && (
              <LongText text={result.text === '' ? '(empty)' : result.text} className={result.isError ? 'wrong' : ''} />
            )}
            <Images urls={result?.images ?? []} />
          </>
        )}
        {!isOpen && result?.isError === true && (
          <p className="fault one-line">{cleanLine(cutText(result.text, 300))}</p>
        )}
      </div>
    </>
  );
}

function Images({ urls }: { urls: readonly string[] }) {
  return urls.map((url, index) => <img key={index} className="shown-image" src={url} alt={`Image ${index + 1}`} />);
}
