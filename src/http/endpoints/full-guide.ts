import { iterateRendered } from '../../published/listings.ts';
import { getCounts } from '../../published/page-lists.ts';
import { readInPieces } from '../../published/reading.ts';
import { buildFullGuideHead, buildFullGuideListing } from '../../views/guide.ts';
import { PATHS } from '../../views/links.ts';
import type { AgentItem } from '../../views/listing/item.ts';
import type { ListingTag } from '../../views/listing/tag.ts';
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
  content: {
    description: 'The listings',
    type: PLAIN_TEXT,
    example: (site) => `# ${site.serviceTitle}\n\n> ${SERVICE_MEANING}\n`,
  },
  build: ({ reading }) =>
    readInPieces(reading, ({ published, snapshot }) => {
      const { revision } = snapshot;
      const head = buildFullGuideHead(getCounts(snapshot), revision, reading.site);
      const pieces = function* () {
        yield head;
        for (const listings of iterateRendered(published)) {
          const texts = listings.map(({ item, tag }) =>
            buildFullGuideListing(JSON.parse(item) as AgentItem, JSON.parse(tag) as ListingTag),
          );
          yield texts.join('');
        }
      };
      return buildLargeDocument(pieces(), { type: PLAIN_TEXT, revision });
    }),
});
