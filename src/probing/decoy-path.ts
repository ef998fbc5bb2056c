import { isTemplate } from '../model/path-template.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const LENGTH = 16;

/** Segments under which routes stand side by side, and which take no parameter. */
const PREFIX = /^(?:api|rest|v\d{1,2}|x402|paid|pay|premium|public|tools?|agents?|data)$/;

/** A name in a program's spelling; anything else may be a parameter (a number, an address, a ticker, a host name). */
const NAME = /^[a-z][a-zA-Z_-]{0,39}$/;

/**
 * Returns a path that nobody can have meant, in a route's neighbourhood: what answers 402 there answers 402 to
 * anything. The last segment is replaced by random letters where it surely names the route (`/v1/quote`). Otherwise it
 * may be a parameter (`/price/bitcoin`), which takes any value and asks to be paid before it looks at it, so the
 * segment before it is replaced as well. Null where that cannot be told apart (`/:id`). Templates that remain are left
 * to be filled.
 */
export function findDecoyPath(path: string, random: () => number): string | null {
  const segments = (path.split('?')[0] ?? '').split('/').filter((segment) => segment !== '');
  const [leaf, parent] = [segments.at(-1), segments.at(-2)];
  if (leaf === undefined) return `/${makeWord(random)}`;
  if (parent === undefined) return NAME.test(leaf) ? `/${makeWord(random)}` : null;
  const isNamed = PREFIX.test(parent) && NAME.test(leaf);
  const kept = segments.slice(0, isNamed ? -1 : -2);
  // With nothing fixed before it, a made-up pair would only ask another template.
  if (!isNamed && isTemplate(`/${parent}`) && kept.length === 0) return null;
  return `/${[...kept, ...(isNamed ? [] : [makeWord(random)]), makeWord(random)].join('/')}`;
}

function makeWord(random: () => number): string {
  return Array.from({ length: LENGTH }, () => LETTERS[Math.floor(random() * LETTERS.length)] ?? 'x').join('');
}
