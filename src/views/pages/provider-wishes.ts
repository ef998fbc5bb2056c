import { ROBOT_NAME } from '../../model/probe.ts';
import { TEXT_LIMITS } from '../../model/text.ts';

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

/** The wishes that a provider can state in its file. */
export const PROVIDER_WISHES: readonly ProviderWish[] = [
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
];

/** A robots.txt that keeps probes away from some paths. */
export const ROBOTS_EXAMPLE = `User-agent: ${ROBOT_NAME}\nDisallow: /v1/costly`;

function writeFile(file: unknown): string {
  return JSON.stringify(file, null, 2);
}
