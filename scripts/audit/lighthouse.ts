import lighthouse from 'lighthouse';
import type { FailingAudit, PageMeasure } from './limits.ts';
import type { AuditedPage } from './pages.ts';

/** The service whose pages are measured, and the browser. */
export interface MeasureOptions {
  /** Origin of the service. */
  readonly url: string;
  /** Port on which Chromium takes commands. */
  readonly debuggingPort: number;
}

type Result = NonNullable<Awaited<ReturnType<typeof lighthouse>>>['lhr'];

/**
 * Measures one page with Lighthouse's defaults: a phone on slow 4G, simulated from an unthrottled load. Throws if the page
 * cannot be loaded.
 */
export async function measurePage(
  { name, path }: AuditedPage,
  { url, debuggingPort }: MeasureOptions,
): Promise<PageMeasure> {
  const run = await lighthouse(`${url}${path}`, { port: debuggingPort, output: 'json', logLevel: 'silent' });
  if (!run) throw new Error(`Lighthouse gave nothing for ${path}.`);
  const { lhr } = run;
  if (lhr.runtimeError) throw new Error(`Lighthouse could not audit ${path}: ${lhr.runtimeError.message}`);
  const scores = Object.values(lhr.categories).map(({ id, score }) => [id, Math.round((score ?? 0) * 100)]);
  return {
    name,
    path,
    scores: Object.fromEntries(scores),
    fcp_ms: lhr.audits['first-contentful-paint']?.numericValue ?? Number.NaN,
    lcp_ms: lhr.audits['largest-contentful-paint']?.numericValue ?? Number.NaN,
    failing: listFailing(lhr),
  };
}

/** Lists the failing audits that count for a score. */
function listFailing({ categories, audits }: Result): FailingAudit[] {
  return Object.values(categories).flatMap(({ id: category, auditRefs }) =>
    auditRefs.flatMap(({ id, weight }) => {
      const audit = audits[id];
      const isFailing = weight > 0 && audit !== undefined && audit.score !== null && audit.score < 1;
      return isFailing ? [{ category, id, title: audit.title }] : [];
    }),
  );
}
