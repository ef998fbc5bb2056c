import { afterAll, beforeAll, expect, it } from 'vitest';
import { listAllViolations } from '../browser/accessibility.ts';
import { openWorld, type World } from '../browser/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 600_000);
afterAll(() => world.close());

it('no kind of page breaks an accessibility rule, light and dark, at any width', async () => {
  const looks = [320, 390, 768, 1280].flatMap((width) =>
    (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
  );
  expect(await listAllViolations(world, looks)).toEqual([]);
});
