import type { Config } from '../config.ts';
import { ROBOT_NAME } from '../probing/robots.ts';
import { buildUrl, PATHS } from '../views/links.ts';

/** Gives the name under which the service asks others: its own, and the page that says what it does and who answers for it. */
export function getUserAgent({ baseUrl }: Pick<Config, 'baseUrl'>): string {
  return `${ROBOT_NAME} (+${buildUrl(baseUrl, PATHS.method)})`;
}
