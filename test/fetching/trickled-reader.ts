import { openGuardedClient } from '../../src/fetching/client.ts';

/**
 * Fetches an address (first argument) so many times at once (second), in a process of its own whose memory is that of
 * nothing else. Prints the bytes that came, and by how many megabytes the process grew at most.
 */
const [url = '', atOnce] = process.argv.slice(2);
const client = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'catalogue-test/1' });
// What the first request loads is no part of it.
await client.fetch(url.replace(/\d+$/, '1'), { limits: { bodyBytes: 1 } }).catch(() => undefined);
const before = process.resourceUsage().maxRSS;
const answers = await Promise.all(Array.from({ length: Number(atOnce) }, () => client.fetch(url)));
const grown = (process.resourceUsage().maxRSS - before) / 1024;
process.stdout.write(JSON.stringify({ bytes: answers.map(({ body }) => body.byteLength), grown }));
await client.close();
