import { useState } from 'react';
import { inBackground } from '../../stores/connection/in-background.ts';

/** Copies a text to the clipboard; `isCopied` is true for a moment afterwards. */
export function useCopy(text: string): { readonly isCopied: boolean; readonly copy: () => void } {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text).catch(() => undefined);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return { isCopied, copy: () => inBackground(copy()) };
}

const COPIED_MS = 1_500;
