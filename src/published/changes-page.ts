import { buildChangesPage, type ChangesPage, SHOWN_NEWS } from '../views/pages/changes-page.ts';
import { listChangeNews } from './news.ts';
import type { Reading } from './reading.ts';

/** Gives the page of what changed lately as the catalogue is now. */
export function getChangesPage({ published, readAtOnce }: Reading): ChangesPage {
  return readAtOnce((snapshot) =>
    buildChangesPage(listChangeNews(published, snapshot, SHOWN_NEWS + 1), snapshot.revised_at),
  );
}
