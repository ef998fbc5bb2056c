import { buildUrl, PATHS } from '../links.ts';
import type { Site } from '../site.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** RFC 9116, section 2.5.5, recommends less than a year. */
const VALID_DAYS = 365;

/**
 * Builds `security.txt` (RFC 9116): whom to write to about the service. It expires 365 days after the start of the day
 * `at` (UTC), so the text is the same all day. Undefined where no contact is set, or the contact is not https: the RFC
 * takes no other web address.
 */
export function buildSecurityTxt({ baseUrl, contactUrl }: Site, at: Date): string | undefined {
  if (contactUrl === baseUrl || !isHttps(contactUrl)) return undefined;
  const day = Math.floor(at.getTime() / DAY_MS);
  const expires = new Date((day + VALID_DAYS) * DAY_MS).toISOString().replace('.000Z', 'Z');
  const canonical = buildUrl(baseUrl, PATHS.securityTxt);
  return [
    `# Anything wrong, harmful or unsafe here, and whatever providers want of their listings: ${buildUrl(baseUrl, PATHS.providers)}`,
    `Contact: ${contactUrl}`,
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    ...(isHttps(canonical) ? [`Canonical: ${canonical}`] : []),
    '',
  ].join('\n');
}

function isHttps(address: string): boolean {
  return /^https:/i.test(address);
}
