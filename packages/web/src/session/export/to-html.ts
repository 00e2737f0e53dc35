import { cutText, toLabel as inputLabel, tokensOf } from '@fleetloom/protocol/fleet';
import { formatClock, formatCost, formatCount, formatSpan } from '../../model/format.ts';
import { sessionLimits } from '../transcript/limits.ts';
import { textLimits } from '../../ui/text/limits.ts';
import { cleanLine, cleanText } from '@fleetloom/protocol/text';
import type { WholeThread } from '../transcript/collect-session.ts';
import type { Block, CallBlock } from '../transcript/blocks.ts';

/** The content of an exported page. */
export interface HtmlExport {
  readonly title: string;
  readonly sessionId: string;
  readonly threads: readonly WholeThread[];
  /** Renders text of agents as sanitized HTML. */
  readonly render: (text: string) => string;
}

/**
 * A session as one self-contained page: all threads, their calls collapsed. Agent text is untrusted in a file too: everything is
 * escaped or sanitized, and the page's content security policy forbids scripts, images and connections.
 */
export function toHtml({ title, sessionId, threads, render }: HtmlExport): string {
  let left: number = sessionLimits.exportCharsMax;
  const sections = threads.map(({ row, blocks }, index) => {
    const parts: string[] = [];
    for (const block of blocks) {
      if (left <= 0) continue;
      const part = toPart(block, render);
      left -= part.length;
      parts.push(part);
    }
    const { usage, slot } = row;
    const facts = [
      row.word,
      slot.model ?? '',
      `${formatCount(tokensOf(usage))} tokens`,
      formatCost(usage.costUsd),
      row.threadId ?? '',
    ];
    return `<section id="t${index}"><h2>${escape(nameOf(row))}</h2><p class="q">${escape(facts.join(' · '))}</p>${parts.join('')}</section>`;
  });
  const links = threads.map(
    ({ row }, index) => `<li style="margin-left:${row.level}em"><a href="#t${index}">${escape(nameOf(row))}</a></li>`,
  );
  const cut = left > 0 ? '' : '<p><b>The page is cut here because of its size. The NDJSON export is complete.</b></p>';
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><meta name="viewport" content="width=device-width"><title>${escape(title)}</title><style>${STYLE}</style></head><body><h1>${escape(title)}</h1><p class="q">${escape(sessionId)} · exported by Fleetloom</p><ul>${links.join('')}</ul>${sections.join('')}${cut}</body></html>`;
}

function toPart(block: Block, render: (text: string) => string): string {
  switch (block.type) {
    case 'request':
      return `<hr><p class="q">request ${block.shownNumber}${block.attempt > 1 ? ` · attempt ${block.attempt}` : ''} · ${formatClock(block.at)}${block.ms === null ? '' : ` · ${formatSpan(block.ms)}`}</p>`;
    case 'said':
      return `<blockquote><b>${escape(block.by)}</b><pre>${escape(block.text)}</pre></blockquote>`;
    case 'text':
      return `<div>${block.text.length > textLimits.markdownCharsMax ? `<pre>${escape(block.text)}</pre>` : render(block.text)}</div>`;
    case 'thinking':
      return '';
    case 'call':
      return toCall(block);
    case 'thread':
      return `<details><summary>${block.direction} <b>${escape(block.agent)}</b> ${escape(cleanLine(cutText(block.text, 120)))}</summary><pre>${escape(block.text)}</pre></details>`;
    case 'note':
      return `<p class="${block.tone === 'problem' ? 'e' : 'q'}">${escape(block.text)}</p>`;
  }
}

function toCall({ tool, input, verdict, result }: CallBlock): string {
  const facts = [
    verdict === null ? '' : verdict.result === 'allow' ? 'approved' : 'denied',
    result === null ? 'no result' : formatSpan(result.ms),
    result?.isError === true ? 'failed' : '',
  ].filter((fact) => fact !== '');
  const why = verdict === null || verdict.message === '' ? '' : `<p>${escape(verdict.message)}</p>`;
  const out = result === null ? '' : `<pre class="${result.isError ? 'e' : ''}">${escape(result.text)}</pre>`;
  return `<details><summary><b>${escape(tool)}</b> <code>${escape(cleanLine(inputLabel(input)))}</code> <span class="q">${escape(facts.join(' · '))}</span></summary><pre>${escape(JSON.stringify(input, null, 2) ?? '')}</pre>${why}${out}</details>`;
}

function nameOf({ agent, ordinal }: WholeThread['row']): string {
  return ordinal > 0 ? `${agent} ${ordinal}` : agent;
}

function escape(text: string): string {
  return cleanText(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE =
  ':root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}pre,code{font:13px/1.45 ui-monospace,monospace}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.5rem .7rem;border-radius:6px}ul{list-style:none;padding:0;columns:14rem}summary{cursor:pointer;overflow-wrap:anywhere}details{border:1px solid #8884;border-radius:6px;padding:.3rem .7rem;margin:.4rem 0}.q{opacity:.7;font-size:13px}.e{color:#c04a00}hr{border:0;border-top:1px solid #8884;margin-top:1.2rem}blockquote{border-left:3px solid #56b4e9;margin:.5rem 0;padding-left:.8rem}table{border-collapse:collapse}td,th{border:1px solid #8884;padding:.2rem .6rem}';
