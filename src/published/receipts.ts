import type { Correction, PublicPayment } from '../model/payment.ts';
import type { PaidAnswers } from '../views/listing/fields.ts';
import type { Published } from './file.ts';

/** A settled payment, and the call that it paid for. */
export interface PublishedReceipt {
  readonly payment: PublicPayment;
  /** Slug of the listing. */
  readonly slug: string;
  readonly method: string;
  readonly path: string;
  /** The operator's note that the record is wrong. */
  readonly correction: Correction | undefined;
}

interface ReceiptRow {
  slug: string;
  method: string;
  path: string;
  document: string;
  correction: string | null;
}

/** Finds a receipt by its id, in lower case. */
export function findReceipt(published: Published, id: string): PublishedReceipt | undefined {
  const row = published
    .prepare<ReceiptRow>(
      `SELECT slug, method, path, document, correction FROM receipts JOIN listings ON listing = number WHERE receipts.id = +?`,
    )
    .get(id);
  if (!row) return undefined;
  const { slug, method, path, document, correction } = row;
  return {
    payment: JSON.parse(document),
    slug,
    method,
    path,
    correction: correction === null ? undefined : JSON.parse(correction),
  };
}

/** Returns the receipts that a live listing rests on now, or names as corrected, in the order of their ids. */
export function getCurrentReceipts(published: Published, slug: string): PaidAnswers {
  const rows = published
    .prepare<{ id: string; answer: string | null }>(
      `SELECT receipts.id, receipts.document ->> '$.answer' AS answer FROM listings JOIN receipts ON listing = number
       WHERE slug = +? AND current = 1 ORDER BY receipts.id`,
    )
    .all(slug);
  return new Map(rows.map(({ id, answer }) => [id, answer === null ? null : JSON.parse(answer)]));
}

/** Goes through the current receipts of all live listings, by slug, with the revision of the listing. */
export function iterateCurrentReceipts(published: Published): IterableIterator<{ id: string; revision: number }> {
  return published.sqlite
    .prepare<[], { id: string; revision: number }>(
      `SELECT receipts.id, listings.revision FROM receipts JOIN listings ON listing = number
       WHERE current = 1 ORDER BY slug, receipts.id`,
    )
    .iterate();
}
