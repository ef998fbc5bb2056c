/** Words of requests that say nothing about what is asked for. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about am an and any api apis are as at be been before best by can could do does for from get give has have how i if in into
  is it its let me my need now of on one or our please right should so some something tell than that the their them then there these
  they this to use using want was what when where which who whom whose why will with would you your`.split(/\s+/),
);
