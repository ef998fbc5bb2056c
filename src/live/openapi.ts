import { buildPart, joinParts, type Part } from '../snapshot/part.ts';
import type { Reading } from '../snapshot/reading.ts';
import { buildSummary, type Snapshot } from '../snapshot/snapshot.ts';
import { buildDocumentFrame, buildDocumentHead } from '../views/openapi/document.ts';
import { buildJoinedResponse } from './joined.ts';
import { refuseUnknown } from './parameters.ts';

/**
 * Serves the OpenAPI document: header and counts are built per request, paths and components once, tags once per revision
 * from the chunks that changed.
 */
export function createOpenapi({ site, getSnapshot, now }: Reading): (request: Request) => Response {
  let frame: Part | undefined;
  let folded: { snapshot: Snapshot; body: Part } | undefined;

  const getBody = (snapshot: Snapshot): Part => {
    if (folded?.snapshot === snapshot) return folded.body;
    frame ??= buildPart(`,${JSON.stringify(buildDocumentFrame(site)).slice(1, -1)},"tags":[`);
    folded = { snapshot, body: joinParts([frame, snapshot.getTags(), buildPart(']}')]) };
    return folded.body;
  };

  return (request) => {
    refuseUnknown(new URL(request.url).searchParams, []);
    const snapshot = getSnapshot();
    const summary = buildSummary(snapshot, site, now());
    const head = JSON.stringify(buildDocumentHead(summary, snapshot.revised_at, site)).slice(0, -1);
    return buildJoinedResponse(request, {
      head,
      headKey: head.replace(summary.generated_at, ''),
      body: getBody(snapshot),
      revision: snapshot.revision,
    });
  };
}
