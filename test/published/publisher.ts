/** A process that brings a published catalogue up to date, says so, and ends. */
import { publishCatalogue } from '../../src/published/follow.ts';

const [catalogueAddress = '', publishedFile = '', codeVersion = ''] = process.argv.slice(2);
process.send?.('begins');
const { user, system } = process.cpuUsage();
await publishCatalogue({ catalogueAddress, publishedFile }, codeVersion);
const spent = process.cpuUsage({ user, system });
process.send?.({ cpu_s: (spent.user + spent.system) / 1e6, memory_mb: process.resourceUsage().maxRSS / 1024 });
process.disconnect?.();
