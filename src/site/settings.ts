import type { Config } from '../config.ts';
import { getHash } from '../published/hash.ts';
import type { Site } from '../views/site.ts';

/** Returns the page-visible settings. */
export function getSite({
  baseUrl,
  serviceTitle,
  contactName,
  contactUrl,
  intake,
}: Pick<Config, 'baseUrl' | 'serviceTitle' | 'contactName' | 'contactUrl' | 'intake'>): Site {
  return { baseUrl, serviceTitle, contactName, contactUrl, hasIntake: intake !== 'off' };
}

/** Returns the hash of the page-visible settings. */
export function getSettingsHash(site: Site): string {
  return getHash(
    JSON.stringify([site.baseUrl, site.serviceTitle, site.contactName, site.contactUrl, site.hasIntake === true]),
  );
}
