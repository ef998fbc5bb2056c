import { buildPart, type Part } from '../snapshot/part.ts';
import type { Reading } from '../snapshot/reading.ts';
import { selectListings } from '../snapshot/select.ts';
import { buildSummary, type Snapshot } from '../snapshot/snapshot.ts';
import { getListSort, type ListQuery } from '../views/list-query.ts';
import { buildJoinedResponse } from './joined.ts';
import { createLatest, type Latest } from './latest.ts';
import { parseListQuery } from './parameters.ts';

/** How many answers of one revision are kept, and how large one may be; those that nobody asked for of late go first. */
const KEPT_ANSWERS = 200;
const KEPT_BYTES = 96 * 1024;

/** Serves `GET /agent/list`: the summary is built per request, the page of listings once per revision and query. */
export function createAgentList(reading: Reading): (request: Request) => Response {
  const { site, getSnapshot, now } = reading;
  let kept: { snapshot: Snapshot; bodies: Latest<Part> } | undefined;

  const getBody = (snapshot: Snapshot, key: string, query: ListQuery): Part => {
    if (kept?.snapshot !== snapshot) kept = { snapshot, bodies: createLatest(KEPT_ANSWERS, () => 1) };
    const known = kept.bodies.find(key);
    if (known) return known;
    const body = buildBody(reading, snapshot, query);
    if (body.length <= KEPT_BYTES) kept.bodies.add(key, body);
    return body;
  };

  return (request) => {
    const query = parseListQuery(new URL(request.url).searchParams);
    const snapshot = getSnapshot();
    const summary = buildSummary(snapshot, site, now());
    const head = `{"catalogue":${JSON.stringify(summary)},"revision":${snapshot.revision}`;
    return buildJoinedResponse(request, {
      head,
      headKey: head.replace(summary.generated_at, ''),
      body: getBody(snapshot, JSON.stringify(query), query),
      revision: snapshot.revision,
    });
  };
}

/** Builds the rest of the answer from listings that are JSON already. */
function buildBody(reading: Reading, snapshot: Snapshot, query: ListQuery): Part {
  const { total, entries, answer, next_cursor } = selectListings(reading, snapshot, query);
  const { cursor: _cursor, ...given } = query;
  const filters = { ...given, sort: getListSort(query) };
  const rest = JSON.stringify({
    ...{ filters, total, ...(next_cursor !== undefined && { next_cursor }) },
    ...(answer?.isWeak && { weak: true }),
    ...(answer && answer.unmatched.length > 0 && { unmatched: answer.unmatched }),
  }).slice(1, -1);
  const listings = entries.map(({ itemJson }, at) =>
    answer === undefined ? itemJson : `${itemJson.slice(0, -1)},"match":${answer.matches[at]}}`,
  );
  return buildPart(`,${rest},"listings":[${listings.join(',')}]}`);
}
