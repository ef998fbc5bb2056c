import lighthouse from 'lighthouse';
import type { FailingAudit, PageMeasure } from './limits.ts';
import type { AuditedPage } from './pages.ts';

/** Where pages are measured, and by which browser. */
export interface MeasureOptions {
  /** Origin of the service. */
  readonly url: string;
  /** Port on which Chromium takes commands. */
  readonly debuggingPort: number;
}

type Result = NonNullable<Awaited<ReturnType<typeof lighthouse>>>['lhr'];
type Weights = Pick<PageMeasure, 'html_css_bytes' | 'script_bytes'>;

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
    lcp_ms: lhr.audits['largest-contentful-paint']?.numericValue ?? Number.NaN,
    ...getWeights(lhr),
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

/** Returns the bytes sent for the page, headers included, as the browser counted them. */
function getWeights({ audits }: Result): Weights {
  const details = audits['network-requests']?.details;
  const requests = details?.type === 'table' ? details.items : [];
  const weigh = (...types: string[]) =>
    requests
      .filter(({ resourceType }) => types.includes(String(resourceType)))
      .reduce((sum, { transferSize }) => sum + Number(transferSize), 0);
  return { html_css_bytes: weigh('Document', 'Stylesheet'), script_bytes: weigh('Script') };
}
