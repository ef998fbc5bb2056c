import { iterateLive } from '../../published/listings.ts';
import { getCounts } from '../../published/page-lists.ts';
import { readInPieces } from '../../published/reading.ts';
import { buildFullGuideHead, buildFullGuideListing } from '../../views/guide.ts';
import { PATHS } from '../../views/links.ts';
import { buildListingTag } from '../../views/listing/tag.ts';
import { SERVICE_MEANING } from '../../views/site.ts';
import { buildLargeDocument } from '../document.ts';
import { defineFile } from './define.ts';

const PLAIN_TEXT = 'text/plain; charset=utf-8';

/** The text of every live listing. */
export const fullGuideEndpoint = defineFile({
  id: 'getFullGuide',
  path: PATHS.guideFull,
  summary: 'Every listing as plain text',
  description: 'Large: to find something, search instead.',
  isKept: true,
  content: {
    description: 'The listings',
    type: PLAIN_TEXT,
    example: (site) => `# ${site.serviceTitle}\n\n> ${SERVICE_MEANING}\n`,
  },
  build: ({ reading }) =>
    readInPieces(reading, ({ published, snapshot }) => {
      const [{ revision }, { site }] = [snapshot, reading];
      const head = buildFullGuideHead(getCounts(snapshot), revision, site);
      const pieces = function* () {
        yield head;
        for (const listings of iterateLive(published)) {
          const texts = listings.map((listing) => buildFullGuideListing(listing, buildListingTag(listing, site)));
          yield texts.join('');
        }
      };
      return buildLargeDocument(pieces(), { type: PLAIN_TEXT, revision });
    }),
});
