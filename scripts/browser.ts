import { type Browser, chromium } from 'playwright-core';

/** Flags that switch off Chromium's own requests to the network. Web security stays on. */
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];

/** Opens the Chromium that comes from npm, so that a machine needs no other browser. `flags` are passed to it. */
export async function openBrowser(flags: readonly string[] = []): Promise<Browser> {
  // The package unpacks the libraries that Chromium needs only with this variable.
  process.env.AWS_LAMBDA_JS_RUNTIME ??= 'nodejs22.x';
  const { default: packed } = await import('@sparticuz/chromium');
  return chromium.launch({ executablePath: await packed.executablePath(), args: [...FLAGS, ...flags] });
}
