import { DELIVERY_CHEATS } from './cheats/delivery.ts';
import { TERMS_CHEATS } from './cheats/terms.ts';

/** All ways to cheat, each by its name. */
export const CHEATS = { ...DELIVERY_CHEATS, ...TERMS_CHEATS };
export type CheatName = keyof typeof CHEATS;
