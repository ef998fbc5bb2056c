import { isObject } from '../json-value.ts';

type Details = Record<string, unknown>;

/** One way to pay that an operation names: a protocol and what is said of it. */
export interface NamedProtocol {
  /** In lower case. */
  name: string;
  details: Details;
}

const MAX_PROTOCOLS = 16;

/**
 * Lists the protocols that a payment object names, in all shapes met: `protocols` as names or as objects keyed by name
 * (`[{x402: {…}}]`), a member `x402` beside them, and the Machine Payments Protocol's own `method`, alone or in
 * `offers`.
 */
export function listProtocols(info: Details): NamedProtocol[] {
  const listed = Array.isArray(info.protocols) ? info.protocols.slice(0, MAX_PROTOCOLS) : [info.protocols];
  const offers = Array.isArray(info.offers) ? info.offers.slice(0, MAX_PROTOCOLS) : [];
  return [
    ...listed.flatMap(readProtocol),
    ...(isObject(info.x402) ? [{ name: 'x402', details: info.x402 }] : []),
    ...[info, ...offers].flatMap((offer) =>
      isObject(offer) && typeof offer.method === 'string' ? [{ name: getName(offer.method), details: offer }] : [],
    ),
  ];
}

function readProtocol(raw: unknown): NamedProtocol[] {
  if (typeof raw === 'string') return [{ name: getName(raw), details: {} }];
  if (!isObject(raw)) return [];
  if (typeof raw.protocol === 'string') return [{ name: getName(raw.protocol), details: raw }];
  return Object.entries(raw)
    .slice(0, MAX_PROTOCOLS)
    .map(([name, details]) => ({ name: getName(name), details: isObject(details) ? details : {} }));
}

function getName(text: string): string {
  return text.trim().slice(0, 40).toLowerCase();
}
