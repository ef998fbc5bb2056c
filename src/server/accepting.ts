/** The compressions that pages are sent in. */
export type Encoding = 'br' | 'gzip';

/** One entry of an `Accept…` header: its name in lower case and its weight (RFC 9110, section 12.4.2). */
interface Preference {
  readonly name: string;
  readonly weight: number;
}

/** Browsers send one of a few headers, so their choices are kept; the bound is for those who make them up. */
const KEPT_CHOICES = 100;
const choices = new Map<string, Encoding | undefined>();

/** Chooses the compression that a request accepts, the better one where it takes both equally. Undefined for none. */
export function chooseEncoding(header: string | undefined): Encoding | undefined {
  if (!header) return undefined;
  if (choices.has(header)) return choices.get(header);
  const preferences = parsePreferences(header);
  const getWeight = (encoding: Encoding) =>
    (preferences.find(({ name }) => name === encoding) ?? preferences.find(({ name }) => name === '*'))?.weight ?? 0;
  const [br, gzip] = [getWeight('br'), getWeight('gzip')];
  const choice = br > 0 && br >= gzip ? 'br' : gzip > 0 ? 'gzip' : undefined;
  if (choices.size >= KEPT_CHOICES) choices.clear();
  choices.set(header, choice);
  return choice;
}

/** Says whether a request would rather have Markdown than HTML. */
export function prefersMarkdown(header: string | undefined): boolean {
  return prefers(header, /text\/markdown/i);
}

/** Says whether a request would rather have JSON, of whatever kind, than HTML. */
export function prefersJson(header: string | undefined): boolean {
  return prefers(header, /application\/(?:[\w.-]+\+)?json/i);
}

/**
 * Says whether a request names a media type (a mere wildcard does not) with no less weight than `text/html`, and before it
 * where the weights are the same.
 */
function prefers(header: string | undefined, type: RegExp): boolean {
  if (!header || !type.test(header)) return false;
  const preferences = parsePreferences(header);
  const wished = preferences.findIndex(({ name }) => type.test(name));
  const html = preferences.findIndex(({ name }) => name === 'text/html');
  const [wish, other] = [preferences[wished]?.weight ?? 0, preferences[html]?.weight ?? 0];
  return wish > 0 && (wish > other || (wish === other && wished < html));
}

/** Says whether `If-None-Match` names an ETag, by weak comparison (RFC 9110, section 13.1.2). */
export function isNotModified(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const getOpaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((tag) => getOpaque(tag) === getOpaque(etag));
}

function parsePreferences(header: string): Preference[] {
  return header
    .toLowerCase()
    .split(',')
    .map((entry) => {
      const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
      const weight = Number(parameters.find((part) => part.startsWith('q='))?.slice(2) ?? 1);
      return { name, weight: Number.isFinite(weight) ? weight : 0 };
    });
}
