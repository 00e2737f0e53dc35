import { cutText } from '@fleetloom/protocol/fleet';
import { useState } from 'react';
import { textLimits } from './limits.ts';
import { formatBytes } from '../../model/format.ts';
import { cleanText } from '@fleetloom/protocol/text';
import { toPieces } from './pieces.ts';

/** A text of any length: its beginning, and on request the whole text, in pieces that the browser lays out when they become visible. */
export function LongText({ text, className = '' }: { text: string; className?: string }) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= textLimits.shownCharsMax) return <pre className={`plain ${className}`}>{cleanText(text)}</pre>;
  const pieces = isWhole ? toPieces(text) : [cutText(text, textLimits.shownCharsMax)];
  return (
    <div className="long-text">
      {pieces.map((piece, index) => (
        <pre key={index} className={`plain piece ${className}`}>
          {cleanText(piece)}
        </pre>
      ))}
      <button type="button" onClick={() => setWhole(!isWhole)}>
        {isWhole ? 'show less' : `show all ${formatBytes(text.length)}`}
      </button>
    </div>
  );
}
