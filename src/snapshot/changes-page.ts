import { buildChangesPage, type ChangesPage, SHOWN_NEWS } from '../views/pages/changes-page.ts';
import { listChangeNews } from './news.ts';
import type { Reading } from './reading.ts';

/** Gives the page of what changed lately as the catalogue stands now. */
export function getChangesPage(reading: Reading): ChangesPage {
  const snapshot = reading.getSnapshot();
  return buildChangesPage(listChangeNews(reading, snapshot, SHOWN_NEWS + 1), snapshot.revised_at);
}
