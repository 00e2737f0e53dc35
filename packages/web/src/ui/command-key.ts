/** A key with the modifier for commands, as this system names it: `⌘K` on Apple systems, `Ctrl+K` on others. */
export function withCommandKey(key: string): string {
  // Tests of components run without a browser.
  const isApple = typeof navigator !== 'undefined' && /^(?:Mac|iP)/.test(navigator.platform);
  return isApple ? `⌘${key}` : `Ctrl+${key}`;
}
