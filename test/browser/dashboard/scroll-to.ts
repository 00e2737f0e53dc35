import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Scrolls until the target is rendered: a list renders only visible items, and knows their heights only afterwards. */
export async function scrollTo(page: Page, list: Locator, wanted: Locator, by: number): Promise<void> {
  await list.hover();
  const look = async () => {
    await page.mouse.wheel(0, by);
    return await wanted.count();
  };
  await expect.poll(look, { timeout: 60_000, interval: 200 }).toBeGreaterThan(0);
}
