import fc from 'fast-check';

// The property tests that `npm test` runs with the hundred examples of fast-check, here with many more.
fc.configureGlobal({ numRuns: 3_000 });

await import('../catalogue/hearsay.test.ts');
await import('../evidence/call-input.test.ts');
await import('../evidence/names.test.ts');
await import('../evidence/worked-out.test.ts');
await import('../fetching/address.test.ts');
await import('../probing/classify.test.ts');
await import('../published/follow.test.ts');
await import('../published/related.test.ts');
await import('../search/ranking.test.ts');
await import('../search/suggestions.test.ts');
await import('../sources/bazaar/hostile.test.ts');
await import('../sources/bazaar/paging.test.ts');
await import('../sources/openapi/any-json.test.ts');
await import('../sources/text.test.ts');
await import('../sources/x402-file.test.ts');
await import('../views/listing/routes.test.ts');
await import('../x402/hostile.test.ts');
