import { CHAT } from './chat.ts';
import { CHECK_DIGITS } from './check-digits.ts';
import { FORECAST } from './forecast.ts';
import { LOAN_DESK } from './loan-desk.ts';
import { MAP_MATH } from './map-math.ts';
import type { ProviderPlan } from './route.ts';
import { TEXT_TOOLS } from './text-tools.ts';

/** The providers of the local market: one of each kind. */
export const PLANS: readonly ProviderPlan[] = [TEXT_TOOLS, CHAT, LOAN_DESK, MAP_MATH, CHECK_DIGITS, FORECAST];
