import { type Browser, chromium } from 'playwright-core';

/** Chromium's own calls home would only be refused; they are switched off. Web security stays on. */
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];

/** Opens the real Chromium that comes from npm, so that a machine needs no browser of its own. `flags` are its own. */
export async function openBrowser(flags: readonly string[] = []): Promise<Browser> {
  // The package unpacks the libraries it needs when it takes the machine for this one.
  process.env.AWS_LAMBDA_JS_RUNTIME ??= 'nodejs22.x';
  const { default: packed } = await import('@sparticuz/chromium');
  return chromium.launch({ executablePath: await packed.executablePath(), args: [...FLAGS, ...flags] });
}
