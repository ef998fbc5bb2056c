import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A request, the hosts of the listings that are right answers, and whether it is for tuning or set aside. */
export interface LabelledRequest {
  q: string;
  right: string[];
  half: 'tuning' | 'set aside';
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
  const lines: Record<string, string[]>[] = parse(readFileSync(join(import.meta.dirname, 'requests.yaml'), 'utf8'));
  return lines.flatMap(Object.entries<string[]>).map(([q, right], at) => ({
    q: String(q),
    right,
    half: at % 2 === 0 ? 'tuning' : 'set aside',
  }));
}

/** Says whether a host is among the right answers, of which one may begin with anything (`*`). */
export function isRight({ right }: LabelledRequest, host: string): boolean {
  return right.some((label) => (label.startsWith('*') ? host.endsWith(label.slice(1)) : host === label));
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
