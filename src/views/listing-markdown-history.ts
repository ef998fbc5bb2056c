import { escapeMarkdown } from './markdown.ts';
import type { ListingPage } from './pages/listing-page.ts';
import type { PriceHistory } from './pages/price-history.ts';
import type { ProbeStrip } from './pages/probe-strip.ts';

/** How many of the latest prices and of the latest days with failures the text has. */
const MAX_LINES = 10;

/** Builds the sections on how the listing answered, what it cost and what changed: the same facts as its page, in brief. */
export function buildHistory({ probes, price_history, decisions, reliability }: ListingPage): string[] {
  return [
    '## Probes',
    [`Reliability: ${reliability}.`, ...(probes ? listProbeLines(probes) : [])].join('\n'),
    '## Price over time',
    [price_history.summary, ...(price_history.rows.length > 1 ? ['', ...listPriceLines(price_history)] : [])].join(
      '\n',
    ),
    ...(decisions.length > 0
      ? [
          '## What changed',
          decisions.map(({ when, what, why }) => `- ${when}: ${escapeMarkdown(`${what}: ${why}`)}`).join('\n'),
        ]
      : []),
  ];
}

function listProbeLines({ summary, from, to, days }: ProbeStrip): string[] {
  const failing = days.filter(({ state }) => state === 'failed' || state === 'mixed').toReversed();
  const words = failing.slice(0, MAX_LINES).map(({ day, words: came }) => `${day} (${came})`);
  const more = failing.length > MAX_LINES ? ' and earlier ones' : '';
  return [
    `From ${from} to ${to}: ${summary}.`,
    ...(words.length > 0 ? [`Days with failures, the latest first: ${words.join(', ')}${more}.`] : []),
  ];
}

function listPriceLines({ rows, cut }: PriceHistory): string[] {
  const shown = rows.slice(-MAX_LINES);
  const lines = shown.toReversed().map(({ since, price, why }) => `- ${since}: ${price} (${escapeMarkdown(why)})`);
  return cut || shown.length < rows.length ? [...lines, '- and earlier ones'] : lines;
}
