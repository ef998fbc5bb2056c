import type { Reading } from '../../snapshot/reading.ts';
import { buildSummary } from '../../snapshot/snapshot.ts';
import { PATHS } from '../../views/links.ts';
import { buildDocumentFrame, buildDocumentHead } from '../../views/openapi/document.ts';
import { buildLargeDocument } from '../document.ts';
import { type Get, NO_QUERY } from './route.ts';

/** Adds `GET /openapi.json`: the service's own endpoints, and the catalogue as tags. */
export function addOpenapiRoute(get: Get, { site, getSnapshot, now }: Reading): void {
  let frame: string | undefined;

  get(PATHS.openapi, NO_QUERY, () => {
    const snapshot = getSnapshot();
    const { chunks, revision, revised_at } = snapshot;
    const summary = buildSummary(snapshot, site, now());
    const head = JSON.stringify(buildDocumentHead(summary, revised_at, site)).slice(0, -1);
    frame ??= `,${JSON.stringify(buildDocumentFrame(site)).slice(1, -1)},"tags":[`;
    const start = head + frame;
    const pieces = function* () {
      yield start;
      for (const [at, { tags }] of chunks.entries()) {
        if (at > 0) yield ',';
        yield tags;
      }
      yield ']}';
    };
    return buildLargeDocument(pieces(), { generatedAt: summary.generated_at, revision });
  });
}
