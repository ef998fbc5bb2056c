import { listChangeNews } from '../snapshot/news.ts';
import { buildPart, type Part } from '../snapshot/part.ts';
import type { Reading } from '../snapshot/reading.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { ATOM_ENTRIES, buildChangesAtom } from '../views/change-atom.ts';
import { buildJoinedResponse } from './joined.ts';
import { refuseUnknown } from './parameters.ts';

const TYPE = 'application/atom+xml; charset=utf-8';

/** Feed readers look a few times an hour. */
const MAX_AGE_SECONDS = 300;

/** Serves `GET /changes.atom`: the newest changes for people's feed readers, made once per revision. */
export function createChangesFeed(reading: Reading): (request: Request) => Response {
  const { catalogue, site, getSnapshot } = reading;
  let kept: { snapshot: Snapshot; body: Part } | undefined;
  const read = catalogue.sqlite.transaction(() => {
    const snapshot = getSnapshot();
    if (kept?.snapshot !== snapshot) {
      const news = listChangeNews(reading, snapshot, ATOM_ENTRIES);
      kept = { snapshot, body: buildPart(buildChangesAtom(news, snapshot, site)) };
    }
    return kept;
  });
  return (request) => {
    refuseUnknown(new URL(request.url).searchParams, []);
    const { snapshot, body } = read();
    return buildJoinedResponse(request, {
      ...{ head: '', headKey: '', body, type: TYPE, maxAge: MAX_AGE_SECONDS },
      revision: snapshot.revision,
    });
  };
}
