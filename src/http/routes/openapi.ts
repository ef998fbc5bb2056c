import { iterateRendered } from '../../published/listings.ts';
import { type Reading, readInPieces } from '../../published/reading.ts';
import { buildSummary } from '../../published/snapshot.ts';
import { PATHS } from '../../views/links.ts';
import { buildDocumentFrame, buildDocumentHead } from '../../views/openapi/document.ts';
import { buildLargeDocument } from '../document.ts';
import { type Get, NO_QUERY } from './route.ts';

/** Adds `GET /openapi.json`: the service's own endpoints, and the catalogue as tags. */
export function addOpenapiRoute(get: Get, reading: Reading): void {
  const { site, now } = reading;
  let frame: string | undefined;

  get(PATHS.openapi, NO_QUERY, () =>
    readInPieces(reading, ({ published, snapshot }) => {
      const { revision, revised_at } = snapshot;
      const summary = buildSummary(snapshot, site, now());
      const head = JSON.stringify(buildDocumentHead(summary, revised_at, site)).slice(0, -1);
      frame ??= `,${JSON.stringify(buildDocumentFrame(site)).slice(1, -1)},"tags":[`;
      const start = head + frame;
      const pieces = function* () {
        yield start;
        let separator = '';
        for (const listings of iterateRendered(published)) {
          yield separator + listings.map(({ tag }) => tag).join(',');
          separator = ',';
        }
        yield ']}';
      };
      return buildLargeDocument(pieces(), { generatedAt: summary.generated_at, revision });
    }),
  );
}
