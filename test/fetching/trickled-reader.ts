import { openGuardedClient } from '../../src/fetching/client.ts';

/**
 * Fetches an address (first argument) several times at once (second argument), in a process of its own so that nothing
 * else uses its memory. Prints the received bytes, and by how many megabytes the process grew at most.
 */
const [url = '', atOnce] = process.argv.slice(2);
const client = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'catalogue-test/1' });
// The modules that the first request loads do not count.
await client.fetch(url.replace(/\d+$/, '1'), { limits: { bodyBytes: 1 } }).catch(() => undefined);
const before = process.resourceUsage().maxRSS;
const answers = await Promise.all(Array.from({ length: Number(atOnce) }, () => client.fetch(url)));
const grown = (process.resourceUsage().maxRSS - before) / 1024;
process.stdout.write(JSON.stringify({ bytes: answers.map(({ body }) => body.byteLength), grown }));
await client.close();
