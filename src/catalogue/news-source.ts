import { isPostgresAddress } from '../model/catalogue-address.ts';
import type { NewsSource } from './news.ts';
import { openSqliteNews } from './sqlite-news.ts';

/**
 * Opens a catalogue to be followed. Throws `not_found` without one, and `bad_input` for
 * another file or schema version; of a catalogue in PostgreSQL each `hold` throws that, and `unavailable` while it cannot be
 * reached.
 */
export async function openNewsSource(address: string): Promise<NewsSource> {
  if (!isPostgresAddress(address)) return openSqliteNews(address);
  // Loaded here because catalogues in files do without it.
  const { openPostgresNews } = await import('./postgres-news.ts');
  return openPostgresNews(address);
}
