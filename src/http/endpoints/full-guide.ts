import { listLive } from '../../published/listings.ts';
import { buildFullGuideHead, buildFullGuideListing } from '../../views/guide.ts';
import { PATHS } from '../../views/links.ts';
import { buildListingTag } from '../../views/listing/tag.ts';
import { SERVICE_MEANING } from '../../views/site.ts';
import { buildEtag, buildJoined } from '../document.ts';
import { deflatePiece } from '../gzip-pieces.ts';
import { keepListingPieces } from '../listing-pieces.ts';
import { defineFile, PLAIN_TEXT } from './define.ts';

const texts = keepListingPieces({
  list: listLive,
  write: (listings, { site }) =>
    listings.map((listing) => buildFullGuideListing(listing, buildListingTag(listing, site))).join(''),
});

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
  make: async (_, { reading, asked }) => {
    const { site } = reading;
    const { pieces, read } = await texts.get(reading, (snapshot) => ({
      head: buildFullGuideHead(snapshot, snapshot.revision, site),
      revision: snapshot.revision,
      etag: buildEtag(site, snapshot, asked),
    }));
    const { head, ...facts } = read;
    return buildJoined([deflatePiece(head), ...pieces], { type: PLAIN_TEXT, ...facts });
  },
});
