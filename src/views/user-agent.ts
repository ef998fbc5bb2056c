import { ROBOT_NAME } from '../model/probe.ts';
import { buildUrl, PATHS } from './links.ts';
import type { Site } from './site.ts';

/** Gives the name under which the service asks others: its own, and the page that says what it does and who answers for it. */
export function getUserAgent({ baseUrl }: Pick<Site, 'baseUrl'>): string {
  return `${ROBOT_NAME} (+${buildUrl(baseUrl, PATHS.method)})`;
}
