import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Buttons, links and fields beyond the right edge, where they cannot be reached. */
export const beyond = `[...document.querySelectorAll('button, a:not(.skip), input, select, textarea')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => one.outerHTML.slice(0, 120))`;

/** The violations that axe finds; with `isColourOnly`, only those of colours. */
export async function violations(page: Page, isColourOnly = false): Promise<unknown[]> {
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(axe.source);
  const runOnly = isColourOnly ? ['color-contrast'] : ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];
  return page.evaluate<unknown[]>(`axe.run(document, { runOnly: ${JSON.stringify(runOnly)} }).then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map((node) => node.html.slice(0, 160) + ' ' + node.failureSummary)]))`);
}
