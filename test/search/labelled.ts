import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A request, the hosts of the listings that are right answers, and whether it is for tuning or set aside. */
export interface LabelledRequest {
  q: string;
  right: string[];
  half: Half;
}

type Half = 'tuning' | 'set aside';

/** A task in a sentence, with the routes to call of each right listing, named `GET /path`. */
export interface LabelledTask extends LabelledRequest {
  routes: ReadonlyMap<string, readonly string[]>;
}

/** A request that nothing in the catalogue answers, though its subject may be near that of a listing. */
export interface UnansweredRequest {
  q: string;
  distance: 'near' | 'far' | 'short';
  half: Half;
}

/** How well requests were answered: the share with a right answer first, and among the first five, and mean reciprocal rank. */
export interface Quality {
  requests: number;
  top_1: number;
  top_5: number;
  mrr: number;
}

/** Reads the labelled requests; every second one is set aside. */
export function readRequests(): LabelledRequest[] {
  const lines: Record<string, string[]>[] = readYaml('requests.yaml');
  return lines.flatMap(Object.entries<string[]>).map(([q, right], at) => ({
    q: String(q),
    right,
    half: at % 2 === 0 ? 'tuning' : 'set aside',
  }));
}

/** Reads the labelled tasks. */
export function readTasks(): LabelledTask[] {
  const lines: Record<string, Record<string, string[]>>[] = readYaml('tasks.yaml');
  return lines.flatMap(Object.entries<Record<string, string[]>>).map(([q, right]) => ({
    q,
    right: Object.keys(right),
    routes: new Map(Object.entries(right)),
    half: getHalf(q),
  }));
}

/** Reads the requests that have no answer. */
export function readUnanswered(): UnansweredRequest[] {
  const lists: Record<UnansweredRequest['distance'], string[]> = readYaml('unanswered.yaml');
  return (['near', 'far', 'short'] as const).flatMap((distance) =>
    lists[distance].map((q) => ({ q, distance, half: getHalf(q) })),
  );
}

/** Gives the half of a request by its words alone, so that nobody chooses it and no other request can shift it. */
export function getHalf(q: string): Half {
  const [byte = 0] = createHash('sha256').update(q).digest();
  return byte % 2 === 0 ? 'tuning' : 'set aside';
}

function readYaml<T>(name: string): T {
  return parse(readFileSync(join(import.meta.dirname, name), 'utf8'));
}

/** Says whether a host is among the right answers, of which one `*` stands for any characters. */
export function isRight({ right }: Pick<LabelledRequest, 'right'>, host: string): boolean {
  return right.some((label) => matchesLabel(label, host));
}

/** Says whether a route of a host, named `GET /path`, is among the right ones. */
export function isRightRoute({ routes }: LabelledTask, host: string, route: string): boolean {
  return [...routes].some(
    ([label, names]) => matchesLabel(label, host) && names.some((name) => matchesLabel(name, route)),
  );
}

function matchesLabel(label: string, name: string): boolean {
  const [begin = '', end] = label.split('*');
  if (end === undefined) return name === label;
  return name.length >= begin.length + end.length && name.startsWith(begin) && name.endsWith(end);
}

/** Finds the place, from 1, of the first right answer among the hosts found; undefined where there is none. */
export function findPlace(request: LabelledRequest, hosts: readonly string[]): number | undefined {
  const at = hosts.findIndex((host) => isRight(request, host));
  return at < 0 ? undefined : at + 1;
}

/** Sums up the places of the first right answers. */
export function getQuality(places: readonly (number | undefined)[]): Quality {
  const share = (most: number) => places.filter((place) => place !== undefined && place <= most).length / places.length;
  const reciprocal = places.reduce<number>((sum, place) => sum + (place === undefined ? 0 : 1 / place), 0);
  return {
    requests: places.length,
    top_1: Number(share(1).toFixed(3)),
    top_5: Number(share(5).toFixed(3)),
    mrr: Number((reciprocal / places.length).toFixed(3)),
  };
}
