import type { Declaration } from '../../model/declaration.ts';
import type { Note } from '../finding-codes.ts';
import { isObject } from '../json-value.ts';
import { buildManifestDeclaration } from '../manifest-declaration.ts';
import type { ProviderEntryFacts } from './schema.ts';

/** What the building of a declaration needs besides the facts. */
export interface FactsContext {
  /** Address of the statement, which is the source. */
  source: string;
  allowPrivateNetworks: boolean;
  /** Now, ISO 8601 UTC. */
  now: string;
  /** Says what makes the facts unacceptable. */
  refuse: (message: string) => void;
  note: Note;
}

/** Builds what a provider declares of its listing by facts. As every bare claim it is evidence of nothing but the wish. */
export function buildFactsDeclaration(
  facts: NonNullable<ProviderEntryFacts['facts']>,
  baseUrl: string,
  { source, refuse, ...context }: FactsContext,
): Declaration {
  const declaration = buildManifestDeclaration(
    { ...facts, base_url: baseUrl },
    { ...context, name: source, refuse: (_code, _path, message) => refuse(message) },
  );
  return { ...declaration, source: buildProviderSource(source) };
}

/** A provider's own words, whatever document they came in. */
export function buildProviderSource(source: string): Declaration['source'] {
  return { kind: 'provider', name: source, observed_at: null };
}

/** Writes the prices of facts as text, which JSON may also give as numbers: the schema reads prices digit by digit. */
export function writePrices(entry: unknown): unknown {
  if (!isObject(entry) || !isObject(entry.facts)) return entry;
  const { facts } = entry;
  const routes = Array.isArray(facts.routes) ? facts.routes.map(writePrice) : facts.routes;
  return { ...entry, facts: { ...writePrice(facts), ...(routes !== undefined && { routes }) } };
}

function writePrice<Holder>(holder: Holder): Holder | Record<string, unknown> {
  if (!isObject(holder) || holder.price_usdc === undefined) return holder;
  const { price_usdc: price } = holder;
  const written = isObject(price)
    ? Object.fromEntries(Object.entries(price).map(([name, value]) => [name, writeNumber(value)]))
    : writeNumber(price);
  return { ...holder, price_usdc: written };
}

function writeNumber(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value;
}
