import { buildUrl, PATHS } from '../links.ts';
import type { Site } from '../site.ts';

/** Builds `robots.txt` (RFC 9309): everything may be read by everybody, and where the addresses are. */
export function buildRobots({ baseUrl }: Site): string {
  return `# All of this is public and made to be read by programs. Agents: start at ${buildUrl(baseUrl, PATHS.guide)}
# or search with ${buildUrl(baseUrl, PATHS.agentList)}?q={words} instead of crawling.
User-agent: *
Allow: /

Sitemap: ${buildUrl(baseUrl, PATHS.sitemapIndex)}
`;
}
