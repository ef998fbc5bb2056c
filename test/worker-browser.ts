import type { Browser } from 'playwright-core';
import { openBrowser } from '../scripts/browser.ts';

let browser: Promise<Browser> | undefined;

/** Returns the browser of this worker, which ends with it. Whoever opens a context or a page in it closes that. */
export function getBrowser(): Promise<Browser> {
  // The runner ends what hangs.
  browser ??= openBrowser().then((opened) => opened.on('context', (context) => context.setDefaultTimeout(0)));
  return browser;
}
