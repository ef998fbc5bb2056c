import { CAUTIONS } from '../../model/caution.ts';
import { ROBOT_NAME } from '../../model/probe.ts';
import { TEXT_LIMITS } from '../../model/text.ts';
import { type BadgeLines, buildBadgeLines } from '../badge.ts';
import type { Site } from '../site.ts';

/** Path on its own host at which a provider states its wishes. */
export const PROVIDER_FILE_PATH = '/.well-known/agent-payable.json';

/** A wish of a provider, and the file that states it. */
export interface ProviderWish {
  /** Id of its section. */
  readonly id: string;
  readonly title: string;
  /** Effect of the wish. */
  readonly effect: string;
  /** The whole file. */
  readonly file: string;
}

/** The page that tells providers how to be listed, corrected, removed and left alone. */
export interface ProvidersPage {
  readonly file_path: string;
  readonly robot: string;
  readonly wishes: readonly ProviderWish[];
  /** The cautions that can be replied to, by code. */
  readonly cautions: readonly { readonly code: string; readonly sentence: string }[];
  /** A robots.txt that keeps probes away from some paths. */
  readonly robots: string;
  /** The lines that show a badge, with a slug to be replaced. */
  readonly badge: BadgeLines;
  /** Contact of the operator; null where no address is set. */
  readonly contact: { readonly name: string; readonly url: string } | null;
}

/** The provider of the examples. */
const BASE_URL = 'https://api.example.com';

/** Content of the example files, by wish. */
const PROVIDER_FILES = {
  list: { version: 1, listings: [{ base_url: BASE_URL, listed: true, openapi: `${BASE_URL}/openapi.json` }] },
  correct: {
    version: 1,
    listings: [
      {
        base_url: BASE_URL,
        listed: true,
        facts: {
          name: 'Example Forecasts',
          tagline: 'Weather of the next ten days, for any place',
          category: 'Data',
          networks: ['base'],
          routes: [
            {
              method: 'GET',
              path: '/v1/forecast',
              price_usdc: '0.001',
              example: { query: { city: 'Oslo' } },
            },
          ],
        },
      },
    ],
  },
  remove: { version: 1, listings: [{ base_url: BASE_URL, listed: false, reason: 'Shut down at the end of the year' }] },
  reply: {
    version: 1,
    listings: [
      {
        base_url: BASE_URL,
        listed: true,
        openapi: `${BASE_URL}/openapi.json`,
        replies: [
          {
            caution: 'undelivered',
            route: 'GET /v1/forecast',
            text: 'Our cache was down on 3 November. The call was paid back, and the fault is mended.',
          },
        ],
      },
    ],
  },
} as const;

/** Builds the page for providers. */
export function buildProvidersPage(site: Site): ProvidersPage {
  return {
    file_path: PROVIDER_FILE_PATH,
    robot: ROBOT_NAME,
    wishes: [
      {
        id: 'list',
        title: 'List me',
        effect: 'Your OpenAPI document is read, and every operation that states its payment becomes a route.',
        file: writeFile(PROVIDER_FILES.list),
      },
      {
        id: 'correct',
        title: 'Correct me',
        effect:
          'What you state here goes before what anybody else says of your API. Prices and networks are still checked against your 402 answers, and what these ask is shown.',
        file: writeFile(PROVIDER_FILES.correct),
      },
      {
        id: 'remove',
        title: 'Remove me',
        effect:
          'The listing leaves every list and document. Its address says that you removed it, with your reason if you give one. To have it back, state true again.',
        file: writeFile(PROVIDER_FILES.remove),
      },
      {
        id: 'reply',
        title: 'Reply to a caution',
        effect: `Your words stand beside the caution, marked as yours: plain text, ${TEXT_LIMITS.reply} characters at most, at most 20 replies for each entry. Name a route as its page writes it, or leave route out to reply for the whole listing. A reply clears no caution: what clears it is what was measured. Without the reply in the file, it is removed here.`,
        file: writeFile(PROVIDER_FILES.reply),
      },
    ],
    cautions: Object.entries(CAUTIONS).map(([code, { sentence }]) => ({ code, sentence })),
    badge: buildBadgeLines('your-slug', site),
    robots: `User-agent: ${ROBOT_NAME}\nDisallow: /v1/costly`,
    contact: site.contactUrl === site.baseUrl ? null : { name: site.contactName, url: site.contactUrl },
  };
}

function writeFile(file: unknown): string {
  return JSON.stringify(file, null, 2);
}
