import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Only what is in sight is drawn, and heights are known when it was. */
export async function scrollTo(page: Page, list: Locator, wanted: Locator, by: number): Promise<void> {
  await list.hover();
  const look = async () => {
    await page.mouse.wheel(0, by);
    return await wanted.count();
  };
  await expect.poll(look, { timeout: 60_000, interval: 200 }).toBeGreaterThan(0);
}
