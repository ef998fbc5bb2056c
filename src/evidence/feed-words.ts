import type { Declaration } from '../model/declaration.ts';
import type { DeclaredRoute } from '../model/route.ts';
import { cutText, getFirstSentence, TEXT_LIMITS } from '../model/text.ts';
import { getNameKey } from './names.ts';
import { removeRequestLine } from './taglines.ts';
import { isTitle } from './titles.ts';

/** Texts of a listing that readers saw so far. */
interface KnownTexts {
  readonly title: string;
  readonly description: string;
}

/** Most tags of a listing that are kept. */
const MAX_TAGS = 20;

/**
 * Returns the declaration of a feed or a document with words about the whole listing, chosen from its items where it has
 * none, and without the items themselves. Only the items of routes that gave a valid 402 count; without such a route, those
 * that the feed had first. The number of items that say something does not count, because anybody can add items. Texts that readers saw
 * stay while one of these items says so.
 */
export function chooseFeedWords(
  declaration: Declaration,
  isSeenRoute: (route: DeclaredRoute) => boolean,
  known?: KnownTexts,
): Declaration {
  const { base_url, routes } = declaration;
  const asked = listAsked(routes, isSeenRoute);
  const items = asked.flatMap(({ item }) => item ?? []);
  // The feed's earlier title is that of the items it had first. Once a route was seen, only seen routes count, except
  // if the items themselves were not recorded yet, and all texts are about the whole listing.
  const isWhole = declaration.provider_name !== '';
  const given = isWhole || !asked.some(isSeenRoute) ? declaration.title : '';
  const choose = (member: NameMember) => chooseName(items, member, base_url, known);
  const title = (isWhole && given) || choose('service_name') || given || choose('site_title');
  const { description, isAboutAll } = chooseDescription(declaration, asked, known);
  const docs = new Set(items.flatMap(({ docs_url }) => docs_url ?? []));
  const tags = [...new Set(items.flatMap((item) => item.tags ?? []))].slice(0, MAX_TAGS);
  const sentence = isAboutAll ? removeRequestLine(getFirstSentence(description)) : '';
  return {
    ...declaration,
    title,
    tagline: declaration.tagline || cutText(sentence, TEXT_LIMITS.tagline),
    description,
    provider_name: declaration.provider_name || cutText(title, TEXT_LIMITS.provider_name),
    docs_url: declaration.docs_url ?? (docs.size === 1 ? ([...docs][0] ?? null) : null),
    ...(tags.length > 0 && { tags }),
    routes: routes.map((route) => nameRoute(route, title)),
  };
}

function listAsked(routes: readonly DeclaredRoute[], isSeenRoute: (route: DeclaredRoute) => boolean): DeclaredRoute[] {
  const seen = routes.filter(isSeenRoute);
  if (seen.length > 0) return seen;
  const getTime = ({ heard_at }: DeclaredRoute) => heard_at ?? '';
  const first = routes.map(getTime).reduce((a, b) => (a < b ? a : b), '~');
  return routes.filter((route) => getTime(route) === first);
}

/** A member of an item that names its service or its site. */
type NameMember = 'service_name' | 'site_title';

/**
 * Chooses the one name that the items give, however they write it. A host of several names is a marketplace, and gets
 * none.
 */
function chooseName(
  items: readonly NonNullable<DeclaredRoute['item']>[],
  member: NameMember,
  baseUrl: string,
  known: KnownTexts | undefined,
): string {
  const names = items.flatMap((item) => item[member] ?? []).filter((name) => isTitle(name, baseUrl));
  if (known && names.includes(known.title)) return known.title;
  const [first, ...others] = new Set(names.map((name) => getNameKey(name) || name));
  return first !== undefined && others.length === 0 ? (names[0] ?? '') : '';
}

/**
 * Chooses the description: the one of the service that the items give, else the text of the route nearest to the root,
 * which is usually the most general one. The text of one route among several is not about all of them.
 */
function chooseDescription(
  { description: given, tagline }: Declaration,
  asked: readonly DeclaredRoute[],
  known: KnownTexts | undefined,
): { description: string; isAboutAll: boolean } {
  const ofService = new Set(asked.flatMap(({ item }) => item?.description ?? []));
  if (given === '' && ofService.size === 1) return { description: [...ofService][0] ?? '', isAboutAll: true };
  if (given !== '') return { description: given, isAboutAll: tagline === '' && asked.length === 1 };
  const stated = asked.toSorted(compareDepth).map(({ item, description }) => item?.text ?? description);
  const texts = new Set(stated.filter((text) => text !== ''));
  const description = known && texts.has(known.description) ? known.description : ([...texts][0] ?? '');
  return { description, isAboutAll: texts.size === 1 };
}

/** Compares routes by the depth of their paths: the one nearest to the root is usually the most general one. */
export function compareDepth(a: DeclaredRoute, b: DeclaredRoute): number {
  const depth = a.path.split('/').length - b.path.split('/').length || a.path.length - b.path.length;
  return depth || (`${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1);
}

/** Puts the name of a route, else that of its service, in front of its description, unless that or the listing has it. */
function nameRoute({ item, ...route }: DeclaredRoute, title: string): DeclaredRoute {
  const { description } = route;
  const isNew = (name: string) => name !== title && !description.toLowerCase().includes(name.toLowerCase());
  const name = [item?.name, item?.service_name].find((one) => one !== undefined && isNew(one));
  if (name === undefined) return route;
  const text = description === '' ? name : `${name}: ${description}`;
  return { ...route, description: cutText(text, TEXT_LIMITS.route_description) };
}
